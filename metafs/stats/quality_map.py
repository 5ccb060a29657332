r"""Quality map: predicts the quality of a feature from its meta-features.

Algorithm 1, with a measure of quality and a regression algorithm to choose:

1. measure the quality of each feature, :math:`Y_{MF}` of length N;
2. write down its meta-features, :math:`X_{MF}` of shape N x k;
3. learn :math:`\hat Q: \mathbb{R}^k \to \mathbb{R}` from :math:`(X_{MF}, Y_{MF})` by regression.

The map predicts the quality of features that have not been measured. It is evaluated on held-out
features: by the correlation of predicted and measured quality, and for each meta-feature by the
drop of this correlation without it (section 5.1).

E. Krupka, A. Navot, N. Tishby, "Learning to select features using their properties", Journal of
Machine Learning Research 9, 2008.
"""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from metafs.data.checks import check_names, checked_meta_features, counted
from metafs.data.parameters import check_at_least
from metafs.data.typing import Array
from metafs.errors import ProblemError, UsageError
from metafs.stats.regression import fitted, predicted_with_std

_WHERE = "quality map"


def medians_of_known(meta_features: Array) -> Array:
    """Return the median of each column's known values, 0 for a column without any.

    Examples
    --------
    >>> medians_of_known(np.array([[1.0, np.nan], [np.nan, np.nan], [3.0, np.nan]]))
    array([2., 0.])
    """
    medians = np.zeros(meta_features.shape[1])
    some = ~np.isnan(meta_features).all(axis=0)
    medians[some] = np.nanmedian(meta_features[:, some], axis=0)
    return medians


