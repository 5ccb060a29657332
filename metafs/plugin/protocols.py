"""What plugins offer, as types: one protocol for each kind, its docstring the contract.

A class need not derive from these: having the methods is enough, and mypy checks it against the
annotations of the hooks. What an object *may* do beyond its kind is a protocol of its own, named
``Supports...``; metafs asks for it with ``isinstance``. Every X is float64, an ndarray or a
csr_array, unless a docstring says otherwise; every array of features counts columns from 0.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from metafs.data.problem import Problem
from metafs.data.typing import Array, Matrix
from metafs.plugin.signature import Signature
from metafs.stats.confidence import Confidence
from metafs.stats.function_quality import Function


class Estimator(Protocol):
    """A scikit-learn estimator: its parameters can be read, set and copied."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the constructor by name."""

    def set_params(self, **params: Any) -> Any:
        """Set parameters and return the estimator."""


class Selector(Estimator, Protocol):
    """A feature selector: a scikit-learn estimator that says which columns it keeps.

    After ``fit`` it also has ``get_support()``, or ``support_``: True for each feature kept.
    What else it leaves is used where it is there: ``scores_`` of shape (n_features,), larger
    meaning better; ``ranking_`` with 1 for the best; ``n_evaluations_``; ``stopped_``, why the
    search ended; ``fitness_`` of the set found; ``candidates_``, a list of (evaluation number,
    features, fitness). Parameters named ``n_features_to_select``, ``max_evaluations``,
    ``max_seconds``, ``random_state``, ``n_jobs``, ``categorical_features`` and ``keep_features``
    are set by metafs. With the same seed the answer is the same, whatever ``n_jobs``.

    From metafs y comes as `metafs.data.target.settled` returns it: integers for classes, floats
    for numbers. A ``fit`` with a parameter ``task`` is given "classes" or "numbers" as well.
    """

    def fit(self, X: Any, y: Any) -> Any:
        """Select features of X, an array-like, sparse matrix or data frame."""


class SupportsPrior(Selector, Protocol):
    """A selector, or a learner, that can start from what memory expects.

    A prior changes where a search begins and what it tries first, never what it optimises, unless
    the docstring says that it is evidence;
    ``prior=None`` is the method as published. It is recognised by the parameter's name.
    """

    def fit(self, X: Any, y: Any, *, prior: Any = None, meta_features: Any = None) -> Any:
        """Select, given a `metafs.Prior` or one expectation in [0, 1] for each feature."""


@runtime_checkable
class SupportsParameterCheck(Protocol):
    """A selector that can refuse its parameters before any problem is read."""

    def check_parameters(self) -> None:
        """Raise `metafs.errors.UsageError` for parameters that are wrong whatever the data."""


class Measure(Protocol):
    """A quality measure of single features."""

    def __call__(self, X: Matrix, y: Array) -> Array:
        """Return one score for each feature, larger is better."""


@runtime_checkable
class SetMeasure(Protocol):
    """A measure that also values sets of features."""

    def __call__(self, X: Matrix, y: Array) -> Array:
        """Return the quality of every single feature."""

    def of_set(self, X: Matrix, y: Array, features: Sequence[int] | Array) -> float:
        """Return the quality of one set of features."""


class SetEvaluator(Protocol):
    """A set measure on one problem, for a search that asks for many sets."""

    def of_sets(self, base: Array, edits: Array) -> Array:
        """Return the fitness of `base` after each row of edits: features that join or leave."""


@runtime_checkable
class SupportsBind(SetMeasure, Protocol):
    """A set measure that prepares a problem once and then evaluates many sets."""

    def bind(
        self, X: Any, y: Any, *, categories: Mapping[int, tuple[str, ...]] | None = None
    ) -> SetEvaluator:
        """Return an evaluator; `categories` are the labels of categorical columns."""


@runtime_checkable
class SupportsLearner(Protocol):
    """A set measure that values a set by what a learner makes of it."""

    def with_learner(self, learner: Any) -> SetMeasure:
        """Return the measure with another learner."""


@runtime_checkable
class SupportsConfidence(Protocol):
    """A measure that weighs information by confidence; qualities are recorded by the same."""

    @property
    def confidence_parameters(self) -> Confidence:
        """The parameters b and r."""


@runtime_checkable
class SupportsAbandoning(Protocol):
    """An evaluator for which a set that cannot win costs less than one that can."""

    abandons: bool

    def of_sets(self, base: Array, edits: Array, *, above: float | None = None) -> Array:
        """Return the fitness of each set; of one that cannot exceed `above`, any lower bound."""


@runtime_checkable
class SupportsBatches(Protocol):
    """An evaluator that knows how many sets are best asked for together."""

    def at_once(self, base: Array) -> int:
        """Return how many sets near `base` cost little more than one of them."""


@runtime_checkable
class SupportsSizePrice(Protocol):
    """An evaluator that says whether a set is worth less for being large."""

    prices_size: bool


