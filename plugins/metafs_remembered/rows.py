"""The rows that estimators with memory learn from: labelled, counted, and those without label."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from metafs.data.checks import check_known
from metafs.data.row_values import fit_groups, fit_weights
from metafs.data.typing import Array, Matrix
from metafs.data.unlabelled import labelled_rows
from metafs.stats.linear.rows import stacked


def training_rows(
    estimator: Any, X: Any, y: Any, X_unlabelled: Any, sample_weight: Any, groups: Any, **rules: Any
) -> tuple[Matrix, Array, dict[str, Any]]:
    """Return what ``fit`` learns from: checked labelled rows, and all else that is known of them.

    The latter are the rows without label, weights and groups, under the names of these parameters.
    `rules` are those of scikit-learn's ``validate_data``.
    """
    named = type(estimator).__name__
    sample_weight, groups = labelled_of(y, sample_weight, groups)
    X, y, without = labelled_rows(X, y)
    more = as_unlabelled(named, without, X_unlabelled)
    X, y = validate_data(estimator, X, y, accept_sparse="csr", dtype=np.float64, **rules)
    X, y, known = counted_rows(X, y, sample_weight, groups, named)
    return X, y, {"X_unlabelled": more, **known}


def rows_to_predict(estimator: Any, X: Any) -> Matrix:
    """Return validated rows that a fitted estimator is to predict."""
    check_is_fitted(estimator)
    return as_rows(validate_data(estimator, X, accept_sparse="csr", dtype=np.float64, reset=False))


def as_rows(X: Any) -> Matrix:
    """Return validated rows in the form that linear models take."""
    return csr_array(X) if issparse(X) else np.asarray(X)


def as_unlabelled(named: str, *tables: Any) -> Matrix | None:
    """Return rows without label, of several tables of which some may be None."""
    found: Matrix | None = None
    for each in tables:
        if each is not None:
            rows = as_rows(
                check_array(
                    each, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan"
                )
            )
            check_known(rows, named)
            found = rows if found is None else stacked(found, rows)
    return found


def labelled_of(y: Any, *of_rows: Any) -> list[Array | None]:
    """Return what is known of rows for those that have a label."""
    return [None if each is None else labelled_rows(np.asarray(each), y)[0] for each in of_rows]


def counted_rows(
    X: Matrix, y: Array, sample_weight: Any, groups: Any, named: str
) -> tuple[Matrix, Array, dict[str, Any]]:
    """Return the rows whose weight is not 0, with their weights and groups."""
    weights = fit_weights(sample_weight, len(y), named)
    groups = fit_groups(groups, len(y), named)
    if weights is None or weights.all():
        return X, y, {"sample_weight": weights, "groups": groups}
    rows = np.flatnonzero(weights)
    known = {"sample_weight": weights[rows], "groups": None if groups is None else groups[rows]}
    return X[rows], y[rows], known
