"""What can go wrong with a MetaDB, each in one sentence."""


class MetaDBError(Exception):
    """The MetaDB cannot do what was asked; the message is one sentence that says what to do."""


class MetaDBMissing(MetaDBError):
    """There is no file yet."""


class MetaDBLocked(MetaDBError):
    """Another process, or another connection of this one, holds the file."""


class MetaDBOutdated(MetaDBError):
    """The file's schema is older than this metafs."""


class QueryRefused(MetaDBError):
    """A query that is not read-only, not one statement, or not SQL."""
