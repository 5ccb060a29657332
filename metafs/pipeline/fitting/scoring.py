r"""Learn: train a learner on the selected columns and score it by cross-validation.

There are two scores over the same folds. *Nested*: the selection is repeated inside each fold, from
its training rows only. *Non-nested*: the columns are selected once from all rows, test rows
included, so this score is usually too high.

The learner's success also weighs the features it used (the paper's section 2.2, with the
trained learner as the one function g that was tried):

.. math:: Q(s) = q(s) \, T(\phi), \qquad
          q(s) = \left(\frac{MI(s; Y)}{H(Y)}\right)^{2-r} \left(\frac{N}{N + b}\right)^r, \qquad
          T(\phi) = \frac{\phi - \phi_{chance}}{\phi_{best} - \phi_{chance}}

for a selected feature, and 0 for one that was not used. Measuring q(s) with one yardstick,
the paper's fitness of the single feature, keeps qualities comparable whichever selector
found them; b and r are those of the measure that was searched by, if it has them. The selector's
own score is recorded besides. The paper's T is (phi / sup phi)^p; ours starts at chance, because
half of all guesses between two classes are right, and uses the nested score, or is 1 without one.
"Best" is 0 for scorers called neg_... and 1 for all others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.pipeline import Pipeline

from metafs.data.problem import Problem
from metafs.data.typing import Array
from metafs.errors import NoScore, ProblemError, UsageError
from metafs.pipeline.fitting.fit import fit
from metafs.pipeline.fitting.parameters import fit_parameters, of_rows
from metafs.pipeline.fitting.prefilter import selecting
from metafs.plugin.prior import Prior
from metafs.plugin.protocols import SupportsConfidence
from metafs.stats.balanced import balanced
from metafs.stats.confidence import Confidence
from metafs.stats.discretise import codes_of, discretise_target
from metafs.stats.folds import folds
from metafs.stats.information import SetInformation, entropy
from metafs.stats.preparation import chosen_columns, preparation, with_filling
from metafs.stats.scorers import best_possible, is_defined, over_folds, scorer_named, takes_weight
from metafs.stats.threads import threads_for

DEFAULT_CONFIDENCE = Confidence()


@dataclass(frozen=True)
class Scores:
    """What a learner reached with the selected columns."""

    scoring: str
    nested: float
    """Over all folds (`over_folds`), with the selection made inside each."""
    non_nested: float
    """Over the same folds, with the columns selected from all rows."""
    chance: float
    """What guessing reaches under the same scoring."""
    all_features: float | None = None
    """What a linear model on all columns reaches, if a pipeline was chosen."""
    fold_columns: tuple[Array, ...] = field(default=(), repr=False, compare=False)
    """The columns that were selected from the training rows of each fold."""

    @property
    def success(self) -> float:
        """T: the nested score between chance (0) and the best possible score (1)."""
        best = best_possible(self.scoring)
        if best <= self.chance:
            return 0.0
        return float(np.clip((self.nested - self.chance) / (best - self.chance), 0.0, 1.0))


def require_fitting_learner(learner: Any, name: str, problem: Problem) -> None:
    """Refuse a classifier for a numeric target, and a regressor for classes."""
    wrong = is_regressor(learner) if problem.is_classification else is_classifier(learner)
    if wrong:
        wanted, offered = ("classes", "numbers")[:: 1 if problem.is_classification else -1]
        raise UsageError(
            f"learner {name!r} predicts {offered}, but the target {problem.target!r} of "
            f"{problem.name!r} holds {wanted}: choose another with --learner, "
            "`metafs plugins --kind learners` lists them."
        )


def learn(
    problem: Problem,
    selected: Array,
    selector: Any,
    learner: Any,
    *,
    scoring: str,
    prior: Prior | None = None,
    keep: Sequence[int] = (),
    n_folds: int = 5,
    seed: int | None = 0,
    prefilter: float | None = None,
) -> Scores:
    """Return the nested and the non-nested score of a learner on the selected columns.

    Raises
    ------
    NoScore
        The rows cannot be split into folds that allow a score, nothing can be selected from the
        training rows of a fold, or the scorer is undefined on some folds.
    """
    scorer = scorer_named(scoring)
    nested, non_nested, chance = [], [], []
    fold_columns = []
    guess = DummyClassifier() if problem.is_classification else DummyRegressor()
    cut = folds(problem, n_folds, seed)
    if not all(is_defined(scoring, problem.y[test]) for _, test in cut):
        raise NoScore(
            f"the target is constant in the test rows of a fold, where {scoring!r} is undefined: "
            "give more rows, or another --scoring."
        )
    for train, test in cut:
        try:
            inside = selecting(prefilter)(
                selector,
                problem.X[train],
                problem.y[train],
                prior=prior,
                meta_features=problem.meta_features,
                X_unlabelled=problem.X_unlabelled,
                keep=keep,
                categorical=problem.categories,
                **of_rows(problem, train),
            )
        except ProblemError as error:  # all rows were enough, the training rows of a fold are not
            raise NoScore(f"in a fold of {len(train)} training rows, {error}") from error
        fold_columns.append(np.flatnonzero(inside.selected))
        nested.append(score_on(problem, fold_columns[-1], learner, scorer, train, test, prior))
        non_nested.append(
            score_on(problem, np.flatnonzero(selected), learner, scorer, train, test, prior)
        )
        chance.append(score_on(problem, np.flatnonzero(selected), guess, scorer, train, test))
    undefined = int((~np.isfinite([nested, non_nested, chance])).any(axis=0).sum())
    if undefined:
        raise NoScore(
            f"scoring {scoring!r} is undefined on {undefined} of {len(nested)} folds: choose "
            "another with --scoring."
        )
    of_folds = {"nested": nested, "non_nested": non_nested, "chance": chance}
    return Scores(
        scoring,
        **{name: over_folds(scoring, each) for name, each in of_folds.items()},
        fold_columns=tuple(fold_columns),
    )


def confidence_of(selector: Any) -> Confidence:
    """Return the confidence parameters of the measure that a selector searches by."""
    measure = selector.get_params(deep=False).get("measure")
    return (
        measure.confidence_parameters
        if isinstance(measure, SupportsConfidence)
        else DEFAULT_CONFIDENCE
    )


def qualities(
    problem: Problem,
    selected: Array,
    success: float = 1.0,
    confidence: Confidence = DEFAULT_CONFIDENCE,
) -> Array:
    """Return Q for each feature: its univariate relevance times the learner's success."""
    Q = np.zeros(problem.n_features)
    chosen = np.flatnonzero(selected)
    if len(chosen):
        codes = codes_of(problem, chosen.tolist())
        y = problem.y if problem.is_classification else discretise_target(problem.y)
        share = SetInformation(codes, y).of_each() / entropy(np.bincount(y))
        share = np.clip(share, 0.0, 1.0)  # rounding
        Q[chosen] = np.clip(confidence.of(share, 1, problem.n_samples) * success, 0.0, 1.0)
    return Q


