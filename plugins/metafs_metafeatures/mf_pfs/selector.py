r"""MF-PFS: a selector that predicts the quality of features from their properties.

The elimination is that of `metafs_metafeatures.mf_pfs.predictive`; quality is the squared weight
of a feature in a linear support vector machine on the features drawn, the map a weighted nearest
neighbour regression. Without meta-features it is recursive elimination of everything. A feature
that fails is asked for once, named in ``failed_`` and one warning, and ranked last.

E. Krupka, A. Navot, N. Tishby, "Learning to select features using their properties", JMLR 9, 2008,
sections 4 and 5.2.
"""

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import column_or_1d

from metafs.data.checks import checked_meta_features, counted, listing
from metafs.data.parameters import check_at_least, check_between
from metafs.data.typing import Array, Matrix
from metafs.errors import ProblemError, UsageError
from metafs.plugin.measures import check_quality
from metafs.plugin.prior import Prior, as_prior
from metafs.plugin.ranking import n_to_keep, ranking
from metafs.plugin.selector import BaseSelector
from metafs_metafeatures.mf_pfs.elimination import Quality, eliminate_all_measured, sizes_left
from metafs_metafeatures.mf_pfs.lazy_columns import as_measurer
from metafs_metafeatures.mf_pfs.measurers import Measurer, TableMeasurer
from metafs_metafeatures.mf_pfs.predictive import (
    ALPHAS,
    Elimination,
    eliminate_unmeasured,
    without_failures,
)
from metafs_regressors import WeightedKNN
from metafs_svm import SVMWeights


