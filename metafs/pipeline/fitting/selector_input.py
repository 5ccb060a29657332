"""Columns as selectors want them: missing values and categories for those that take neither.

A selector sees the training rows only, so what it is given is made from these.
"""

from collections.abc import Collection
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import get_tags

from metafs.data.typing import Array, Matrix
from metafs.stats.category_numbers import with_category_numbers
from metafs.stats.preparation import filled


def takes_missing(selector: Any) -> bool:
    """Return whether a selector declares that it takes missing values."""
    try:
        return bool(get_tags(selector).input_tags.allow_nan)
    except (AttributeError, TypeError):
        return False


def takes_categories(selector: Any) -> bool:
    """Return whether a selector has a parameter for categorical columns."""
    return "categorical_features" in selector.get_params(deep=False)


def has_missing(X: Matrix) -> bool:
    """Tell whether any value is missing."""
    values = X.data if issparse(X) else X
    return bool(np.isnan(np.min(values, initial=0.0)))


def input_for(selector: Any, X: Matrix, y: Array, categorical: Collection[int]) -> Matrix:
    """Return X, with numbers for categories and medians for missing values where needed."""
    if len(categorical) and not takes_categories(selector) and not issparse(X):
        X = with_category_numbers(X, y, categorical)
    return X if takes_missing(selector) or not has_missing(X) else filled(X)
