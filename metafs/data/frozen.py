"""Read-only views of tables, for code that must not change them."""

from typing import Any

import numpy as np
from scipy.sparse import issparse


def unwritable(values: Any) -> Any:
    """Return a view of an array or CSR matrix that refuses to be changed; all else as it is.

    The values are shared, so this costs nothing; a matrix with unsorted or repeated entries is
    put in order first, in a copy, because most libraries would do that in place.

    Examples
    --------
    >>> given = np.array([1.0, 2.0])
    >>> unwritable(given)[0] = 5.0
    Traceback (most recent call last):
    ValueError: assignment destination is read-only
    >>> given[0] = 5.0
    """
    if isinstance(values, np.ndarray):
        view = values.view()
        view.flags.writeable = False
        return view
    if issparse(values) and values.format == "csr":
        if not values.has_canonical_format:
            values = values.copy()
            values.sum_duplicates()
        parts = tuple(map(unwritable, (values.data, values.indices, values.indptr)))
        frozen = type(values)(parts, shape=values.shape, copy=False)
        frozen.has_canonical_format = True
        return frozen
    return values
