"""What went wrong, out of the groups that tasks fail in."""


def leaves(error: BaseException) -> list[BaseException]:
    """The faults themselves, without the task groups around them."""
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [leaf for inner in error.exceptions for leaf in leaves(inner)]
