"""Choose problems of a memory by name, source, space, date, or because they were never solved."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from fnmatch import fnmatchcase

from metafs.errors import UsageError
from metafs_metadb import MetaDB, Table


@dataclass(frozen=True)
class Choice:
    """Which problems are meant: all that meet every condition given."""

    names: Sequence[str] = ()
    """Names, or patterns with ``*``; a problem has one of them."""
    source: str | None = None
    space: str | None = None
    before: datetime | None = None
    after: datetime | None = None
    failed: bool = False

    def __bool__(self) -> bool:
        """Tell whether there is any condition."""
        return self != Choice()


def chosen(db: MetaDB, choice: Choice) -> Table:
    """Return the problems that are meant, with the columns of ``metafs problems`` and their rows.

    A name, source or space that nothing has is an error that says what comes close.
    """
    table = db.problems()
    where = f"{db.path} holds no problem"
    for pattern in choice.names:
        _require(pattern, table.column("name"), f"{where} named {pattern!r}")
    if choice.source is not None:
        _require(choice.source, table.column("source"), f"{where} from {choice.source!r}")
    if choice.space is not None:
        _require(choice.space, table.column("space"), f"{where} in space {choice.space!r}")
    rows = [
        row for row in table.rows if _is_meant(dict(zip(table.columns, row, strict=True)), choice)
    ]
    return Table(table.columns, rows)


def matches(pattern: str, text: str) -> bool:
    """Tell whether a text is what a pattern says, or one that it stands for.

    Examples
    --------
    >>> matches("digits 3 *", "digits 3 vs 8"), matches("a[1]", "a[1]"), matches("a", "ab")
    (True, True, False)
    """
    return text == pattern or fnmatchcase(text, pattern)


def _is_meant(problem: dict[str, object], choice: Choice) -> bool:
    conditions: Iterable[Callable[[], bool]] = (
        lambda: (
            not choice.names or any(matches(each, str(problem["name"])) for each in choice.names)
        ),
        lambda: choice.source is None or matches(choice.source, str(problem["source"])),
        lambda: choice.space is None or matches(choice.space, str(problem["space"])),
        lambda: choice.before is None or _date(problem) < choice.before,
        lambda: choice.after is None or _date(problem) >= choice.after,
        lambda: not choice.failed or problem["n_runs"] == problem["n_failed"] != 0,
    )
    return all(condition() for condition in conditions)


def _date(problem: dict[str, object]) -> datetime:
    created_at = problem["created_at"]
    assert isinstance(created_at, datetime)
    return created_at


def _require(pattern: str, texts: Sequence[str], sentence: str) -> None:
    if not any(matches(pattern, each) for each in texts):
        near = get_close_matches(pattern, sorted(set(texts)), n=3, cutoff=0.4)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "see `metafs problems`."
        raise UsageError(f"{sentence}: {hint}")
