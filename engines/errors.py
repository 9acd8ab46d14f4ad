"""Faults of models and of the model store: each says what to do next and whether trying again may help."""


class EngineFault(Exception):
    """Something broke in an engine. `hint` says what the operator can do about it."""

    retryable = False

    def __init__(self, detail: str, *, hint: str) -> None:
        super().__init__(detail)
        self.detail = detail
        self.hint = hint


class Unavailable(EngineFault):
    """The engine did not answer or is closed; another instance may."""

    retryable = True


class OutOfMemory(EngineFault):
    """The engine needs more memory than there is."""


class BadModelFile(EngineFault):
    """A model's file is missing, damaged or of another kind."""


class StoreFault(EngineFault):
    """A model could not be brought into the store; `detail` names every source tried."""


def place_of(error: BaseException) -> str:
    """The kind of an error and the file and line that raised it, without its message."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = f"{frame.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{frame.tb_lineno}" if frame else "?"
    return f"{type(error).__name__} at {where}"


def without_foreign_words(error: Exception) -> EngineFault:
    """The fault to hand on: without its frames, which hold rows, or a foreign message, which may quote one."""
    if isinstance(error, EngineFault):
        return error.with_traceback(None)
    return EngineFault(place_of(error), hint="this is a bug: report it with the line above")
