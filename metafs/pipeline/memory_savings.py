"""What memory saved: a guided search compared with a cold one of the same problem.

The target is the fitness with which the cold search ends. The cost of both is counted up
to the first set that is as good, as in an experiment; a guided search that never reaches it counts
as a whole, and memory hurt. The seconds of a search are divided evenly over its evaluations.

What a cold search would have cost is known only by running it, and running it for every problem
would spend what memory saves: the command checks every tenth, by position and not at random.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metafs.pipeline.fitting.selection import Selection, evaluations_to

OVERHEAD = ("describe", "recall", "expect", "record")
"""The phases that only memory needs."""


@dataclass(frozen=True)
class Saving:
    """Evaluations and seconds to the fitness of the cold search, without and with memory."""

    cold_evaluations: int
    evaluations: int
    cold_seconds: float
    seconds: float
    reached: bool
    """Whether the search with memory found a set as good."""

    @property
    def hurt(self) -> bool:
        """Whether the search would have been cheaper without memory."""
        return not self.reached or self.evaluations > self.cold_evaluations


def saving(
    cold: Selection, cold_seconds: float, warm: Selection, seconds: Mapping[str, float]
) -> Saving | None:
    """Compare a guided selection with a cold one; None if the selector reports too little.

    Parameters
    ----------
    cold, warm : Selection
        What both searches found.
    cold_seconds : float
        How long the cold one took.
    seconds : mapping of str to float
        How long each phase took with memory.
    """
    if cold.fitness is None or not cold.candidates or not warm.candidates:
        return None
    n_cold, _ = evaluations_to(cold.fitness, cold.candidates, cold.n_evaluations or 0)
    n_warm, reached = evaluations_to(cold.fitness, warm.candidates, warm.n_evaluations or 0)
    return Saving(
        n_cold,
        n_warm,
        cold_seconds * n_cold / max(cold.n_evaluations or 0, 1),
        seconds.get("select", 0.0) * n_warm / max(warm.n_evaluations or 0, 1)
        + sum(seconds.get(phase, 0.0) for phase in OVERHEAD),
        reached,
    )


def in_words(checked: Sequence[Saving]) -> str:
    """Say what memory saved on the problems on which it was checked.

    Examples
    --------
    >>> in_words([Saving(400, 100, 2.0, 0.5, True)])[:62]
    'to the fitness of a cold search 100 evaluations instead of 400'
    """
    n = len(checked)
    cold, warm = (
        float(np.mean([getattr(each, name) for each in checked]))
        for name in ("cold_evaluations", "evaluations")
    )
    times_fewer = np.exp(
        np.mean([np.log(each.cold_evaluations / each.evaluations) for each in checked])
    )
    ratio = (
        f"{times_fewer:.1f} times fewer"
        if times_fewer >= 1
        else f"{1 / times_fewer:.1f} times more"
    )
    times = [
        sum(getattr(each, name) for each in checked) / n for name in ("cold_seconds", "seconds")
    ]
    hurt = sum(each.hurt for each in checked)
    return (
        f"to the fitness of a cold search {warm:.0f} evaluations instead of {cold:.0f} "
        f"({ratio} in the geometric mean), "
        f"{times[1]:.2f} s instead of {times[0]:.2f} s a problem; it hurt in {hurt} of {n}"
    )


def labels_worth(
    transfers: Sequence[Sequence[tuple[int, float, float]]], n_labels: int = 5
) -> tuple[int, str] | None:
    """Return some number of labels, and how many without memory would be as good as these with it.

    Parameters
    ----------
    transfers : sequence of sequences of (labels, strength, loss)
        What each problem measured of memory with few labels, on rows that no remembered model had
        seen; strength 0 is no memory. None is returned if memory is worth no further label.
    n_labels : int

    Examples
    --------
    >>> curve = [(2, 0.0, 0.6), (5, 0.0, 0.5), (20, 0.0, 0.3), (5, 1.0, 0.4)]
    >>> labels_worth([curve, curve])
    (5, '10')
    """
    by_setting: dict[tuple[int, float], list[float]] = {}
    for each in transfers:
        for labels, strength, loss in each:
            by_setting.setdefault((labels, strength), []).append(loss)
    mean = {setting: float(np.mean(losses)) for setting, losses in by_setting.items()}
    alone = sorted((labels, loss) for (labels, s), loss in mean.items() if s == 0 and labels > 0)
    helped = [loss for (labels, s), loss in mean.items() if labels == n_labels and s > 0]
    if len(alone) < 2 or not helped:
        return None
    numbers = np.array([labels for labels, _ in alone], dtype=np.float64)
    losses = np.minimum.accumulate([loss for _, loss in alone])
    reached = min(helped)
    if reached < losses[-1]:
        return n_labels, f"more than {int(numbers[-1])}"
    equal = round(float(np.exp(np.interp(-reached, -losses, np.log(numbers)))))
    return (n_labels, str(equal)) if equal > n_labels else None
