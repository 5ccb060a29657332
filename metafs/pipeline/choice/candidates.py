"""What can be tried on a problem: pipelines of a ranking, a number of features and a learner."""

import math
from dataclasses import dataclass
from typing import Any

ALL = "all"
"""The name of the selector that keeps every column."""

GRID = 4
"""Sizes are tried in powers of this number, and finer ones only near the best."""

RANKINGS = ("projected", "infogain", "importance")
LEARNERS = ("remembered", "kernel-svm", "forest", "boosting")

MOST_SECONDS = 4.0
"""A fit that is expected to take longer is not tried, unless seconds are given."""


MANY_ROWS = 4_000
"""Up to here the simple formulas of `seconds_of` hold."""


@dataclass(frozen=True, order=True)
class Candidate:
    """A pipeline: the learner, the selector that ranks columns, and how many of these are kept."""

    learner: str
    selector: str = ALL
    size: int | None = None
    """None keeps all columns, or what the selector itself decides on."""

    def as_json(self) -> dict[str, Any]:
        """Return plain values for reports."""
        return {"selector": self.selector, "size": self.size, "learner": self.learner}

    def __str__(self) -> str:
        columns = self.selector if self.size is None else f"{self.size} by {self.selector}"
        return f"{self.learner} on {columns}"


def sizes(n_features: int) -> list[int]:
    """Return the numbers of features to try, the smallest first; all of them is not among these.

    Examples
    --------
    >>> sizes(64), sizes(2000)
    ([1, 4, 16], [1, 4, 16, 64, 256])
    """
    found, size = [], 1
    while size < n_features and size <= 256:
        found.append(size)
        size *= GRID
    return found


def seconds_of(learner: str, n_samples: int, n_features: int, n_outputs: int) -> float:
    """Return what a fit of one of our learners takes, roughly; 0 if that is not known.

    Measured on one thread; only orders of magnitude matter, to leave out what takes far too long.
    Beyond `MANY_ROWS` each row takes longer for a forest and a kernel, and less for boosting.

    Examples
    --------
    >>> seconds_of("boosting", 1560, 617, 26) > 60 > seconds_of("forest", 1560, 617, 26)
    True
    >>> seconds_of("forest", 16_000, 50, 1) > 4 > seconds_of("boosting", 16_000, 50, 1)
    True
    """
    more = max(0, n_samples - MANY_ROWS)
    if learner == "boosting":
        of_rows = 3e-6 * (n_samples - more) + 8e-7 * more
        return 0.1 + n_outputs * n_features * (5e-3 + of_rows)
    if learner == "forest":
        usual = 2e-6 * n_samples * math.sqrt(n_features * n_outputs)
        return 0.2 + usual + 1e-4 * more * math.sqrt(n_features)
    if learner == "kernel-svm":
        usual = 4e-10 * n_samples**2 * n_features * n_outputs
        return 0.005 + usual + 4e-9 * more**2 * (n_features + 5) * n_outputs
    if learner == "remembered":
        return 0.02 + 1.5e-7 * more * n_features * n_outputs
    return 0.02
