"""Predicted against measured quality as a picture, after figure 4 of the paper.

E. Krupka, A. Navot, N. Tishby, "Learning to select features using their properties", Journal of
Machine Learning Research 9, 2008.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from metafs.data.typing import Array
from metafs.errors import UsageError
from metafs.stats.quality_map import correlation


def mean_of_top(measured: Array, by: Array) -> Array:
    """Return the mean measured quality of the k features ranked first by another, for each k.

    Examples
    --------
    >>> mean_of_top(np.array([1.0, 4.0, 1.0]), by=np.array([0.2, 0.1, 0.3]))
    array([1., 1., 2.])
    """
    order = np.argsort(-by, kind="stable")
    return np.asarray(np.cumsum(measured[order]) / np.arange(1, len(measured) + 1))


def plot_quality(predicted: ArrayLike, measured: ArrayLike, axes: Any = None) -> Any:
    """Draw predicted against measured quality, and how good the features are that each ranks first.

    Parameters
    ----------
    predicted, measured : array-like of shape (n_features,)
        Quality of features that the map was not learnt from; NaN is left out.
    axes : pair of matplotlib Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    ndarray of two Axes
        The scatter, and the mean measured quality of the k features ranked first by either.
    """
    p, q = (np.ravel(np.asarray(each, dtype=np.float64)) for each in (predicted, measured))
    if p.shape != q.shape:
        raise UsageError("predicted and measured differ in length: give both for each feature.")
    known = ~np.isnan(p + q)
    p, q = p[known], q[known]
    if not len(q):
        raise UsageError("there is no feature with both a predicted and a measured quality.")
    if axes is None:
        axes = _two_axes()
    scatter, top = axes
    scatter.scatter(q, p, s=8)
    scatter.set_xlabel("measured quality")
    scatter.set_ylabel("predicted quality")
    scatter.set_title(f"correlation {correlation(p, q):.2f}")
    ks = np.arange(1, len(q) + 1)
    top.plot(ks, mean_of_top(q, q), label="ranked by measured quality")
    top.plot(ks, mean_of_top(q, p), "--", label="ranked by predicted quality")
    top.set_xlabel("features ranked first")
    top.set_ylabel("their mean measured quality")
    top.legend()
    return np.array([scatter, top])


def _two_axes() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError(
            "a picture needs matplotlib: install it with pip install 'metafs-automl[report]'."
        ) from None
    figure = Figure(figsize=(5, 8), layout="constrained")
    return figure.subplots(2, 1)