class QualityMap(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A map from the meta-features of a feature to its expected quality.

    Unknown meta-features (NaN) are taken to be the median of the known ones, 0 where none is known.

    Parameters
    ----------
    regressor : estimator
        Any scikit-learn regressor; a copy of it is fitted.

    Attributes
    ----------
    regressor_ : estimator
        The fitted regressor.
    medians_ : ndarray of shape (k,)
        What unknown meta-features are taken to be.
    n_measured_ : int
        Number of features the map was learnt from.

    Examples
    --------
    >>> from sklearn.linear_model import BayesianRidge
    >>> lengths, quality = [[1.0], [2.0], [3.0], [4.0]], [0.1, 0.2, 0.3, np.nan]
    >>> QualityMap(BayesianRidge()).fit(lengths, quality).predict([[5.0]]).round(2)
    array([0.5])
    """

    def __init__(self, regressor: Any) -> None:
        self.regressor = regressor

    def fit(self, meta_features: Any, quality: Any, sample_weight: Any = None) -> Self:
        """Learn the map from features whose quality is known.

        Parameters
        ----------
        meta_features : array-like of shape (n_features, k)
            Properties of the features, NaN where unknown.
        quality : array-like of shape (n_features,)
            Measured quality; features whose quality is NaN are left out.
        sample_weight : array-like of shape (n_features,), default=None
            How much each feature counts, for regressors that can weight.
        """
        known, values = _described(meta_features, quality)
        measured = ~np.isnan(values)
        if not measured.any():
            raise ProblemError(
                f"{_WHERE}: no feature has a known quality; measure at least one of them."
            )
        weight = None if sample_weight is None else _weights(sample_weight, values)[measured]
        self.medians_ = medians_of_known(known[measured])
        self.n_measured_ = int(measured.sum())
        self.regressor_ = fitted(
            self.regressor, self._filled(known[measured]), values[measured], weight
        )
        return self

    def predict(self, meta_features: Any, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Return the expected quality of features, with ``return_std`` also standard deviations."""
        check_is_fitted(self)
        known, _ = _described(meta_features)
        if known.shape[1] != len(self.medians_):
            raise ProblemError(
                f"{_WHERE}: {counted(known.shape[1], 'meta-feature')} given, but the map was "
                f"learnt from {len(self.medians_)}; give the same ones."
            )
        if return_std:
            return predicted_with_std(self.regressor_, self._filled(known))
        prediction: Array = self.regressor_.predict(self._filled(known))
        return prediction

    def _filled(self, meta_features: Array) -> Array:
        return np.where(np.isnan(meta_features), self.medians_, meta_features)


def quality_map(
    X: Any,
    y: Any,
    meta_features: Any,
    measure: Callable[[Any, Any], Array],
    regressor: Any,
) -> QualityMap:
    """Measure the features of X against y, and learn the map from their meta-features.

    Parameters
    ----------
    X, y : array-like of shape (n_samples, n_features) and (n_samples,)
        The table and its target.
    meta_features : array-like of shape (n_features, k)
        Properties of the features, NaN where unknown.
    measure : callable
        ``measure(X, y)`` returns one quality per feature, larger is better.
    regressor : estimator
        Any scikit-learn regressor.

    Examples
    --------
    >>> from metafs import Registry
    >>> registry, rng = Registry(), np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> X = rng.normal(size=(300, 40)) + np.outer(y, np.arange(40) / 20)
    >>> measure, regressor = registry.measures["fisher"], registry.regressors["ridge"]
    >>> map = quality_map(X, y, np.arange(40.0), measure, regressor)
    >>> bool(map.predict([[39.0]])[0] > map.predict([[0.0]])[0])
    True
    """
    return QualityMap(regressor).fit(meta_features, measure(X, y))


def held_out_quality(
    meta_features: Any,
    quality: Any,
    regressor: Any,
    *,
    n_folds: int = 5,
    random_state: int = 0,
) -> Array:
    """Return the quality of each feature as predicted by a map that has not seen it.

    The measured features are divided at random into folds; those of a fold are predicted from the
    others, features without a measured quality from all.
    """
    known, values = _described(meta_features, quality)
    predicted = np.empty(len(values))
    for learnt, asked in _folds(values, n_folds, random_state):
        learner = QualityMap(regressor).fit(known[learnt], values[learnt])
        predicted[asked] = learner.predict(known[asked])
    if np.isnan(values).any():
        predicted[np.isnan(values)] = (
            QualityMap(regressor).fit(known, values).predict(known[np.isnan(values)])
        )
    return predicted


def held_out_correlation(
    meta_features: Any,
    quality: Any,
    regressor: Any,
    *,
    n_folds: int = 5,
    random_state: int = 0,
) -> float:
    """Return the correlation of predicted and measured quality, the mean over held-out folds.

    Where all predictions are the same there is none: it counts 0. There are as many folds as
    asked for, or fewer, so that each holds two features at least.
    """
    known, values = _described(meta_features, quality)
    if known.shape[1] == 0:
        return 0.0
    n_measured = int(np.count_nonzero(~np.isnan(values)))
    if n_measured < 4:
        raise ProblemError(
            f"{_WHERE}: {counted(n_measured, 'feature')} of known quality cannot be divided into "
            "folds of two; measure at least four."
        )
    n_folds = min(n_folds, n_measured // 2)
    predicted = held_out_quality(
        known, values, regressor, n_folds=n_folds, random_state=random_state
    )
    folds = _folds(values, n_folds, random_state)
    return float(np.mean([correlation(predicted[asked], values[asked]) for _, asked in folds]))


def contributions(
    meta_features: Any,
    quality: Any,
    regressor: Any,
    *,
    names: Sequence[str] = (),
    n_folds: int = 5,
    random_state: int = 0,
) -> dict[str, float]:
    """Return by how much the held-out correlation drops without each meta-feature, largest first.

    Examples
    --------
    >>> from sklearn.linear_model import BayesianRidge
    >>> rng = np.random.default_rng(0)
    >>> U = rng.normal(size=(100, 2))
    >>> found = contributions(U, U[:, 1], BayesianRidge(), names=["useless", "all"])
    >>> list(found), found["all"] > 0.5, abs(found["useless"]) < 0.01
    (['all', 'useless'], True, True)
    """
    known, values = _described(meta_features, quality)
    _, named = checked_meta_features(known, names, len(known), _WHERE)
    check_names(named, _WHERE)

    def reached(columns: Array) -> float:
        return held_out_correlation(
            columns, values, regressor, n_folds=n_folds, random_state=random_state
        )

    full = reached(known)
    drops = [full - reached(np.delete(known, r, axis=1)) for r in range(known.shape[1])]
    by_drop = sorted(zip(named, drops, strict=True), key=lambda each: -each[1])
    return dict(by_drop)


def correlation(one: Array, other: Array) -> float:
    """Return Pearson's correlation, 0 where one of the two does not vary.

    Examples
    --------
    >>> correlation(np.array([1.0, 2.0]), np.array([3.0, 5.0])).round(6)
    np.float64(1.0)
    >>> correlation(np.array([1.0, 1.0]), np.array([3.0, 5.0]))
    0.0
    """
    one, other = one - one.mean(), other - other.mean()
    lengths = np.linalg.norm(one) * np.linalg.norm(other)
    return one @ other / lengths if lengths > 0 else 0.0


def _folds(quality: Array, n_folds: int, random_state: int) -> list[tuple[Array, Array]]:
    """Return, for each fold of the features with known quality, those outside and those inside."""
    check_at_least("n_folds", n_folds, 2)
    known = np.flatnonzero(~np.isnan(quality))
    if len(known) < 2:
        raise ProblemError(
            f"{_WHERE}: {counted(len(known), 'feature')} of known quality cannot be divided into "
            "folds; measure at least two."
        )
    shuffled = np.random.default_rng(random_state).permutation(known)
    inside = np.array_split(shuffled, min(n_folds, len(known)))
    return [(np.setdiff1d(known, fold), np.sort(fold)) for fold in inside]


def _described(meta_features: Any, quality: Any = None) -> tuple[Array, Array]:
    """Return meta-features as (n_features, k), and one quality per feature, NaN where unknown."""
    n_features = len(np.atleast_1d(meta_features)) if quality is None else np.size(quality)
    known, _ = checked_meta_features(meta_features, (), n_features, _WHERE)
    if known is None:
        raise UsageError(f"{_WHERE}: there are no meta-features; give a row for each feature.")
    values = np.full(len(known), np.nan) if quality is None else np.ravel(quality).astype(float)
    if np.isinf(values).any():
        raise ProblemError(
            f"{_WHERE}: the quality of feature {int(np.isinf(values).argmax()) + 1} is infinite; "
            "correct it, or use NaN for unknown."
        )
    return known, values


def _weights(sample_weight: Any, quality: Array) -> Array:
    """Return one weight per feature, none negative."""
    weight = np.ravel(np.asarray(sample_weight, dtype=np.float64))
    if len(weight) != len(quality) or not (weight >= 0).all() or np.isinf(weight).any():
        raise UsageError("sample_weight must be one finite number from 0 for each feature.")
    return weight