class MFPFS(BaseSelector):
    """Keep the features with the best quality as predicted by meta-features, measuring only some.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        How many features to keep (n), or which share of them; None keeps half.
    alpha : float or sequence of float, default=(0.4, 0.8, 1.0, 1.2)
        Which share of n to draw in each step. The values are spread evenly over the steps there
        are, and interpolated between; two of them are the first and the last.
    t : float, default=0.5
        The share of the features left that is eliminated in a step.
    quality : callable, default=None
        A measure of single features, ``quality(X, y)``; None takes the squared weights of a
        linear support vector machine, `metafs_svm.SVMWeights`.
    regressor : estimator, default=None
        Learns the map from meta-features to quality; None takes `metafs_regressors.WeightedKNN`,
        as published. Where measuring is quick, ``knn`` of the registry takes less time.
    reuse : bool, default=True
        Whether features that are measured already and still left are drawn before others; the
        paper draws at random. False does so too, as if nothing were known. Of 10 n features the
        published alphas then measure about 2.6 n, instead of 2.35 n; the paper says 2.1 n.
    min_measured : int, default=5
        The least number of features a map is learnt from, for small n.
    random_state : int, RandomState instance or None, default=None
        Which features are drawn.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        How many features went before this one: those eliminated in an earlier step score lower,
        within a step the lower predicted quality.
    ranking_ : ndarray of shape (n_features,)
        1 for the best.
    expected_quality_ : ndarray of shape (n_features,)
        The quality that was last predicted for each feature, NaN where nothing was.
    n_measured_ : int
        How many features were measured.
    steps_ : list of EliminationStep
        For each elimination step how many features were left, drawn, and measured anew.
    failed_ : dict of str to str
        For each feature that could not be measured, why.
    n_evaluations_ : int
        Qualities computed, over all steps.
    stopped_ : str
        Why the elimination ended.

    Notes
    -----
    Without meta-features nothing can be predicted: every feature is measured, and those with the
    lowest quality are eliminated, which is recursive feature elimination (RFE) with step t.
    Meta-features that are missing count as the median of the others. With no more features than
    n, all are kept.

    At the end the features that are kept are measured, as far as they have not been: whoever
    trains on them needs their values, and one that cannot be measured gives way to the next best.

    A prior says who is measured first: up to half of the features newly drawn in a step are those
    of which most is expected. It also decides between equal predictions.

    Features in a table cost nothing to measure; ``fit_measured`` is for those that do.

    Examples
    --------
    The first 20 features separate the classes, and the only meta-feature is their place.

    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 50)
    >>> X = rng.normal(size=(100, 200))
    >>> X[:, :20] += y[:, None]
    >>> mf_pfs = MFPFS(20, random_state=0).fit(X, y, meta_features=np.arange(200))
    >>> mf_pfs.get_support()[:20].sum(), mf_pfs.n_measured_
    (np.int64(19), 46)
    """

    def __init__(
        self,
        n_features_to_select: float | None = None,
        *,
        alpha: float | Sequence[float] = ALPHAS,
        t: float = 0.5,
        quality: Quality | None = None,
        regressor: Any = None,
        reuse: bool = True,
        min_measured: int = 5,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.t = t
        self.quality = quality
        self.regressor = regressor
        self.reuse = reuse
        self.min_measured = min_measured
        self.random_state = random_state

    def fit_measured(
        self,
        measurer: Any,
        y: Any,
        meta_features: Any = None,
        feature_names: Sequence[str] | None = None,
        *,
        prior: Prior | ArrayLike | None = None,
    ) -> Self:
        """Select among features that are measured only when they are drawn.

        Parameters
        ----------
        measurer : Measurer, callable, table or path of a parquet file
            Measures features by number; `metafs_metafeatures.mf_pfs.measurers` and
            `metafs_metafeatures.mf_pfs.lazy_columns` have several.
        y : array-like of shape (n_samples,)
            The target.
        meta_features : array-like of shape (n_features, k), default=None
            Properties of the features, NaN where unknown.
        feature_names : sequence of str, default=None
            Names for the features of a table, or those that a callable measures; the columns of a
            file that are features.
        prior : Prior or array-like of shape (n_features,), default=None
            What is expected of each feature.
        """
        self.check_parameters()
        y = column_or_1d(y)
        if meta_features is not None and callable(measurer) and feature_names is None:
            feature_names = [f"x{j}" for j in range(len(meta_features))]
        source = as_measurer(measurer, feature_names)
        if source.n_samples not in (None, len(y)):
            raise ProblemError(
                f"the features have {counted(source.n_samples or 0, 'value')} but the target has "
                f"{len(y)}; give one value a sample."
            )
        source.n_samples = len(y)
        self.n_features_in_ = source.n_features
        self.__dict__.pop("feature_names_in_", None)
        if source.feature_names != tuple(f"x{j}" for j in range(source.n_features)):
            self.feature_names_in_ = np.array(source.feature_names, dtype=object)
        described, _ = checked_meta_features(
            meta_features, (), source.n_features, type(self).__name__
        )
        self._select(source, y, as_prior(prior, source.n_features), described)
        return self

    def _fit(self, X: Matrix, y: Array, prior: Prior | None) -> None:
        self._fit_described(X, y, prior, None)

    def _fit_described(
        self, X: Matrix, y: Array, prior: Prior | None, meta_features: Array | None
    ) -> None:
        names = getattr(self, "feature_names_in_", None)
        self._select(TableMeasurer(X, names), y, prior, meta_features)

    def _select(
        self, measurer: Measurer, y: Array, prior: Prior | None, meta_features: Array | None
    ) -> None:
        n = n_to_keep(self.n_features_to_select, measurer.n_features)
        expected = None if prior is None else prior.expected
        quality = SVMWeights() if self.quality is None else self.quality
        n_before, failed_before = measurer.n_measured, set(measurer.failed)
        if meta_features is None or not meta_features.shape[1]:
            sizes = [*sizes_left(measurer.n_features, n, self.t)[1:], n]
            order, n_evaluations = eliminate_all_measured(
                measurer, y, sizes, quality=quality, hope=expected
            )
            found = Elimination(order, np.full(len(order), np.nan), [], n_evaluations)
            self.stopped_ = "no meta-features to predict from: every feature was measured"
        else:
            seed = check_random_state(self.random_state).randint(2**31 - 1)
            found = eliminate_unmeasured(
                measurer,
                y,
                meta_features,
                n,
                np.random.default_rng(seed),
                alpha=self.alpha,
                t=self.t,
                quality=quality,
                regressor=WeightedKNN(random_state=0) if self.regressor is None else self.regressor,
                min_measured=self.min_measured,
                reuse=self.reuse,
                expected=expected,
            )
            self.stopped_ = f"{counted(n, 'feature')} left"
            if measurer.n_features <= n:
                self.stopped_ = "no more features than to be kept: every feature was measured"
        order, n_kept = without_failures(measurer, found.order, n)
        self.scores_ = np.empty(len(order))
        self.scores_[order] = np.arange(len(order))
        self.ranking_ = ranking(self.scores_)
        self.support_ = self.ranking_ <= n_kept
        self.expected_quality_, self.steps_ = found.expected, found.steps
        self.n_evaluations_ = found.n_evaluations
        self.n_measured_ = measurer.n_measured - n_before
        self.failed_ = dict(measurer.failed)
        if new := sorted(self.failed_.keys() - failed_before):
            warnings.warn(
                f"{counted(len(new), 'feature')} could not be measured and took no part: "
                f"{listing(new)}; failed_ says why.",
                stacklevel=3,
            )

    def check_parameters(self) -> None:
        """Refuse parameters that are wrong whatever the data."""
        super().check_parameters()
        n_to_keep(self.n_features_to_select, 1)
        check_between("t", self.t, 0, 1)
        check_at_least("min_measured", self.min_measured)
        alphas = np.atleast_1d(np.asarray(self.alpha, dtype=object))
        if not len(alphas):
            raise UsageError("alpha is empty; give at least one share of n to draw.")
        for alpha in alphas:
            check_between("alpha", alpha)
        check_quality(self.quality)
        if self.regressor is not None and not hasattr(self.regressor, "fit"):
            raise UsageError(
                f"regressor is {self.regressor!r}; give a scikit-learn regressor, such as one of "
                "Registry().regressors, or None."
            )
