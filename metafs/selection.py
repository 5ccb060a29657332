"""Select: fit any selector, ours or a plain scikit-learn one, and read what it found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from metafs.prior import Prior
from metafs.ranking import ranking
from metafs.typing import Array, Matrix


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


def configured(selector: Any, settings: Mapping[str, Any]) -> Any:
    """Return a clone with those settings that the selector has parameters for."""
    selector = clone(selector)
    known = selector.get_params(deep=False)
    return selector.set_params(**{name: v for name, v in settings.items() if name in known})


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
    keep: Sequence[int] = (),
) -> Selection:
    """Fit a clone of the selector; the columns in `keep` are selected whatever it says.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest
    >>> X, y = np.array([[0.0, 3.0], [0.1, 1.0], [9.0, 2.0]]), np.array([0, 0, 1])
    >>> select(SelectKBest(k=1), X, y).selected
    array([ True, False])
    """
    fit_parameters = {
        name: value
        for name, value in {"prior": prior, "meta_features": meta_features}.items()
        if value is not None and has_fit_parameter(selector, name)
    }
    fitted = clone(selector).fit(X, y, **fit_parameters)
    support = fitted.get_support() if hasattr(fitted, "get_support") else fitted.support_
    selected = np.array(support, dtype=bool)
    scores = _scores(fitted, selected)
    selected[list(keep)] = True
    fitness = getattr(fitted, "fitness_", None)
    return Selection(
        selected=selected,
        scores=scores,
        ranking=_ranking(fitted, scores, selected),
        n_evaluations=getattr(fitted, "n_evaluations_", None),
        stopped=getattr(fitted, "stopped_", None),
        fitness=None if fitness is None else float(fitness),
        candidates=tuple(getattr(fitted, "candidates_", ())),
    )


def _scores(fitted: Any, selected: Array) -> Array:
    """Return the selector's scores; one that only ranks or only chooses is scored by that."""
    if hasattr(fitted, "scores_"):
        return np.asarray(fitted.scores_, dtype=np.float64)
    if hasattr(fitted, "ranking_"):
        return -np.asarray(fitted.ranking_, dtype=np.float64)
    return selected.astype(np.float64)


def _ranking(fitted: Any, scores: Array, selected: Array) -> Array:
    if hasattr(fitted, "ranking_"):
        return np.asarray(fitted.ranking_, dtype=np.int64)
    return ranking(np.nan_to_num(scores, nan=-np.inf), first=selected)
