r"""newplugin: how much more often a feature is above its mean in some classes than in others.

.. math:: M_j = \sum_c P(c) \, |P(x_j > \mu_j \mid c) - P(x_j > \mu_j)|

A numeric target is cut at its median. This is a working example: write your own formula here and
in `differences`. A measure that also values sets of features has a method ``of_set`` as
`metafs.plugin.SetMeasure` describes it.
"""

import numpy as np

from metafs.data.target import holds_classes
from metafs.data.typing import Array, Matrix
from metafs.plugin import Measure, hookimpl

METAFS_API = 1


def differences(X: Matrix, y: Array) -> Array:
    """Return M for each column of X, dense or CSR; larger is better.

    Examples
    --------
    >>> X = np.array([[0.0, 5.0], [0.0, 4.0], [1.0, 5.0], [1.0, 4.0]])
    >>> differences(X, np.array([0, 0, 1, 1]))
    array([0.5, 0. ])
    """
    table = X if isinstance(X, np.ndarray) else X.toarray()
    above = table > table.mean(axis=0)
    classes = y if holds_classes(y) else y > np.median(y)
    found: Array = np.zeros(table.shape[1])
    for c in np.unique(classes):
        inside = classes == c
        found += inside.mean() * np.abs(above[inside].mean(axis=0) - above.mean(axis=0))
    return found


@hookimpl
def metafs_measures() -> dict[str, Measure]:
    """Offer the measure under its public name."""
    return {"newplugin": differences}
