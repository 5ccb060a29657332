"""What Mufasa is compared with: features chosen one by one, and sets drawn from everywhere.

- Norm Infogain draws features from all over the space for 50 times the budget, ranks them by
  information gain divided by cost, and takes as many of the best as the budget pays for.
- Rand Search fills 50 sets with features from all over the space and keeps the best.

E. Krupka, A. Navot, N. Tishby, "Learning to select features using their properties", Journal of
Machine Learning Research 9, 2008, section 6.2.
"""

from typing import Any

import numpy as np

from metafs.data.parameters import check_at_least
from metafs.data.typing import Array
from metafs.plugin.protocols import Generator
from metafs_filters import InfoGain
from metafs_metafeatures.mufasa.extraction import Extraction, MufasaResult, drawn, filled, seeded
from metafs_metafeatures.mufasa.walk import Step, even_point

_BLOCK = 2000


def prefix_within(costs: Array, budget: float) -> int:
    """Return how many of the first features a budget pays for.

    Examples
    --------
    >>> prefix_within(np.array([1.0, 2.0, 2.5]), 4.0)
    2
    """
    return int(np.searchsorted(np.cumsum(costs), budget * (1 + 1e-12), side="right"))


def norm_infogain(
    generator: Generator,
    images: Any,
    y: Any,
    *,
    budget: float,
    factor: int = 50,
    normalise: bool = True,
    random_state: Any = None,
) -> MufasaResult:
    """Select generated features by information gain for their cost, out of many drawn at random.

    Parameters
    ----------
    generator, images, y, budget, random_state
        As in `search`.
    factor : int, default=50
        How many times the budget is drawn to choose from.
    normalise : bool, default=True
        Whether information gain is divided by cost.

    Returns
    -------
    MufasaResult
        Its quality is the mean information gain of the features, in bits.
    """
    check_at_least("factor", factor)
    work, rng = Extraction(generator, images, y, budget, None), seeded(random_state)
    draws = drawn(generator, lambda: even_point(generator, rng), rng)
    pool = filled(draws, work.cost, factor * budget)
    gains: list[Array] = [np.zeros(0)]
    costs: list[float] = []
    features: list[Any] = []
    for start in range(0, len(pool), _BLOCK):
        X, measured = work.measured(pool[start : start + _BLOCK])
        if measured:
            gains.append(InfoGain()(X, work.y))
        features += measured
        costs += [generator.cost(feature) for feature in measured]
    gain, cost = np.concatenate(gains), np.array(costs)
    order = np.argsort(-(gain / cost if normalise else gain), kind="stable")
    order = order[: prefix_within(cost[order], budget)]
    chosen = tuple(features[i] for i in order)
    quality = float(gain[order].mean()) if len(order) else -np.inf
    return work.result(chosen, None, quality, (), f"ranked {len(features)} features")


def rand_search(
    generator: Generator,
    images: Any,
    y: Any,
    *,
    budget: float,
    n_steps: int = 50,
    quality: Any = None,
    random_state: Any = None,
) -> MufasaResult:
    """Keep the best of several sets, each feature of which is drawn from anywhere in the space.

    Parameters
    ----------
    generator, images, y, budget, quality, random_state
        As in `search`.
    n_steps : int, default=50
        How many sets to try; 1 is a random selection.
    """
    check_at_least("n_steps", n_steps)
    work, rng = Extraction(generator, images, y, budget, quality), seeded(random_state)
    best: tuple[Any, ...] = ()
    q_best, history = -np.inf, []
    nowhere = np.full(len(generator.meta_feature_names), np.nan)
    for _ in range(n_steps):
        features = work.draw_everywhere(rng)
        q = work.quality(features) if features else -np.inf
        history.append(Step(0, nowhere, len(features), q))
        if q >= q_best:
            best, q_best = features, q
    return work.result(best, None, q_best, tuple(history), f"tried {n_steps} random sets")
