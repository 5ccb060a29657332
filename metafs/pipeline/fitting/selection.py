"""Select: fit any selector, ours or a plain scikit-learn one, and read what it found."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from metafs.data.target import holds_classes
from metafs.data.typing import Array, Matrix
from metafs.errors import MetafsError, MissingValues, UsageError, describe
from metafs.pipeline.fitting.fit import fit
from metafs.pipeline.fitting.selector_input import input_for
from metafs.plugin.prior import Prior
from metafs.plugin.protocols import SupportsParameterCheck
from metafs.plugin.ranking import ranking
from metafs.stats.preparation import filled
from metafs.stats.weighting import weight_parameters

TOLERANCE = 1e-12
"""Equal sets may differ in the last bits of their fitness."""


@dataclass(frozen=True, eq=False)
class Selection:
    """What a selector found: which features, how it scored each, and what that took."""

    selected: Array
    """(n_features,) bool."""
    scores: Array
    """(n_features,), larger is better; NaN where the selector gave none."""
    ranking: Array
    """(n_features,), 1 for the best."""
    n_evaluations: int | None = None
    stopped: str | None = None
    fitness: float | None = None
    candidates: tuple[tuple[int, tuple[int, ...], float], ...] = ()


def evaluations_to(
    target: float, candidates: Sequence[tuple[int, Sequence[int], float]], n_evaluations: int
) -> tuple[int, bool]:
    """Return the number of the first evaluated set that reaches the target, and whether one does.

    A search that never reaches it is charged all its evaluations; none is charged less than one.

    Examples
    --------
    >>> evaluations_to(0.5, [(3, (0,), 0.2), (9, (0, 4), 0.6)], n_evaluations=20)
    (9, True)
    >>> evaluations_to(0.7, [(3, (0,), 0.2), (9, (0, 4), 0.6)], n_evaluations=20)
    (20, False)
    """
    steps = [step for step, _, fitness in candidates if fitness >= target - TOLERANCE]
    return max(1, min(steps, default=n_evaluations)), bool(steps)


def configured(selector: Any, settings: Mapping[str, Any]) -> Any:
    """Return a clone with those settings that the selector has parameters for."""
    selector = clone(selector)
    known = selector.get_params(deep=False)
    return selector.set_params(**{name: v for name, v in settings.items() if name in known})


def check_parameters(selector: Any, name: str) -> None:
    """Refuse parameters that are wrong for every problem, as far as the selector can check them.

    Ours have ``check_parameters``, and others may have it; scikit-learn's declare constraints.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest
    >>> check_parameters(SelectKBest(k="many"), "anova")
    Traceback (most recent call last):
    metafs.errors.UsageError: selector 'anova' refuses its parameters: InvalidParameterError: ...
    """
    try:
        if isinstance(selector, SupportsParameterCheck):
            selector.check_parameters()
        elif hasattr(selector, "_parameter_constraints"):
            selector._validate_params()
    except MetafsError as error:
        raise UsageError(str(error)) from error
    except Exception as error:  # third-party selectors may raise anything
        raise UsageError(f"selector {name!r} refuses its parameters: {describe(error)}") from error


def takes_prior(selector: Any) -> bool:
    """Tell whether a selector can start from a prior."""
    return bool(has_fit_parameter(selector, "prior"))


def select(
    selector: Any,
    X: Matrix,
    y: Array,
    *,
    prior: Prior | None = None,
    meta_features: Array | None = None,
    X_unlabelled: Matrix | None = None,
    keep: Sequence[int] = (),
    categorical: Collection[int] = (),
    groups: Array | None = None,
    sample_weight: Array | None = None,
) -> Selection:
    """Fit a clone of the selector; the columns in `keep` are always selected.

    y is a settled target: classes as integers, numbers as floats. A selector that takes no
    missing values, or no `categorical` columns, is given numbers in their place. One that takes
    no `groups` or no `sample_weight` does without.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest
    >>> X, y = np.array([[0.0, 3.0], [0.1, 1.0], [9.0, 2.0]]), np.array([0, 0, 1])
    >>> select(SelectKBest(k=1), X, y).selected
    array([ True, False])
    """
    task = "classes" if holds_classes(y) else "numbers"
    offered = {
        "prior": prior,
        "meta_features": meta_features,
        "task": task,
        "X_unlabelled": X_unlabelled,
        "groups": groups,
    }
    fit_parameters = {
        name: value
        for name, value in offered.items()
        if value is not None and has_fit_parameter(selector, name)
    }
    fit_parameters |= weight_parameters(selector, sample_weight)
    given = input_for(selector, X, y, categorical)
    if given is not X:  # rows without a target cannot be made ready in the same way
        fit_parameters.pop("X_unlabelled", None)
    try:
        fitted = fit(clone(selector), given, y, **fit_parameters)
    except MissingValues:  # what a selector takes may depend on the measure that it was given
        fitted = fit(clone(selector), filled(given), y, **fit_parameters)
    if not hasattr(fitted, "get_support") and not hasattr(fitted, "support_"):
        raise UsageError(
            f"{type(fitted).__name__} is not a selector: it has neither get_support nor support_."
        )
    support = fitted.get_support() if hasattr(fitted, "get_support") else fitted.support_
    selected = np.array(support, dtype=bool)
    _require_one_each("support", selected, X.shape[1])
    scores = _scores(fitted, selected)
    selected[list(keep)] = True
    return Selection(
        selected=selected,
        scores=scores,
        ranking=_ranking(fitted, scores, selected),
        n_evaluations=_optional(int, getattr(fitted, "n_evaluations_", None)),
        stopped=_optional(str, getattr(fitted, "stopped_", None)),
        fitness=_optional(float, getattr(fitted, "fitness_", None)),
        candidates=_candidates(fitted, X.shape[1]),
    )


def _optional(kind: type, value: Any) -> Any:
    return None if value is None else kind(value)


def _require_one_each(what: str, values: Array, n_features: int) -> None:
    if values.shape != (n_features,):
        raise ValueError(f"its {what} has shape {values.shape}, not one entry for each feature")


def _candidates(fitted: Any, n_features: int) -> tuple[tuple[int, tuple[int, ...], float], ...]:
    found = []
    for step, features, fitness in getattr(fitted, "candidates_", ()):
        if any(not 0 <= feature < n_features for feature in features):
            raise ValueError(f"its candidate {features} names a feature that does not exist")
        found.append((int(step), tuple(int(feature) for feature in features), float(fitness)))
    return tuple(found)


def _scores(fitted: Any, selected: Array) -> Array:
    """Return the selector's scores; one that only ranks or only chooses is scored by that."""
    if hasattr(fitted, "scores_"):
        scores = np.asarray(fitted.scores_, dtype=np.float64)
    elif hasattr(fitted, "ranking_"):
        scores = -np.asarray(fitted.ranking_, dtype=np.float64)
    else:
        scores = selected.astype(np.float64)
    _require_one_each("scores", scores, len(selected))
    return scores


def _ranking(fitted: Any, scores: Array, selected: Array) -> Array:
    if hasattr(fitted, "ranking_"):
        ranks = np.asarray(fitted.ranking_, dtype=np.int64)
        _require_one_each("ranking", ranks, len(scores))
        return ranks
    return ranking(np.nan_to_num(scores, nan=-np.inf), first=selected)
