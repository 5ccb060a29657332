r"""How strongly to regularise: cross-validation of the labels, and what is usual.

Cross-validated losses :math:`L` of n labelled rows say little of the regularisation :math:`\lambda`
if n is small. In units of the mean prior variance of a row, :math:`\bar k`, good values lay between
0.3 and 10 on all streams. The loss of all rows is like a negative log-likelihood, so

.. math:: p(\lambda) \propto \exp\Big(-n L(\lambda) - \log_{10}^2 \frac{\lambda}{3 \bar k}\Big),
          \qquad \log \hat\lambda = \sum_\lambda p(\lambda) \log \lambda .

Where classes have a prior mean, weights are nearer to it than to 0, and 10 takes the place of 3.
With 200 rows a factor of ten costs half a percent of a bit, so the labels decide.
"""

import numpy as np
from scipy.special import softmax

from metafs.data.typing import Array
from metafs.stats.linear.spectrum import Spectrum

_GRID = np.geomspace(1e-3, 10**2.5, 12)

_USUAL = 3.0
_USUAL_AROUND_MEAN = 10.0
_COST = 1.0  # in units of a log-loss
_NO_VARIANCE = 1e-6


def regularisations(spectrum: Spectrum) -> Array:
    """Return the grid for labelled rows: from little of their mean prior variance to much more."""
    return _GRID * _unit(spectrum)


def _unit(spectrum: Spectrum) -> float:
    """Return the mean prior variance of a row; 1 if rows do not differ, so that none is 0."""
    mean = float(spectrum.values.sum()) / len(spectrum.vectors)
    return mean if mean > _NO_VARIANCE else 1.0


def shares_of_regularisations(
    lambdas: Array,
    loss: Array,
    spectrum: Spectrum,
    *,
    classes: bool,
    around_mean: bool = False,
) -> Array:
    """Return how probable each regularisation of the grid is.

    Parameters
    ----------
    lambdas : array of shape (L,)
    loss : array of shape (L,)
        Cross-validated log-loss, or relative squared error, which is twice like one.
    spectrum : Spectrum
        Of the labelled rows.
    classes : bool
        Whether the target holds classes.
    around_mean : bool
        Whether the weights have a prior mean.
    """
    factor = _USUAL_AROUND_MEAN if around_mean and classes else _USUAL
    n_rows, usual = len(spectrum.vectors), factor * _unit(spectrum)
    apart = np.log10(lambdas / usual)
    return np.asarray(softmax(-n_rows * (loss if classes else loss / 2) - _COST * apart**2))