def selector_qualities(selected: Array, scores: Array) -> Array:
    """Return the selector's score of each selected feature, between 0 and 1: the paper's Q = q(s).

    Examples
    --------
    >>> selector_qualities(np.array([True, True, False]), np.array([0.4, np.nan, 0.9]))
    array([0.4, 0. , 0. ])
    """
    return np.where(selected, np.clip(np.nan_to_num(scores), 0.0, 1.0), 0.0)


def score_on(
    problem: Problem,
    columns: Array,
    learner: Any,
    scorer: Any,
    train: Array,
    test: Array,
    prior: Prior | None = None,
    decide_for: str | None = None,
) -> float:
    """Return the score on the test rows of a learner that saw some columns of the training rows."""
    model = model_on(problem, columns, learner, train, prior, decide_for)
    X = chosen_columns(problem.X, columns)[test]
    with threads_for(X.shape[0] * X.shape[1]):
        metadata = of_rows(problem, test) if takes_weight(scorer) else {}
        return float(scorer(model, X, problem.y[test], sample_weight=metadata.get("sample_weight")))


def model_on(
    problem: Problem,
    columns: Array,
    learner: Any,
    rows: Array | slice = slice(None),
    prior: Prior | None = None,
    decide_for: str | None = None,
    new_rows: bool = False,
) -> Any:
    """Return a learner, with what prepares these columns for it, fitted to some rows.

    With the name of a scorer its decisions are those that are best for that scorer. `new_rows`
    says that it will meet rows of other tables: they may lack values where no row here does.
    """
    X = chosen_columns(problem.X, columns)
    steps = preparation(X, columns, problem.categories)
    with threads_for(X.shape[0] * X.shape[1]):
        given = fit_parameters(problem, columns, learner, X[rows], steps, prior, rows)
        model = Pipeline([*steps, ("learn", clone(learner))])
        parameters = {f"learn__{name}": it for name, it in given.items()}
        model = fit(model, X[rows], problem.y[rows], **parameters)
    if new_rows:
        model = with_filling(model, X[rows])
    if decide_for is None:
        return model
    return balanced(model, problem.y[rows], decide_for, of_rows(problem, rows).get("sample_weight"))
