r"""Learn: train a learner on the selected columns and score it for what it is worth.

Two scores, over the same folds, and named for what they are. *Honest*: the selection is made
anew inside each fold, from its training rows only. *Optimistic*: the columns are those
selected from all rows, so the test rows have already had their say.

The learner's success also weighs the features it used (the paper's section 2.2, with the
trained learner as the one function g that was tried):

.. math:: Q(s) = q(s) \, T(\phi), \qquad
          q(s) = \frac{MI(s; Y)}{H(Y)} \cdot \frac{N}{N + b}, \qquad
          T(\phi) = \frac{\phi - \phi_{chance}}{\phi_{best} - \phi_{chance}}

for a selected feature, and 0 for one that was not used. Measuring q(s) with one yardstick,
the paper's fitness of the single feature, keeps qualities comparable whichever selector
found them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.impute import SimpleImputer
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import has_fit_parameter

from metafs.data.problem import Problem
from metafs.data.typing import Array, Matrix
from metafs.errors import UsageError
from metafs.pipeline.selection import select
from metafs.plugin.prior import Prior
from metafs.stats.discretise import discretise, discretise_target
from metafs.stats.information import SetInformation, entropy
from metafs.stats.threads import threads_for

CONFIDENCE_B = 5.0
DENSE_BYTES = 64 * 2**20
"""Selected columns are made dense up to this size: most learners are faster on them."""


@dataclass(frozen=True)
class Scores:
    """What a learner reached with the selected columns."""

    scoring: str
    honest: float
    """Mean over folds, with the selection made inside each."""
    optimistic: float
    """Mean over the same folds, with the columns selected from all rows."""
    chance: float
    """What guessing reaches under the same scoring."""

    @property
    def success(self) -> float:
        """T: the honest score between chance (0) and the best there is (1)."""
        best = 0.0 if self.scoring.startswith("neg_") else 1.0
        if best <= self.chance:
            return 0.0
        return float(np.clip((self.honest - self.chance) / (best - self.chance), 0.0, 1.0))


def default_scoring(problem: Problem) -> str:
    """Return the name of the scorer that suits the target."""
    return "balanced_accuracy" if problem.is_classification else "r2"


def scorer_named(scoring: str) -> Any:
    """Return scikit-learn's scorer of that name, or say which names are near."""
    if scoring not in get_scorer_names():
        beginning = [name for name in get_scorer_names() if name.startswith(scoring)]
        near = beginning[:3] or get_close_matches(scoring, get_scorer_names(), n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "see scikit-learn's scorers."
        raise UsageError(f"there is no scoring named {scoring!r}: {hint}")
    return get_scorer(scoring)


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


def require_fitting_scoring(scoring: str, problem: Problem) -> None:
    """Refuse a scorer of numbers for classes, the reverse, and one of two classes for more."""
    of_numbers = re.fullmatch(r"r2|explained_variance|.*error.*|.*deviance", scoring)
    if problem.classes is None:
        if not of_numbers:
            raise UsageError(
                f"scoring {scoring!r} does not suit the numeric target {problem.target!r} of "
                f"{problem.name!r}: use r2, or neg_mean_absolute_error."
            )
        return
    if of_numbers:
        raise UsageError(
            f"scoring {scoring!r} does not suit the classes in {problem.target!r} of "
            f"{problem.name!r}: use balanced_accuracy, or roc_auc."
        )
    if scoring in ("f1", "jaccard", "precision", "recall", "roc_auc") and len(problem.classes) > 2:
        better = "roc_auc_ovr" if scoring == "roc_auc" else f"{scoring}_macro"
        raise UsageError(
            f"scoring {scoring!r} is for two classes, but {problem.target!r} of {problem.name!r} "
            f"has {len(problem.classes)}: use {better}."
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
) -> Scores | None:
    """Score a learner on the selected columns, honestly and optimistically.

    None if there are too few rows for any fold, or if the scorer is undefined on all of them.
    """
    scorer = scorer_named(scoring)
    honest, optimistic, chance = [], [], []
    guess = DummyClassifier() if problem.is_classification else DummyRegressor()
    for train, test in folds(problem, n_folds, seed):
        inside = select(
            selector,
            problem.X[train],
            problem.y[train],
            prior=prior,
            meta_features=problem.meta_features,
            keep=keep,
        )
        honest.append(_score(problem, inside.selected, learner, scorer, train, test))
        optimistic.append(_score(problem, selected, learner, scorer, train, test))
        chance.append(_score(problem, selected, guess, scorer, train, test))
    defined = np.isfinite([honest, optimistic, chance]).all(axis=0)
    if not defined.any():
        return None
    means = np.mean([honest, optimistic, chance], axis=1, where=defined)
    return Scores(scoring, *map(float, means))


def folds(problem: Problem, n_folds: int, seed: int | None) -> Iterator[tuple[Array, Array]]:
    """Yield (train, test) rows; classes are spread evenly while each has enough members."""
    n_folds = min(n_folds, problem.n_samples // 2)  # r2 and its like need two rows to test on
    if n_folds < 2:
        return
    splitter = KFold(n_folds, shuffle=True, random_state=seed)
    if problem.is_classification:
        rarest = int(np.bincount(problem.y).min())
        if rarest >= 2:
            splitter = StratifiedKFold(min(n_folds, rarest), shuffle=True, random_state=seed)
    for train, test in splitter.split(np.zeros(problem.n_samples), problem.y):
        # A fold whose training rows hold a single class teaches a classifier nothing.
        if not problem.is_classification or len(np.unique(problem.y[train])) > 1:
            yield train, test


def qualities(problem: Problem, selected: Array, success: float = 1.0) -> Array:
    """Return Q for each feature: what it tells of the target times the learner's success."""
    Q = np.zeros(problem.n_features)
    chosen = np.flatnonzero(selected)
    if len(chosen):
        used = problem.columns(chosen.tolist())
        codes = discretise(used.X, categories=used.categories)
        y = used.y if used.is_classification else discretise_target(used.y)
        confidence = used.n_samples / (used.n_samples + CONFIDENCE_B)
        share = SetInformation(codes.matrix, y).of_each() / entropy(np.bincount(y))
        Q[chosen] = np.clip(share * confidence * success, 0.0, 1.0)
    return Q


def _score(
    problem: Problem, selected: Array, learner: Any, scorer: Any, train: Array, test: Array
) -> float:
    columns = np.flatnonzero(selected)
    X = _chosen_columns(problem.X, columns)
    steps = [*_preparation(problem, columns, X), ("learn", clone(learner))]
    with threads_for(X.shape[0] * X.shape[1]):
        model = Pipeline(steps).fit(X[train], problem.y[train], **_told(problem, columns, learner))
        return float(scorer(model, X[test], problem.y[test]))


def _told(problem: Problem, columns: Array, learner: Any) -> dict[str, Array]:
    """Return the meta-features of the columns, for a learner that can use them.

    Categories become several columns each, which nobody has described.
    """
    numeric = not any(column in problem.categories for column in columns.tolist())
    if problem.meta_features is None or not numeric:
        return {}
    if not has_fit_parameter(learner, "meta_features"):
        return {}
    return {"learn__meta_features": problem.meta_features[columns]}


def _chosen_columns(X: Matrix, columns: Array) -> Matrix:
    chosen = X[:, columns]
    if issparse(chosen) and 8 * chosen.shape[0] * chosen.shape[1] <= DENSE_BYTES:
        return np.asarray(chosen.toarray())
    return chosen


def _preparation(problem: Problem, columns: Array, X: Matrix) -> list[tuple[str, Any]]:
    """Fill missing numbers by the training median, and give each category a column."""
    categorical = np.array([column in problem.categories for column in columns.tolist()])
    fill = SimpleImputer(strategy="median", keep_empty_features=True)
    if categorical.any():
        encode = OneHotEncoder(handle_unknown="ignore")
        parts = [("numbers", fill, ~categorical), ("categories", encode, categorical)]
        return [("prepare", ColumnTransformer(parts))]
    if np.isnan(X.data if issparse(X) else X).any():
        return [("prepare", fill)]
    return []
