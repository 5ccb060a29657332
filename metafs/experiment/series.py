"""Values of an experiment along the stream: by iteration, smoothed, and by quarters."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from metafs.data.typing import Array
from metafs.experiment.arms import COLD
from metafs.experiment.comparing import running_mean
from metafs.experiment.outcome import Outcome
from metafs.experiment.result import Experiment
from metafs.experiment.summary import Pair, column, ratios

QUARTERS = ("first quarter", "second", "third", "last")


@dataclass(frozen=True, eq=False)
class Series:
    """One value of each search, by its place in the stream; NaN where unknown."""

    label: str
    arm: str
    position: Array
    value: Array
    logarithmic: bool = False
    """Whether means are geometric."""

    @property
    def known(self) -> "Series":
        """The series without unknown values."""
        known = ~np.isnan(self.value)
        return replace(self, position=self.position[known], value=self.value[known])

    def mean(self) -> float | None:
        """Return the mean of what is known."""
        value = self.known.value
        return float(self._back(self._there(value).mean())) if len(value) else None

    def trend(self) -> tuple[Array, Array]:
        """Return positions and the running mean over a tenth of the stream, at least five."""
        places, means = self._by_position()
        window = max(5, len(places) // 10) | 1
        return places, self._back(running_mean(means, window))

    def quarters(self) -> list[float | None]:
        """Return the mean of each quarter of the stream; None where nothing is known."""
        _, means = self._by_position()
        parts = np.array_split(means, len(QUARTERS))
        known = [part[~np.isnan(part)] for part in parts]
        return [float(self._back(part.mean())) if len(part) else None for part in known]

    def _by_position(self) -> tuple[Array, Array]:
        """Return every position, and the mean of the known values there."""
        known = self.known
        places = np.unique(self.position)
        at = np.searchsorted(places, known.position)
        total = np.bincount(at, weights=self._there(known.value), minlength=len(places))
        count = np.bincount(at, minlength=len(places))
        means = np.divide(total, count, out=np.full(len(places), np.nan), where=count > 0)
        return places, means

    def _there(self, value: Array) -> Array:
        return np.asarray(np.log(value)) if self.logarithmic else value

    def _back(self, value: Array) -> Array:
        return np.asarray(np.exp(value)) if self.logarithmic else value


def in_every_order(experiment: Experiment, arm: str) -> list[Outcome]:
    """Return the outcomes of an arm at their places in every order of the stream.

    An outcome of an arm without memory is repeated for each order, at its place there.
    """
    place = {
        (each.order, each.index): each.position
        for each in experiment.outcomes
        if each.order is not None
    }
    orders = sorted({order for order, _ in place})
    found = []
    for each in experiment.of(arm):
        if each.order is not None or not orders:
            found.append(each)
            continue
        for order in orders:
            if (order, each.index) in place:
                there = place[order, each.index]
                found.append(replace(each, order=order, position=there))
    return found


def in_pairs(experiment: Experiment, arm: str, baseline: str = COLD) -> list[Pair]:
    """Return the outcomes of an arm in every order, each with its baseline's."""
    base = {(each.seed, each.index): each for each in experiment.of(baseline)}
    outcomes = in_every_order(experiment, arm)
    return [(each, base[key]) for each in outcomes if (key := (each.seed, each.index)) in base]


def values(experiment: Experiment, arm: str, of: str, label: str | None = None) -> Series:
    """Return one value of each search of an arm, along the stream."""
    outcomes = in_every_order(experiment, arm)
    return Series(label or arm, arm, column(outcomes, "position"), column(outcomes, of))


def speedups(experiment: Experiment, arm: str, of: str = "evaluations") -> Series:
    """Return the speed-ups of an arm over the cold search, along the stream."""
    pairs = in_pairs(experiment, arm)
    position = column([each for each, _ in pairs], "position")
    return Series(arm, arm, position, ratios(pairs, of), logarithmic=True)


def phases(experiment: Experiment, arm: str, names: Sequence[str], label: str) -> Series:
    """Return the seconds that each search of an arm spent on some phases, along the stream."""
    outcomes = in_every_order(experiment, arm)
    spent = [sum(each.seconds.get(name, 0.0) for name in names) for each in outcomes]
    seconds = np.maximum(np.array(spent, dtype=np.float64), 1e-6)
    return Series(label, arm, column(outcomes, "position"), seconds)
