r"""What a comparison found: means over the problems that every pipeline scored, with intervals.

An interval is Student's over N problems, the unit of all means:

.. math:: \bar x \pm t_{0.975,\,N-1} \, s / \sqrt N

which for scores ends at the best possible score at most. The difference from the first pipeline is
taken problem by problem, which removes what makes a problem easy or hard for all. A problem that a
pipeline could not score counts for none, and a pipeline that scored no problem is left out.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
from scipy.stats import t

from metafs.comparison.ranks import LEVEL, RankTest, rank_test, ranks_of
from metafs.data.typing import Array
from metafs.pipeline.solution import Solution
from metafs.stats.scorers import best_possible

Interval = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Entry:
    """One pipeline on one problem."""

    pipeline: str
    index: int
    """Place of the problem in the stream, from 0."""
    solution: Solution
    kuncheva: float | None = None
    """Stability of the sets selected in the folds, 0 for chance; None without a score."""
    jaccard: float | None = None

    @property
    def score(self) -> float | None:
        """The nested score."""
        return self.solution.score

    @property
    def seconds(self) -> float:
        """Seconds of all phases together."""
        return sum(self.solution.seconds.values())

    @property
    def reason(self) -> str | None:
        """Why there is no score."""
        if self.score is not None:
            return None
        return self.solution.error or "; ".join(self.solution.notes) or "no score"

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "score": self.score,
            "n_features": self.solution.n_selected if self.score is not None else None,
            "stability": self.kuncheva,
            "jaccard": self.jaccard,
            "seconds": self.seconds,
            "features": list(self.solution.features),
            "notes": list(self.solution.notes),
            "error": self.reason,
        }


@dataclass(frozen=True)
class Summary:
    """A pipeline over the problems that are compared."""

    n_problems: int
    """How many are compared: the same for all pipelines."""
    n_failed: int
    """On how many problems it has no score."""
    mean_score: float | None
    score_interval: Interval | None
    """Of 95 %; None for fewer than two problems."""
    mean_rank: float | None
    difference: float | None
    """Mean difference from the score of the first pipeline."""
    difference_interval: Interval | None
    n_features: float | None
    """Mean number of selected features."""
    stability: float | None
    """Mean stability of the sets selected in the folds: Kuncheva's index for sets of any size."""
    jaccard: float | None
    seconds: float | None
    """Mean seconds for a problem."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """All entries, and what follows from them."""

    names: Sequence[str]
    """The pipelines, in the order given."""
    entries: Sequence[Entry]
    n_problems: int

    @cached_property
    def scored(self) -> dict[str, dict[int, Entry]]:
        """The entries with a score, by pipeline and problem."""
        found: dict[str, dict[int, Entry]] = {name: {} for name in self.names}
        for each in self.entries:
            if each.score is not None:
                found[each.pipeline][each.index] = each
        return found

    @property
    def failures(self) -> list[Entry]:
        """The entries without a score."""
        return [each for each in self.entries if each.score is None]

    @cached_property
    def compared(self) -> list[str]:
        """The pipelines that scored any problem."""
        return [name for name in self.names if self.scored[name]]

    @cached_property
    def common(self) -> list[int]:
        """The problems that each of these scored."""
        if not self.compared:
            return []
        return sorted(set.intersection(*(set(self.scored[name]) for name in self.compared)))

    @cached_property
    def scores(self) -> Array:
        """(n_problems, n_pipelines): the nested scores that are compared."""
        rows = [[self.scored[name][index].score for name in self.compared] for index in self.common]
        return np.array(rows, dtype=np.float64).reshape(len(self.common), len(self.compared))

    @cached_property
    def ranks(self) -> Array:
        """The rank of each score on its problem, 1 for the best."""
        return ranks_of(self.scores) if self.scores.size else self.scores

    @cached_property
    def test(self) -> RankTest | None:
        """Whether the pipelines differ; None for fewer than two pipelines or problems."""
        return rank_test(self.scores) if min(self.scores.shape) > 1 else None

    @property
    def scorings(self) -> list[str]:
        """The scorers of the problems that are compared; means over several mean little."""
        solutions = (self.scored[self.compared[0]][index].solution for index in self.common)
        return sorted({each.scoring or "" for each in solutions})

    @cached_property
    def summaries(self) -> dict[str, Summary]:
        """The summary of each pipeline, in the order given."""
        return {name: self._summary(name) for name in self.names}

    def _summary(self, name: str) -> Summary:
        n_failed = sum(each.pipeline == name for each in self.failures)
        if name not in self.compared or not self.common:
            return Summary(0, n_failed, *[None] * 9)
        place = self.compared.index(name)
        entries = [self.scored[name][index] for index in self.common]
        scores, first = self.scores[:, place], self.scores[:, 0]
        return Summary(
            n_problems=len(entries),
            n_failed=n_failed,
            mean_score=float(scores.mean()),
            score_interval=self._possible(mean_interval(scores)),
            mean_rank=float(self.ranks[:, place].mean()),
            difference=float((scores - first).mean()),
            difference_interval=mean_interval(scores - first),
            n_features=float(np.mean([each.solution.n_selected for each in entries])),
            stability=float(np.mean([each.kuncheva for each in entries])),
            jaccard=float(np.mean([each.jaccard for each in entries])),
            seconds=float(np.mean([each.seconds for each in entries])),
        )

    def _possible(self, interval: Interval | None) -> Interval | None:
        """Return what of an interval of scores is possible."""
        if interval is None:
            return None
        best = max(best_possible(scoring) for scoring in self.scorings)
        return interval[0], min(interval[1], best)

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        by_problem: dict[int, list[Entry]] = {}
        for each in self.entries:
            by_problem.setdefault(each.index, []).append(each)
        return {
            "pipelines": {name: asdict(each) for name, each in self.summaries.items()},
            "problems": [
                {
                    "problem": entries[0].solution.problem,
                    "compared": index in self.common,
                    "scoring": next(
                        (e.solution.scoring for e in entries if e.score is not None), None
                    ),
                    "pipelines": {each.pipeline: each.as_json() for each in entries},
                }
                for index, entries in sorted(by_problem.items())
            ],
            "test": None
            if self.test is None
            else {**asdict(self.test), "pipelines": self.compared},
        }


def mean_interval(values: Array, level: float = LEVEL) -> Interval | None:
    """Return Student's interval of the mean; None for a single value, which has none.

    Examples
    --------
    >>> low, high = mean_interval(np.array([1.0, 2.0, 3.0]))
    >>> round(low, 3), round(high, 3)
    (-0.484, 4.484)
    """
    n = len(values)
    if n < 2:
        return None
    reach = float(t.ppf((1 + level) / 2, n - 1) * values.std(ddof=1) / sqrt(n))
    return float(values.mean()) - reach, float(values.mean()) + reach
