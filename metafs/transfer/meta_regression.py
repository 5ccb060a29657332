r"""Meta-regression: the expectation of unseen features, predicted from their meta-features.

Algorithm 1 of E. Krupka, A. Navot, N. Tishby, "Learning to Select Features using their
Properties", JMLR 9, 2008, with the whole memory for a training set: every feature f of the space
whose properties u(f) are known is a row, and its outcome, averaged over the problems that had it,
is its label. A regressor that can weight its rows counts each by the number of these problems.

.. math:: \hat{Q} = \mathrm{regalg}\big(\{(u(f), \bar{Q}(f))\}_f\big), \qquad
          P_D(s) = \hat{Q}(u(s)) \ \text{for a feature } s \text{ that no neighbour had}

So the expectation of a new or renamed column comes from features with similar properties. If a
neighbour had the column, only the neighbour counts: combining both would need another rule. Unknown
properties are NaN and count as the median of the known ones, because they are gathered by hand and
one missing cell should not fail a problem.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from metafs.data.typing import Array
from metafs.stats.quality_map import QualityMap
from metafs.stats.regression import knows_how_sure, takes_weights

FEWEST = 10
"""Minimum number of features to train on."""

MOST = 2_000
"""Of more features than this a random sample is used."""

LATEST = 1_000
"""Only the latest problems of a space are used, so that the time stays bounded."""


class FeatureExperience(Protocol):
    """Features of known properties that past problems had, a row each."""

    @property
    def meta_feature_names(self) -> Sequence[str]:
        """The names of the properties."""

    @property
    def meta_features(self) -> Array:
        """The properties, of shape (n_features, k)."""

    @property
    def n_problems(self) -> Array:
        """How many problems had each feature."""

    def __len__(self) -> int: ...


@dataclass(frozen=True, eq=False)
class MetaRegression:
    """What features are expected to be worth by their properties alone."""

    expected: Array
    """(n_features,), in [0, 1]."""
    std: Array | None
    """How far features of such a kind lie around it; None if the regressor does not know."""
    by: tuple[str, ...]
    """The meta-features that were used."""
    n_features: int
    """Number of features of the training set."""


def meta_regression(
    outcomes: FeatureExperience,
    worth: Array,
    meta_features: Array,
    meta_feature_names: Sequence[str],
    regressor: Any,
    *,
    seed: int = 0,
) -> MetaRegression | None:
    """Predict what features are worth from those meta-features that memory knows too.

    Parameters
    ----------
    outcomes : FeatureExperience
        The outcomes of features with known meta-features.
    worth : array of shape (len(outcomes),)
        What each of them was worth.
    meta_features : array of shape (n_features, k)
        Of the features to predict, NaN where unknown.
    meta_feature_names : sequence of str
        The names of these k.
    regressor : estimator
        From meta-features to worth.

    Returns
    -------
    MetaRegression or None
        None if memory holds too few features, or knows none of these meta-features.
    """
    common = [name for name in meta_feature_names if name in outcomes.meta_feature_names]
    if len(outcomes) < FEWEST or not common:
        return None
    there = outcomes.meta_features[:, [outcomes.meta_feature_names.index(name) for name in common]]
    here = meta_features[:, [list(meta_feature_names).index(name) for name in common]]
    rows = np.arange(len(outcomes))
    if len(rows) > MOST:
        rows = np.sort(np.random.default_rng(seed).choice(rows, MOST, replace=False))
    weights = outcomes.n_problems[rows].astype(np.float64) if takes_weights(regressor) else None
    quality_map = QualityMap(regressor).fit(there[rows], worth[rows], sample_weight=weights)
    std = None
    if knows_how_sure(regressor):
        expected, std = quality_map.predict(here, return_std=True)
    else:
        expected = quality_map.predict(here)
    blank = np.isnan(here).all(axis=1)  # of which nothing is known: as any feature
    expected = np.where(blank, worth[rows].mean(), expected)
    std = None if std is None else np.where(blank, worth[rows].std(), std)
    return MetaRegression(np.clip(expected, 0.0, 1.0), std, tuple(common), len(rows))
