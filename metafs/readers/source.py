"""What is asked of the readers, and what they promise: a problem that can be read when needed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from metafs.checks import check_names, unknown_column
from metafs.errors import ProblemError
from metafs.problem import Problem


@dataclass(frozen=True)
class ReadOptions:
    """How to read: the targets, the space, columns always kept or never seen, and the task."""

    targets: tuple[str, ...] = ()
    space: str | None = None
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    task: str = "auto"


@dataclass(frozen=True, eq=False)
class Source:
    """A problem not yet read.

    `origin` is the path or demo it comes from, `keep` names the features to be always selected.
    A source can be pickled and read in another process.
    """

    name: str
    origin: str
    reader: Callable[[], Problem] = field(repr=False)
    keep: tuple[str, ...] = ()

    def read(self) -> Problem:
        """Read the problem, or raise a `ProblemError` that names its file."""
        problem = self.reader()
        for name in self.keep:
            if name not in problem.feature_names:
                role = "to keep"
                raise ProblemError(
                    unknown_column(self.origin, name, problem.feature_names, role=role)
                )
        return problem


def feature_positions(
    names: Sequence[str], *, target: str | None, options: ReadOptions, where: str
) -> list[int]:
    """Return the places of the columns that may be features: neither a target nor dropped."""
    for name in options.drop:
        if name not in names:
            raise ProblemError(unknown_column(where, name, names, role="to drop"))
    if target is not None and target not in names:
        raise ProblemError(unknown_column(where, target, names, role="the target"))
    dropped = set(options.drop)
    check_names([name for name in names if name not in dropped], where)
    if target is None:
        unseen = dropped
    else:
        unseen = dropped | {target} | set(options.targets)
    positions = [j for j, name in enumerate(names) if name not in unseen]
    for j in positions:
        if not names[j].strip():
            raise ProblemError(
                f"{where}: column {j + 1} has no name; name it, or write the table without it."
            )
    return positions
