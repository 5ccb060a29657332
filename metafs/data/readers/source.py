"""What readers are given and what they return: a problem that is read when needed."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from metafs.data.checks import check_names, dropping, unknown_column, well_formed
from metafs.data.problem import Problem
from metafs.data.row_values import OPTIONS
from metafs.errors import ProblemError

_ROW_NUMBERS = re.compile(r"__index_level_\d+__")


@dataclass(frozen=True)
class ReadOptions:
    """How to read: the targets, the space, columns always kept or never seen, and the task.

    `meta_features` is a table for problems that bring none of their own. `groups`, `time` and
    `weight` name columns that tell of rows, and are no features.
    """

    targets: tuple[str, ...] = ()
    space: str | None = None
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    task: str = "auto"
    meta_features: Path | None = None
    groups: str | None = None
    time: str | None = None
    weight: str | None = None

    @property
    def of_rows(self) -> dict[str, str]:
        """The columns that tell of rows, by the field of the problem that they go to."""
        named = {"groups": self.groups, "time": self.time, "sample_weight": self.weight}
        return {field: name for field, name in named.items() if name is not None}

    @property
    def wanted(self) -> list[tuple[str, str]]:
        """Role and name of each column that is asked for."""
        return [
            *(("the target", name) for name in self.targets),
            *(("to drop", name) for name in self.drop),
            *(("to keep", name) for name in self.keep),
            *((f"for {OPTIONS[field]}", name) for field, name in self.of_rows.items()),
        ]


@dataclass(frozen=True, eq=False)
class Source:
    """A problem not yet read.

    `origin` is the path or demo it comes from, `keep` names the features to be always selected.
    `stem` is that part of the name which was taken from the file's, if any. A source can be
    pickled and read in another process.
    """

    name: str
    origin: str
    reader: Callable[[], Problem] = field(repr=False)
    keep: tuple[str, ...] = ()
    stem: str = ""

    def __post_init__(self) -> None:
        """Make sure that name and origin can be printed and stored."""
        for name in ("name", "origin", "stem"):
            object.__setattr__(self, name, well_formed(getattr(self, name)))

    def read(self) -> Problem:
        """Read the problem, or raise a `ProblemError` that names its file."""
        problem = replace(self.reader(), name=self.name)
        for name in self.keep:
            if name not in problem.feature_names:
                role = "to keep"
                raise ProblemError(
                    unknown_column(self.origin, name, problem.feature_names, role=role)
                )
        return problem


def row_numbers(names: Sequence[str], features: Sequence[int], keep: Sequence[str]) -> list[int]:
    """Return which features are the index of a pandas frame, under the name it has in parquet.

    They number the rows of the frame that was written, so they are no property of anything, and new
    tables lack them. Those that are asked for by name are not among them.

    Examples
    --------
    >>> row_numbers(["age", "__index_level_0__"], [0, 1], keep=[])
    [1]
    """
    return [j for j in features if names[j] not in keep and _ROW_NUMBERS.fullmatch(names[j])]


def feature_positions(
    names: Sequence[str], *, target: str | None, options: ReadOptions, where: str
) -> list[int]:
    """Return the places of the columns that may be features.

    They are neither a target nor dropped, and tell nothing of rows.
    """
    for name in options.drop:
        if name not in names:
            raise ProblemError(unknown_column(where, name, names, role="to drop"))
    if target is not None and target not in names:
        raise ProblemError(unknown_column(where, target, names, role="the target"))
    tells = set(options.of_rows.values())
    for given, name in options.of_rows.items():
        if target is not None and name not in names:
            raise ProblemError(unknown_column(where, name, names, role=f"for {OPTIONS[given]}"))
    dropped = set(options.drop)
    for j, name in enumerate(names):
        if not name.strip() and name not in dropped:
            raise ProblemError(
                f"{where}: column {j + 1} has no name; name it or leave it out with "
                f"{dropping(name)}."
            )
    check_names([name for name in names if name not in dropped], where)
    unseen = dropped | tells
    if target is not None:
        unseen |= {target, *options.targets}
    return [j for j, name in enumerate(names) if name not in unseen]