@runtime_checkable
class SupportsHints(Protocol):
    """An evaluator that can order features without evaluating them."""

    def hints(self, base: Array) -> Array | None:
        """Return a priority for each feature to join `base`, or None if it cannot tell."""


@runtime_checkable
class SupportsSingles(Protocol):
    """An evaluator that values all single features in one go."""

    def of_each(self) -> Array:
        """Return the fitness of every single feature."""


class Regressor(Estimator, Protocol):
    """A scikit-learn regressor from meta-features of a feature to its quality.

    ``predict(U, return_std=True)``, where it has it, also returns standard deviations, and
    ``fit(U, quality, sample_weight=...)``, where it has it, weights features.
    """

    def fit(self, X: Any, y: Any) -> Any:
        """Learn from features whose quality was measured, a row of meta-features each."""

    def predict(self, X: Any) -> Any:
        """Return the expected quality of each row."""


class Distance(Protocol):
    """A distance between problems."""

    @property
    def in_sql(self) -> bool:
        """Whether it is the root of the Jensen-Shannon divergence, which the MetaDB searches."""

    def signature(self, problem: Problem) -> Signature:
        """Describe a problem as a sparse discrete distribution."""

    def distance(self, a: Signature, b: Signature) -> float:
        """Return a metric in [0, 1]."""


class Learner(Estimator, Protocol):
    """A scikit-learn classifier or regressor, trained on the selected columns.

    ``fit`` may also take ``prior`` and ``meta_features``, restricted to these columns.
    """

    def fit(self, X: Any, y: Any) -> Any:
        """Train on rows X with targets y."""

    def predict(self, X: Any) -> Any:
        """Predict the targets of rows."""


@runtime_checkable
class SupportsCost(Protocol):
    """A selector or a learner that takes part in the automatic choice of a pipeline.

    It is tried where its fit is expected to be worth the time. One that does not say what it costs
    is used only where it is asked for by name. Experimental.
    """

    def expected_seconds(self, n_samples: int, n_features: int, n_outputs: int) -> float:
        """Return what a fit takes on one thread, roughly.

        `n_outputs` is the number of classes if there are more than two, else 1.
        """


@runtime_checkable
class SupportsSizes(Protocol):
    """A selector that says which numbers of features the automatic choice tries. Experimental."""

    def sizes(self, n_features: int) -> Sequence[int]:
        """Return numbers of features to keep of so many; without it they are powers of two."""


@runtime_checkable
class SupportsFunctions(Protocol):
    """A fitted learner whose search met many functions, such as programs."""

    def functions_met(self) -> Sequence[Function]:
        """Return them, each with its fitness, its complexity and what it gives for rows."""


@runtime_checkable
class SupportsCandidates(Protocol):
    """A learner that reports, after ``fit``, which candidates it tried; memory keeps them.

    A ``fit`` with a parameter ``programs`` is given those of near problems to start from.
    """

    def candidates(self) -> Sequence[tuple[Any, Mapping[str, Any], int, float]]:
        """Return output, candidate, size and score of each, the best of an output first.

        The output is a class as in y. The candidate is a program as in `metafs.plugin.programs`,
        with features by number.
        """

    def score_range(self) -> tuple[float, float]:
        """Return the least and the greatest score that a candidate can have on these rows."""


class Generator(Protocol):
    """A source of more features than could be listed, drawn when wanted. Experimental."""

    @property
    def meta_feature_names(self) -> tuple[str, ...]:
        """The names of the k meta-features."""

    @property
    def bounds(self) -> Array:
        """The least and the largest value of each meta-feature, of shape (k, 2)."""

    def nearest(self, u: Array) -> Array:
        """Return the valid point of the meta-feature space that is nearest to u."""

    def sample(self, u: Array, rng: np.random.Generator) -> Hashable:
        """Draw a feature whose meta-features are as near to u as can be."""

    def meta_features(self, f: Any) -> Array:
        """Return the meta-features of a feature, of shape (k,)."""

    def measure(self, f: Any, images: Any) -> Array:
        """Return the value of a feature on each instance, of shape (n_images,)."""

    def cost(self, f: Any) -> float:
        """Return what measuring a feature costs, more than 0."""


@runtime_checkable
class SupportsPrepare(Protocol):
    """A generator that measures faster on instances in a form of its own."""

    def prepare(self, images: Any) -> Any:
        """Return the instances in that form."""


@runtime_checkable
class SupportsMeasureAll(Protocol):
    """A generator that measures many features faster at once."""

    def measure_all(self, features: Sequence[Any], images: Any) -> Array:
        """Return values of shape (n_images, n_features)."""


@runtime_checkable
class SupportsSampleAll(Protocol):
    """A generator that draws many features faster at once."""

    def sample_all(self, points: Array, rng: np.random.Generator) -> Sequence[Hashable]:
        """Draw a feature near each point."""
