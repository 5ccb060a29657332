"""What the MetaDB remembers of near problems: kept at hand, and as a transfer asks for it."""

from collections.abc import Iterable, Mapping, Sequence

from metafs.transfer.expectation import Experience
from metafs_metadb import Experience as BestRun
from metafs_metadb import Neighbour, Recorded, SelectionRows

MOST_FEATURES = 2**20
"""Features of best runs that are kept at hand, at about 50 bytes each."""


class BestRuns:
    """The best runs of problems that a stream has asked for or recorded.

    A stream asks the same neighbours again and again, and many of them it has solved itself. Like
    the index of a long stream this does not see what other processes record meanwhile.
    """

    def __init__(self) -> None:
        self._runs: dict[int, BestRun] = {}  # by problem, the latest last
        self._room = MOST_FEATURES

    def at_hand(self, problem_ids: Sequence[int]) -> dict[int, BestRun]:
        """Return the best runs of those problems of which they are at hand."""
        return {each: self._runs[each] for each in problem_ids if each in self._runs}

    def keep(self, runs: Iterable[BestRun]) -> None:
        """Have the best runs of other problems at hand from now on."""
        for run in runs:
            self._keep(run)

    def recorded(self, recorded: Recorded, source: str, rows: SelectionRows) -> None:
        """Take note of a recorded run; it is certainly the best only if it is the first."""
        self._forget(recorded.problem_id)
        if recorded.first and len(rows.names):
            self._keep(
                BestRun(
                    recorded.problem_id,
                    recorded.run_id,
                    source,
                    tuple(rows.names),
                    rows.doubles("q"),
                    rows.doubles("quality"),
                    rows.is_selected(),
                )
            )

    def _keep(self, run: BestRun) -> None:
        self._runs[run.problem_id] = run
        self._room -= len(run.names)
        while self._room < 0:
            self._forget(next(iter(self._runs)))

    def _forget(self, problem_id: int) -> None:
        if (run := self._runs.pop(problem_id, None)) is not None:
            self._room += len(run.names)


def experiences(
    neighbours: Sequence[Neighbour], remembered: Mapping[int, BestRun]
) -> list[Experience]:
    """Return what is remembered of each neighbour, those left out of which nothing is."""
    return [
        Experience(
            near.name,
            best.source,
            near.distance,
            best.names,
            best.q,
            best.quality,
            best.selected,
            near.problem_id,
        )
        for near in neighbours
        if (best := remembered.get(near.problem_id))
    ]
