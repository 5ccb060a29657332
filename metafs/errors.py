"""Errors a person can cause: each message is one sentence that says what to do."""


class MetafsError(Exception):
    """Something a person can mend; the command prints the message and exits with `exit_code`."""

    exit_code = 1


class UsageError(MetafsError, ValueError):
    """The request itself is wrong: an unknown name, an impossible option."""

    exit_code = 2


class ProblemError(MetafsError, ValueError):
    """One problem cannot be read or solved; the rest of a stream goes on."""
