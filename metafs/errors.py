"""Errors a person can cause: each message is one sentence that says what to do."""

import traceback
from pathlib import Path

MAX_ERROR = 300
"""Maximum length of a description of an error."""


class MetafsError(Exception):
    """An error that the user can fix; the command prints the message and exits with `exit_code`."""

    exit_code = 1
    without_data: str | None = None
    """What to write down in place of a message that may quote the data."""


class UsageError(MetafsError, ValueError):
    """The request itself is wrong: an unknown name, an impossible option."""

    exit_code = 2


class ProblemError(MetafsError, ValueError):
    """One problem cannot be read or solved; the rest of a stream goes on."""


class MissingValues(ProblemError):
    """A method was given missing values that it cannot take."""


class NoScore(ProblemError):
    """A problem can be solved, but its rows allow no score; the message says why."""


def kind_and_place(error: BaseException) -> str:
    """Return the kind of an error and the line that raised it, nothing of its message.

    Messages of other people's code may quote what is in a table; files that are passed on must not.

    Examples
    --------
    >>> kind_and_place(ValueError("Ms Miller, 61, diabetic"))
    'ValueError'
    """
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}"


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
