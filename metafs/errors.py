"""Errors a person can cause: each message is one sentence that says what to do."""

MAX_ERROR = 300
"""Characters of an error that `describe` tells."""


class MetafsError(Exception):
    """Something a person can mend; the command prints the message and exits with `exit_code`."""

    exit_code = 1


class UsageError(MetafsError, ValueError):
    """The request itself is wrong: an unknown name, an impossible option."""

    exit_code = 2


class ProblemError(MetafsError, ValueError):
    """One problem cannot be read or solved; the rest of a stream goes on."""


class NoScore(ProblemError):
    """A problem can be solved, but its rows allow no score; the message says why."""


def describe(error: BaseException) -> str:
    """Return an error on one line, and not a long one.

    Examples
    --------
    >>> describe(ValueError("two  words")), describe(KeyError())
    ('ValueError: two words', 'KeyError')
    """
    text = " ".join(str(error).split())
    text = text if len(text) <= MAX_ERROR else text[: MAX_ERROR - 1] + "…"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
