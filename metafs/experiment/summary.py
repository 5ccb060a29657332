"""The summary of an arm: its speed-up over the baselines, and means over its searches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metafs.data.typing import Array
from metafs.experiment.comparing import Speedup, problem_means, speedup
from metafs.experiment.outcome import COUNTED, Outcome
from metafs.stats.quality_map import correlation

Pair = tuple[Outcome, Outcome]
"""An arm's outcome, and the baseline's on the same problem with the same seed."""
MEANS: Mapping[str, str] = {
    "reached": "reached",
    "mean_evaluations": "evaluations",
    "mean_fitness": "fitness",
    "mean_score": "score",
    "mean_non_nested_score": "non_nested_score",
    "mean_selected": "n_selected",
    "mean_transferred": "n_transferred",
    "mean_common": "n_common",
    "mean_nearest_distance": "nearest_distance",
    "seconds": "seconds_to_target",
    "mean_optimistic_score": "non_nested_score",  # deprecated name
}
"""Names of means over problems, and the field of an outcome that each averages."""
SECONDS = "seconds_to_target"


@dataclass(frozen=True)
class ArmSummary:
    """Summary of an arm. Means are over problems; seeds and orders are averaged first."""

    problems: int
    searches: int
    speedup: Speedup
    """In evaluations, over the cold search."""
    speedup_seconds: Speedup
    over_ranked: Speedup | None
    """In evaluations, over the search ranked by univariate relevance."""
    over_ranked_seconds: Speedup | None
    as_published: float
    """Geometric mean with all evaluations of the cold search, also those after its best set."""
    means: Mapping[str, float | None]
    without_experience: float
    """The share of searches without relevant experience, or with doubtful experience."""
    transferred_correlation: float | None
    """Pearson's, of the number of features transferred with the speed-up."""
    inverse_distance_correlation: float | None
    """Pearson's, of one over the distance of the nearest problem with the speed-up."""
    seconds_by_phase: Mapping[str, float]

    def as_json(self) -> dict[str, Any]:
        """Return plain values, flat except for the phases."""
        return {
            "problems": self.problems,
            "searches": self.searches,
            **_named(self.speedup),
            "geometric_mean_speedup_as_published": self.as_published,
            **_named(self.speedup_seconds, "_seconds"),
            **_named(self.over_ranked, "_over_ranked"),
            **_named(self.over_ranked_seconds, "_seconds_over_ranked"),
            **self.means,
            "without_experience": self.without_experience,
            "transferred_correlation": self.transferred_correlation,
            "inverse_distance_correlation": self.inverse_distance_correlation,
            "seconds_by_phase": dict(self.seconds_by_phase),
        }


def summary(over_cold: Sequence[Pair], over_ranked: Sequence[Pair] = ()) -> ArmSummary:
    """Return the summary of an arm, from its outcomes paired with those of the baselines."""
    ours = [each for each, _ in over_cold]
    problem = column(ours, "index").astype(np.int64)
    ratio = ratios(over_cold)
    transferred, distance = column(ours, "n_transferred"), column(ours, "nearest_distance")
    near = distance > 0
    phases = {phase: np.array([each.seconds.get(phase, 0.0) for each in ours]) for phase in COUNTED}
    all_of_cold = column([cold for _, cold in over_cold], "n_evaluations")
    return ArmSummary(
        problems=len(np.unique(problem)),
        searches=len(ours),
        speedup=compared(over_cold),
        speedup_seconds=compared(over_cold, SECONDS),
        over_ranked=compared(over_ranked) if over_ranked else None,
        over_ranked_seconds=compared(over_ranked, SECONDS) if over_ranked else None,
        as_published=speedup(
            np.maximum(all_of_cold, 1), column(ours, "evaluations"), problem
        ).geometric_mean,
        means={name: _mean(column(ours, of), problem) for name, of in MEANS.items()},
        without_experience=float(np.mean([each.note is not None for each in ours])),
        transferred_correlation=(
            float(correlation(transferred, ratio)) if transferred.any() else None
        ),
        inverse_distance_correlation=(
            float(correlation(1 / distance[near], ratio[near])) if near.sum() > 1 else None
        ),
        seconds_by_phase={
            phase: float(problem_means(spent, problem).mean()) for phase, spent in phases.items()
        },
    )


def column(outcomes: Sequence[Outcome], name: str) -> Array:
    """Return one value of each outcome as a number; NaN where unknown."""
    values = (getattr(each, name) for each in outcomes)
    return np.array([np.nan if value is None else float(value) for value in values])


def ratios(pairs: Sequence[Pair], of: str = "evaluations") -> Array:
    """Return the speed-up of each pair."""
    ours, base = (column([pair[side] for pair in pairs], of) for side in (0, 1))
    return np.asarray(np.maximum(base, 1e-9) / np.maximum(ours, 1e-9))


def compared(pairs: Sequence[Pair], of: str = "evaluations") -> Speedup:
    """Return how much faster the arm is than the baseline."""
    ratio = ratios(pairs, of)
    return speedup(ratio, np.ones_like(ratio), column([each for each, _ in pairs], "index"))


def _mean(values: Array, problem: Array) -> float | None:
    known = ~np.isnan(values)
    return float(problem_means(values[known], problem[known]).mean()) if known.any() else None


def _named(found: Speedup | None, suffix: str = "") -> dict[str, Any]:
    """Return a speed-up under its JSON keys."""
    return {
        f"geometric_mean_speedup{suffix}": found and found.geometric_mean,
        f"geometric_mean_speedup{suffix}_interval": found and found.geometric_mean_interval,
        f"arithmetic_mean_speedup{suffix}": found and found.arithmetic_mean,
        f"arithmetic_mean_speedup{suffix}_interval": found and found.arithmetic_mean_interval,
        f"negative_transfer{suffix}": found and found.negative_transfer,
    }
