"""Scorers by name, and which suit a target."""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from inspect import signature
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer

from metafs.data.problem import Problem
from metafs.data.typing import Array
from metafs.errors import UsageError


def minus_errors(y_true: Array, y_pred: Array, sample_weight: Array | None = None) -> float:
    """Return minus the number of rows with the wrong class, or minus their weight.

    Examples
    --------
    >>> minus_errors(np.array([0, 1, 1]), np.array([1, 0, 1]))
    -2.0
    """
    wrong = np.asarray(y_true) != np.asarray(y_pred)
    return -float(np.sum(wrong if sample_weight is None else np.asarray(sample_weight)[wrong]))


ERRORS = "neg_errors"
OURS = {ERRORS: make_scorer(minus_errors)}
"""Scorers that scikit-learn does not have."""


def scorer_named(scoring: str) -> Any:
    """Return our or scikit-learn's scorer of that name; suggest similar names if there is none."""
    if scoring in OURS:
        return OURS[scoring]
    if scoring not in get_scorer_names():
        known = [*OURS, *get_scorer_names()]
        beginning = [name for name in known if name.startswith(scoring)]
        near = beginning[:3] or get_close_matches(scoring, known, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "see scikit-learn's scorers."
        raise UsageError(f"there is no scoring named {scoring!r}: {hint}")
    return get_scorer(scoring)


def takes_weight(scorer: Any) -> bool:
    """Return whether a scorer can count rows by weight.

    Examples
    --------
    >>> takes_weight(scorer_named("accuracy")), takes_weight(scorer_named("mutual_info_score"))
    (True, False)
    """
    return "sample_weight" in signature(scorer._score_func).parameters


def default_scoring(problem: Problem) -> str:
    """Return the name of the scorer that suits the target."""
    return "balanced_accuracy" if problem.is_classification else "r2"


def best_possible(scoring: str) -> float:
    """Return the best possible score: 0 for errors, else 1.

    Examples
    --------
    >>> best_possible("neg_mean_squared_error"), best_possible("accuracy")
    (0.0, 1.0)
    """
    return 0.0 if scoring.startswith("neg_") else 1.0


def over_folds(scoring: str, scores: Sequence[float]) -> float:
    """Return what scores on several folds are together: errors add up, all others are averaged.

    Examples
    --------
    >>> over_folds("neg_errors", [-2.0, -1.0]), over_folds("accuracy", [0.5, 1.0])
    (-3.0, 0.75)
    """
    return float(np.sum(scores) if scoring == ERRORS else np.mean(scores))


def is_defined(scoring: str, y: Array) -> bool:
    """Return whether a scorer is defined on test rows with this target.

    The explained share of variance is undefined for a constant target.

    Examples
    --------
    >>> is_defined("r2", np.zeros(3)), is_defined("neg_mean_absolute_error", np.zeros(3))
    (False, True)
    """
    return scoring not in ("r2", "explained_variance") or bool(np.ptp(y) > 0)


def require_fitting_scoring(scoring: str, problem: Problem) -> None:
    """Refuse a scorer of numbers for classes, the reverse, and one of two classes for more."""
    of_numbers = re.fullmatch(r"r2|explained_variance|.*error.*|.*deviance", scoring)
    if problem.classes is None:
        if not of_numbers or scoring == ERRORS:
            raise UsageError(
                f"scoring {scoring!r} does not suit the numeric target {problem.target!r} of "
                f"{problem.name!r}: use r2, or neg_mean_absolute_error."
            )
        return
    if of_numbers and scoring != ERRORS:
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
