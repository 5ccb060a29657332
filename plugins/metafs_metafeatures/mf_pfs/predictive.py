r"""Algorithm 2: eliminate features by the quality that their properties predict.

To keep n of N features, of which most are never measured: while more than n are left in F,

1. draw :math:`F_0`, :math:`\alpha n` features of F at random, and measure them;
2. learn a map :math:`\hat Q` from meta-features to quality on :math:`F_0`;
3. eliminate the :math:`\min(t |F|, |F| - n)` features of F with the lowest :math:`\hat Q`.

:math:`\alpha` grows from step to step, since a rough map does to find the worst features.

E. Krupka, A. Navot, N. Tishby, "Learning to select features using their properties", JMLR 9, 2008,
algorithm 2; :math:`\alpha` of the four steps from N = 10n as in section 5.2.

With ``reuse``, which is the default of `MFPFS`, we depart from that: features measured already are
drawn first, so that :math:`F_0` is not random. The published :math:`\alpha` then measure about
2.35n features, without ``reuse`` about 2.6n; the paper says 2.1n. The n kept are measured at the
end, since training needs them, and count; one that fails gives way to the next best. A prior fills
at most half of the newly drawn places, because a map fitted to good features only is useless.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metafs.data.typing import Array
from metafs.stats.quality_map import QualityMap
from metafs_metafeatures.mf_pfs.elimination import (
    Quality,
    eliminate_all_measured,
    measured,
    n_to_drop,
    refuse_nothing_left,
    sizes_left,
    weakest,
)
from metafs_metafeatures.mf_pfs.measurers import Measurer

ALPHAS = (0.4, 0.8, 1.0, 1.2)
"""The share of n that is drawn in each of the four steps from 10n."""

_CHANCE = 1e-9  # far below any expectation that differs


@dataclass(frozen=True)
class EliminationStep:
    """What one elimination step did."""

    n_left: int
    """Features left before it."""
    n_drawn: int
    """Features from which the map was learnt."""
    n_new: int
    """Those of them that had not been measured before."""


@dataclass(frozen=True)
class Elimination:
    """What became of the features."""

    order: Array
    """(n_features,): the first to go first, the best last."""
    expected: Array
    """(n_features,): the quality last predicted for each feature, NaN where there was none."""
    steps: list[EliminationStep]
    n_evaluations: int


def alphas_of_steps(alpha: float | Sequence[float], n_steps: int) -> Array:
    """Return alpha of each step, interpolated where there are more or fewer than given.

    A single step is a last step.

    Examples
    --------
    >>> alphas_of_steps((0.4, 0.8, 1.0, 1.2), 4)
    array([0.4, 0.8, 1. , 1.2])
    >>> alphas_of_steps((0.4, 1.2), 3), alphas_of_steps((0.4, 1.2), 1)
    (array([0.4, 0.8, 1.2]), array([1.2]))
    """
    given = np.atleast_1d(np.asarray(alpha, dtype=np.float64))
    if n_steps == 1:
        return given[-1:]
    return np.interp(np.linspace(0, 1, n_steps), np.linspace(0, 1, len(given)), given)


def draw(
    left: Array,
    count: int,
    rng: np.random.Generator,
    *,
    known: Array | None = None,
    expected: Array | None = None,
) -> Array:
    """Draw features to learn from.

    Parameters
    ----------
    left : ndarray of int
        The features to draw from.
    count : int
        How many to draw, at most all.
    rng : Generator
        Where chance comes from.
    known : ndarray of bool of shape (n_features,), default=None
        Features that come before all others, because they are measured already.
    expected : ndarray of shape (n_features,), default=None
        What is expected of each. Those of which most is expected fill up to half of the places
        that are left; the rest is drawn at random, because a map of good features is useless.

    Examples
    --------
    >>> expected = np.array([0, 0, 0.9, 0.8, 0])
    >>> draw(np.arange(5), 2, np.random.default_rng(0), expected=expected)
    array([2, 4])
    """
    order = rng.permutation(left)
    first = order[:0] if known is None else order[known[order]][:count]
    rest = order[~np.isin(order, first)]
    if expected is not None:
        hoped = rest[np.argsort(-expected[rest], kind="stable")]
        hoped = hoped[expected[hoped] > 0][: (count - len(first) + 1) // 2]
        first, rest = np.concatenate([first, hoped]), rest[~np.isin(rest, hoped)]
    return np.concatenate([first, rest])[:count]


def eliminate_unmeasured(
    measurer: Measurer,
    y: Array,
    meta_features: Array,
    n: int,
    rng: np.random.Generator,
    *,
    alpha: float | Sequence[float] = ALPHAS,
    t: float = 0.5,
    quality: Quality,
    regressor: Any,
    min_measured: int = 1,
    reuse: bool = False,
    expected: Array | None = None,
) -> Elimination:
    """Do algorithm 2; features that cannot be measured go at once, and before all others.

    Where there are no more than n features, all are measured and kept.
    """
    if measurer.n_features <= n:
        order, n_evaluations = eliminate_all_measured(measurer, y, [], quality=quality)
        return Elimination(order, np.full(len(order), np.nan), [], n_evaluations)
    left = np.arange(measurer.n_features)
    failed, gone = left[:0], left[:0]
    hope = _CHANCE * rng.random(len(left)) + (0.0 if expected is None else expected)
    predicted = np.full(len(left), np.nan)
    alphas = alphas_of_steps(alpha, len(sizes_left(len(left), n, t)))
    steps: list[EliminationStep] = []
    while len(left) > n:
        count = max(min_measured, round(alphas[min(len(steps), len(alphas) - 1)] * n))
        known = measurer.measured
        drawn = draw(left, count, rng, known=known if reuse else None, expected=expected)
        sound, columns, unsound = measured(measurer, drawn)
        left, failed = np.setdiff1d(left, unsound), np.concatenate([failed, unsound])
        refuse_nothing_left(len(left), measurer)
        if not len(sound) or len(left) <= n:
            continue
        map = QualityMap(regressor).fit(meta_features[sound], quality(columns, y))
        predicted[left] = map.predict(meta_features[left])
        out = left[weakest(predicted[left], n_to_drop(len(left), n, t), hope[left])]
        left, gone = np.setdiff1d(left, out), np.concatenate([gone, out])
        steps.append(EliminationStep(len(left) + len(out), len(sound), int((~known[drawn]).sum())))
    best = left[weakest(np.nan_to_num(predicted[left]), len(left), hope[left])]
    order = np.concatenate([failed, gone, best])
    return Elimination(order, predicted, steps, sum(step.n_drawn for step in steps))


def without_failures(measurer: Measurer, order: Array, n: int) -> tuple[Array, int]:
    """Measure the n best, and put the next best in the place of those that cannot be.

    Returns
    -------
    order : ndarray
        The features, such as cannot be measured first.
    n : int
        How many are kept: fewer than asked for, if fewer can be measured.
    """
    while True:
        *_, unsound = measured(measurer, order[len(order) - n :])
        if not len(unsound):
            return order, n
        order = np.concatenate([unsound, order[~np.isin(order, unsound)]])
        n = min(n, measurer.n_features - len(measurer.failed))
        refuse_nothing_left(n, measurer)
