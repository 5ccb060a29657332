r"""The linear classifier whose weights are a Gaussian process over the meta-features.

A prior :math:`P(w) \propto e^{-\frac12 w^T C^{-1} w}` with :math:`C_{ij} = C(u_i, u_j)` says that
features with similar meta-features have similar weights. The classifier is the one with the
maximum margin under that prior (equation 4),

.. math:: w = \operatorname{argmin} \; w^T C^{-1} w
          \quad \text{subject to} \quad y_i (w^T x_i + b) \ge 1,

with slack at a price. It is an ordinary machine on :math:`\tilde x = C^{1/2} x` or, the same, with
the kernel :math:`x^T C x'`; what is kept is :math:`w = C^{1/2} \tilde w`, as many numbers as there
are features. The paper has no intercept b and trains all classes together; here b is free unless
one asks for none, and each class has a machine against the rest unless one asks for
``multi_class="crammer-singer"``.

By default meta-features are in units of their standard deviations, since one sigma over mixed units
means nothing; a covariance given by hand gets them as they are. Independent weights are always
among the candidates when sigma is chosen: equal meta-features tie weights under every sigma.

E. Krupka, N. Tishby, "Incorporating prior knowledge on features into learning", AISTATS 2007.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from metafs.data.checks import checked_meta_features
from metafs.data.parameters import check_at_least
from metafs.data.row_values import fit_groups
from metafs.data.typing import Array
from metafs.errors import NoScore, ProblemError, UsageError
from metafs.stats.folds import folds_of
from metafs_metafeatures.gp_prior.against_rest import (
    AGAINST_REST,
    TOGETHER,
    chosen,
    machines_of,
    spread,
    train_on_rows,
)
from metafs_metafeatures.gp_prior.choice import (
    RELATIVE_COSTS,
    Choice,
    candidates,
    cross_validate,
    sigma_candidates,
    some_of_each,
    standardised,
)
from metafs_metafeatures.gp_prior.covariance import CovarianceFunction, Gaussian
from metafs_metafeatures.gp_prior.root import PriorRoot, prior_root

LOSSES = ("hinge", "squared_hinge")
MOST_IN_GRAM = 10_000
"""Samples of which all products are kept."""


class GPPriorClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # no types there
    """Maximum margin under the prior that similar features have similar weights.

    Parameters
    ----------
    covariance : callable, default=None
        C(U, V), such as those of `metafs_metafeatures.gp_prior.covariance`. None is equation 6 on
        meta-features in units of their standard deviations.
    sigma : float or sequence of float, default=None
        How far likeness reaches, or several values to choose among by cross-validation. None
        chooses among five, from the distance of neighbouring features to half the width of the
        space, and independent weights. Used where the covariance has a sigma and leaves it open.
    C : float or sequence of float, default=None
        The cost of a sample's loss, or several values to choose among. None chooses among 0.1 to
        100 times the inverse of the samples' mean squared distance from their centre, as seen
        under the prior.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        What a sample within the margin costs.
    multi_class : {"against-rest", "crammer-singer"}, default="against-rest"
        Whether each of several classes has a machine against the rest, or all are trained together
        as in the paper, with the hinge loss.
    fit_intercept : bool, default=True
        Whether the machines have an intercept; the paper's have none.
    cv : int, default=5
        Folds of the cross-validation; there are fewer if a class is smaller. With fewer than four
        samples there is none, and the middle one of several values is taken.
    random_state : int, RandomState instance or None, default=None
        How samples are dealt to the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the features as they are given; one row for two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    covariance_ : callable or None
        The covariance used, with its sigma; None for independent weights, if there were no
        meta-features or if these did better.
    sigma_ : float or None
        Its sigma, None if it has none.
    C_ : float
        The cost used.
    choices_ : list of Choice
        Everything that was tried, with its accuracy.

    Notes
    -----
    Without meta-features the prior is the same for each weight and this is a plain linear machine.
    A feature of which a meta-feature is missing (NaN) has a weight that is independent of all
    others; constant meta-features change nothing. Features with equal meta-features have equal
    weights under any sigma, which is why independent weights are always tried as well.

    Up to 10,000 samples the machines are trained on the Gram matrix. Of more, 10,000 decide on
    sigma and C, and a LinearSVC is then trained on all rows, mapped by the root of C; these are
    dense, and kept in memory.

    Features count by their scale, as in any such machine: scale them beforehand.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 30))
    >>> y = X[:, :10].sum(axis=1) > 0
    >>> position = np.arange(30.0)[:, None]
    >>> smooth = GPPriorClassifier(random_state=0).fit(X, y, meta_features=position)
    >>> plain = GPPriorClassifier(random_state=0).fit(X, y)
    >>> X_new = rng.normal(size=(1000, 30))
    >>> y_new = X_new[:, :10].sum(axis=1) > 0
    >>> smooth.score(X_new, y_new) > plain.score(X_new, y_new)
    True
    """

    def __init__(
        self,
        covariance: CovarianceFunction | None = None,
        *,
        sigma: float | Sequence[float] | None = None,
        C: float | Sequence[float] | None = None,
        loss: str = "hinge",
        multi_class: str = AGAINST_REST,
        fit_intercept: bool = True,
        cv: int = 5,
        random_state: Any = None,
    ) -> None:
        self.covariance = covariance
        self.sigma = sigma
        self.C = C
        self.loss = loss
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, meta_features: Any = None, groups: Any = None) -> Self:
        """Learn the weights.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The table; float32 is kept as it is.
        y : array-like of shape (n_samples,)
            Classes.
        meta_features : array-like of shape (n_features, k), default=None
            Properties of the features, NaN where unknown.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group are never divided in the cross-validation that chooses the prior.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        groups = fit_groups(groups, len(y), "gp-prior")
        check_classification_targets(y)
        if self.loss not in LOSSES:
            raise UsageError(f"loss must be hinge or squared_hinge, not {self.loss!r}.")
        if self.multi_class not in (AGAINST_REST, TOGETHER):
            raise UsageError(
                f"multi_class must be {AGAINST_REST} or {TOGETHER}, not {self.multi_class!r}."
            )
        if self.multi_class == TOGETHER and self.loss != "hinge":
            raise UsageError(f"multi_class {TOGETHER} has the hinge loss, not {self.loss!r}.")
        check_at_least("cv", self.cv, 2)
        U, _ = checked_meta_features(meta_features, (), X.shape[1], "gp-prior")
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ProblemError("gp-prior needs two classes, but y has one class only: add another.")
        if U is not None and self.covariance is None:
            U = standardised(U)
        rng = check_random_state(self.random_state)
        seed = rng.randint(2**31 - 1)
        rows: Any = slice(None)
        if len(codes) > MOST_IN_GRAM:
            rows = some_of_each(codes, MOST_IN_GRAM, seed)
        best, root, K = self._choose(
            X[rows], codes[rows], None if groups is None else groups[rows], U, seed
        )
        self.covariance_, self.sigma_, self.C_ = best.covariance, best.sigma, best.cost
        if len(codes) > MOST_IN_GRAM:
            coef, self.intercept_ = train_on_rows(
                root.times_root(X),
                codes,
                best.cost,
                self.loss,
                self.fit_intercept,
                seed,
                together=self.multi_class == TOGETHER and len(self.classes_) > 2,
            )
            self.coef_ = root.times_root(coef)
        else:
            machines = machines_of(
                K,
                codes,
                len(self.classes_),
                best.cost,
                self.loss,
                self.fit_intercept,
                self.multi_class,
            )
            alpha = machines.alpha.astype(X.dtype)  # mixed types would copy X
            summed = safe_sparse_dot(alpha.T, X, dense_output=True)
            self.coef_, self.intercept_ = root.times_covariance(summed), machines.intercept
        return self

    def decision_function(self, X: Any) -> Array:
        """Return how far each sample is on the side of a class, one column per machine."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        coef = self.coef_.astype(X.dtype, copy=False)  # mixed types would copy X
        decision = safe_sparse_dot(X, coef.T, dense_output=True) + self.intercept_
        return np.asarray(decision.ravel() if len(self.classes_) == 2 else decision)

    def predict(self, X: Any) -> Array:
        """Return the class of each sample."""
        decision = self.decision_function(X)
        two = decision.ndim == 1
        return np.asarray(self.classes_[chosen(decision[:, None] if two else decision)])

    def _choose(
        self, X: Any, y: Array, groups: Array | None, U: Array | None, seed: int
    ) -> tuple[Choice, PriorRoot, Array]:
        """Return the best covariance and cost, with the root and the Gram matrix they gave."""
        priors = list(self._priors(U))
        costs = None if self.C is None else candidates("C", self.C)
        try:
            folds = folds_of(y, self.cv, seed, groups=groups)
        except NoScore:  # nothing to choose by
            folds = []
            priors = [priors[len(priors) // 2]]
        self.choices_: list[Choice] = []
        best: Choice | None = None
        for covariance, sigma in priors:
            root = prior_root(covariance, U, X.shape[1])
            with np.errstate(over="ignore", invalid="ignore"):
                K = root.gram(X)
            if not np.isfinite(K).all():
                raise UsageError("the values are too large for gp-prior: scale the features.")
            unit = spread(K, self.fit_intercept)
            own_costs = costs or tuple(c / unit for c in RELATIVE_COSTS)
            if folds and len(priors) * len(own_costs) > 1:
                accuracies = cross_validate(
                    K, y, folds, own_costs, self.loss, self.fit_intercept, self.multi_class
                )
            else:
                own_costs, accuracies = (own_costs[len(own_costs) // 2],), [np.nan]
            for cost, accuracy in zip(own_costs, accuracies, strict=True):
                self.choices_.append(Choice(covariance, sigma, cost, accuracy))
                if best is None or accuracy > best.accuracy:
                    best, kept = self.choices_[-1], (root, K)
        assert best is not None
        return best, *kept

    def _priors(self, U: Array | None) -> Iterator[tuple[CovarianceFunction | None, float | None]]:
        """Yield the covariances to choose among, each with its sigma."""
        given = None if self.sigma is None else candidates("sigma", self.sigma)
        covariance = Gaussian() if self.covariance is None else self.covariance
        if U is None:
            yield None, None
        elif not isinstance(covariance, Gaussian):
            yield covariance, None
        elif covariance.sigma is not None:
            yield covariance, covariance.sigma
        else:
            covariance.check_columns(U.shape[1])
            if given is None:
                yield None, None
            for sigma in given or sigma_candidates(covariance, U):
                yield replace(covariance, sigma=sigma), sigma

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
