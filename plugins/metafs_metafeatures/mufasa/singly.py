r"""Search by kind, then select singly: Mufasa as a filter before features are judged one by one.

Mufasa never judges a single feature, so that its sets hold useless ones too. "This can be solved by
using a meta-features guided search as a fast but rough filter for good features, and then applying
more computationally demanding selection methods that examine each feature individually" (section
9).

1. Search for the best point u, or points of a blend, as `search` does.
2. Draw features there for several times the budget, the best set among them.
3. Drop features until the budget pays for the rest: in each of a few steps those with the least
   squared SVM weight for their cost, the machine trained anew.

E. Krupka, A. Navot, N. Tishby, "Learning to select features using their properties", Journal of
Machine Learning Research 9, 2008.
"""

from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from metafs.data.parameters import check_at_least, check_between
from metafs.data.typing import Array
from metafs.plugin.generators import total_cost
from metafs_metafeatures.mufasa.extraction import Extraction, MufasaResult, search, seeded
from metafs_svm import SVMWeights

STEPS = 4
"""In how many steps features are dropped."""


def search_then_select(
    generator: Any,
    images: Any,
    y: Any,
    *,
    budget: float,
    factor: float = 4.0,
    weigh: Any = None,
    random_state: Any = None,
    **searching: Any,
) -> MufasaResult:
    """Search the meta-features, draw more features where it is best, and select among them singly.

    Parameters
    ----------
    generator, images, y, budget, random_state
        As in `search`.
    factor : float, default=4.0
        How many times the budget is drawn to select from.
    weigh : measure of single features, default=None
        What each feature is worth beside the others; None is its squared weight in a linear SVM.
    **searching
        The other parameters of `search`.

    Returns
    -------
    MufasaResult
        That of the search, with the features that were selected, what they are worth together, and
        what they cost.
    """
    check_between("factor", factor)
    check_at_least("factor", int(factor))
    found = search(generator, images, y, budget=budget, random_state=random_state, **searching)
    weigh = SVMWeights() if weigh is None else weigh
    wide = Extraction(generator, images, y, factor * budget, searching.get("quality"))
    rng = seeded(random_state)
    drawn = dict.fromkeys(chain(found.features, wide.draw(np.asarray(found.u), rng)))
    X, features = wide.measured(tuple(drawn))
    costs = np.array([generator.cost(each) for each in features])
    kept = dropped_to(X, wide.y, costs, budget, weigh)
    chosen = tuple(features[j] for j in kept)
    return replace(
        found,
        features=chosen,
        quality=wide.quality(chosen),
        cost=total_cost(generator, chosen),
        failed=found.failed | wide.failed,
        stopped=f"{found.stopped}; selected {len(chosen)} of {len(features)} features singly",
    )


def dropped_to(X: Array, y: Array, costs: Array, budget: float, weigh: Any) -> Array:
    """Return the columns that are left when the budget pays for them, the weakest dropped first.

    Examples
    --------
    >>> X = np.array([[0.0, 5.0, 1.0], [1.0, 4.0, 1.0], [8.0, 5.0, 2.0], [9.0, 4.0, 2.0]])
    >>> y = np.array([0, 0, 1, 1])
    >>> dropped_to(X, y, np.ones(3), 2.0, lambda X, y: np.abs(X[y == 1].sum(0) - X[y == 0].sum(0)))
    array([0, 2])
    """
    left = np.arange(X.shape[1])
    limits = np.geomspace(max(costs.sum(), budget), budget, STEPS + 1)[1:]
    for limit in limits.tolist():
        if costs[left].sum() <= limit:
            continue
        worth = np.asarray(weigh(X[:, left], y)) / costs[left]
        order = left[np.argsort(-worth, kind="stable")]
        left = np.sort(order[np.cumsum(costs[order]) <= limit * (1 + 1e-12)])
    return left
