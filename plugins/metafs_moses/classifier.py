r"""The learner ``moses``: small Boolean programs, found by evolution.

For two classes there is one program, which holds of the second; for more there is one for each
class against the rest. A class then is as probable as it was among the training rows of which its
program had the same output, with one more row of each kind:

.. math:: P(c \mid x) \propto \frac{n_{c, f_c(x)} + 1}{n_{f_c(x)} + 2}

M. Looks, "Competent program evolution", PhD thesis, 2006. B. Goertzel, N. Geisweiller, C. Poulin,
"Meta-learning for feature selection", 2021, use it as the learner, with minus the number of errors
as the score.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import joblib
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from metafs.data.parameters import check_at_least, check_between, check_common
from metafs.data.typing import Array
from metafs.errors import ProblemError, UsageError
from metafs.stats.function_quality import Function
from metafs_moses.budget import Budget
from metafs_moses.learning import Learning, Settings, shares
from metafs_moses.learnt import Learnt
from metafs_moses.program import size
from metafs_moses.search import Found
from metafs_moses.serial import Serial, columns_by


class MosesClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # no types there
    """Boolean programs over literals, and, or, not, learnt by evolution.

    Parameters
    ----------
    max_evaluations : int, default=10000
        Programs that may be scored, divided among the classes.
    max_seconds : float or None, default=None
        Seconds for the search; with them the result depends on the machine.
    complexity : float, default=0.1
        How many errors a literal must save.
    n_thresholds : int, default=3
        Literals of a numeric column, at most: thresholds chosen by information gain.
    n_literals : int, default=100
        Thresholds that knobs may add in one step. Of more they are drawn anew for each, half of
        the draws by information gain.
    n_pairs : int, default=20
        Pairs of literals that knobs may add in one step.
    n_samples : int, default=30
        Programs drawn at a time from a distribution over knobs where no single knob helps; 0 for
        hill climbing alone.
    patience : int, default=100
        Steps without a better program after which a deme starts from another exemplar.
    warm_start : bool, default=False
        Whether a further fit on the same rows continues the search: it then does exactly what one
        longer search would have done. On other rows it starts from the programs found before. The
        rows are kept for that.
    random_state : int, RandomState instance or None, default=0
        The seed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    programs_ : list of dict
        The program of each class, of the second one only for two, as JSON can hold it
        (`metafs.plugin.programs`); `fit` takes them as `programs`.
    sentences_ : list of str
        The same programs to be read, with the rows of the class of which each holds, and its
        errors: the rows of other classes of which it holds.
    scores_ : list of float
        Minus the number of errors of each program, in weights of rows.
    sizes_ : list of int
        Literals in each program.
    n_evaluations_ : int
        Programs scored.
    stopped_ : str
        Why the search ended.

    Notes
    -----
    A missing value satisfies no literal: neither "age > 3" nor "age <= 3". Weights of rows that are
    no whole numbers are rounded to 1/255 of the largest.

    Examples
    --------
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]] * 2
    >>> learner = MosesClassifier().fit(X, ["equal", "unequal", "unequal", "equal"] * 2)
    >>> learner.sentences_
    ['unequal if (x0 and not x1) or (x1 and not x0): 4 of 4 rows, 0 errors']
    >>> learner.predict([[1, 1]])
    array(['equal'], dtype='<U7')
    """

    def __init__(
        self,
        *,
        max_evaluations: int = 10_000,
        max_seconds: float | None = None,
        complexity: float = 0.1,
        n_thresholds: int = 3,
        n_literals: int = 100,
        n_pairs: int = 20,
        n_samples: int = 30,
        patience: int = 100,
        warm_start: bool = False,
        random_state: Any = 0,
    ) -> None:
        self.max_evaluations = max_evaluations
        self.max_seconds = max_seconds
        self.complexity = complexity
        self.n_thresholds = n_thresholds
        self.n_literals = n_literals
        self.n_pairs = n_pairs
        self.n_samples = n_samples
        self.patience = patience
        self.warm_start = warm_start
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        prior: Any = None,
        programs: Sequence[Serial] | None = None,
    ) -> Self:
        """Search for the programs.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            NaN where a value is missing.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            What an error on each row costs.
        prior : Prior or array-like of shape (n_features,), default=None
            What memory expects of the features: the higher, the more often their literals are
            tried. It changes nothing of what is optimised.
        programs : sequence of dict, default=None
            Programs as in `programs_`, of this table or a similar one, with features by name or
            number. The first deme of each class starts from the best of them.
        """
        settings = self._settings()
        earlier: _Fitted | None = getattr(self, "_fitted", None) if self.warm_start else None
        given = [*(programs or ()), *(earlier.programs if earlier else ())]
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan"
        )
        check_classification_targets(y)
        weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ProblemError(
                "moses needs two classes, but y has one class only: add rows of another."
            )
        targets = [1] if len(self.classes_) == 2 else list(range(len(self.classes_)))
        rows = joblib.hash((X, y, weights, settings))
        if earlier is not None and earlier.rows == rows:
            learning = earlier.learning
        else:
            columns = columns_by(getattr(self, "feature_names_in_", None), X.shape[1])
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            expected = _expectations(prior, X.shape[1])
            learning = Learning.of(
                X, codes, weights, targets, settings, seed, expected, given, columns
            )
        budgets = shares(self.max_evaluations, self.max_seconds, len(targets))
        found = learning.run(budgets)
        self.n_evaluations_ = sum(budget.used for budget in budgets)
        self.stopped_ = _reason(found, budgets)
        self._learnt = Learnt.of(learning, found, X, codes, weights, targets)
        names = getattr(self, "feature_names_in_", None)
        self.programs_ = self._learnt.serialised(names)
        self.scores_ = [-each.errors / learning.scale for each in found]
        self.sizes_ = [size(each.program) for each in found]
        shown = [f"x{j}" for j in range(X.shape[1])] if names is None else list(names)
        self.sentences_ = self._learnt.sentences(X, codes, targets, self.classes_, shown)
        self._fitted = _Fitted(learning, rows, self.programs_) if self.warm_start else None
        return self

    def predict(self, X: Any) -> Array:
        """Return the class of each row."""
        probabilities = self.predict_proba(X)
        return np.asarray(self.classes_[probabilities.argmax(axis=1)])

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class."""
        check_is_fitted(self)
        X = validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=np.float64,
            ensure_all_finite="allow-nan",
            reset=False,
        )
        return self._learnt.probabilities(X)

    def functions_met(self) -> list[Function]:
        """Return the programs that the search kept, each with the share of rows it gets right."""
        check_is_fitted(self)
        return self._learnt.functions()

    def candidates(self) -> list[tuple[Any, Serial, int, float]]:
        """Return the programs kept in the search: class, program, literals and score of each.

        The score is minus the number of errors. The best program of each class comes first.
        """
        check_is_fitted(self)
        found = self._learnt.candidates(self.complexity)
        return [(self.classes_[target], *candidate) for target, *candidate in found]

    def score_range(self) -> tuple[float, float]:
        """Return the least and the greatest score that a program can have on these rows."""
        check_is_fitted(self)
        return self._learnt.lowest_score(), 0.0

    def _settings(self) -> Settings:
        """Return the parameters of the search, or refuse them."""
        check_common(
            {
                "max_evaluations": self.max_evaluations,
                "max_seconds": self.max_seconds,
                "random_state": self.random_state,
            }
        )
        check_between("complexity", self.complexity, -1e-300)
        for name in ("n_thresholds", "n_literals", "patience"):
            check_at_least(name, getattr(self, name))
        for name in ("n_pairs", "n_samples"):
            check_at_least(name, getattr(self, name), 0)
        return Settings(
            self.complexity,
            self.n_thresholds,
            self.n_literals,
            self.n_pairs,
            self.n_samples,
            self.patience,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


@dataclass(frozen=True)
class _Fitted:
    """What a further fit may continue: the searches, the rows they saw, and what they found."""

    learning: Learning
    rows: str
    programs: list[Serial]


def _expectations(prior: Any, n_features: int) -> Array | None:
    """Return what a prior expects of each feature."""
    if prior is None:
        return None
    expected = np.asarray(prior, dtype=np.float64)
    if expected.shape != (n_features,):
        raise UsageError(
            f"the prior has shape {expected.shape}, but there are {n_features} features: give one "
            "expectation for each."
        )
    return expected


def _reason(found: Sequence[Found], budgets: Sequence[Budget]) -> str:
    if not any(each.errors for each in found):
        return "no errors left"
    return "seconds" if any(budget.is_late for budget in budgets) else "evaluations"
