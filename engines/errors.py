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


class MissingExtra(EngineFault):
    """A package that this engine needs is not installed."""


class StoreFault(EngineFault):
    """A model could not be brought into the store; `detail` names every source tried."""
