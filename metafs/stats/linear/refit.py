r"""A model on few columns that is fitted to own labels, and to a reference where there are none.

With :math:`p_i` the probability that the reference gives row i, and 1 or 0 where i has a label,

.. math:: \min_{\theta, b} \sum_i -p_i \log \sigma(f_i) - (1 - p_i) \log (1 - \sigma(f_i))
          + \frac{\lambda}{8 \bar k} |\theta|^2, \qquad f_i = b + \theta' z_i,

for each output, with z the columns prepared by themselves, so that words are rows of unit length
again, and :math:`\bar k` their mean squared length. For numbers it is ridge regression on labels
and predictions. In a projection labels have no say, and without further rows it is far worse.
"""

from dataclasses import replace

import numpy as np
from scipy.sparse import issparse

from metafs.data.typing import Array, Matrix
from metafs.stats.linear.logistic import logistic
from metafs.stats.linear.model import LinearModel
from metafs.stats.linear.preparation import Preparation
from metafs.stats.linear.rows import stacked
from metafs.stats.linear.spectrum import spectrum_of_rows
from metafs.stats.linear.targets import targets_of

REGULARISATION = 2.0


def refitted(
    model: LinearModel,
    X: Matrix,
    y: Array,
    columns: Array,
    *,
    X_unlabelled: Matrix | None = None,
    sample_weight: Array | None = None,
) -> LinearModel:
    """Return a model on some columns; its rows have these columns only.

    Parameters
    ----------
    model : LinearModel
        The reference, on all columns.
    X, y : the labelled rows, with all columns
    columns : array of int
        Which columns the model is to have.
    X_unlabelled : ndarray or csr_array, default=None
        Rows without label, for which the reference speaks.
    sample_weight : array of shape (n_rows,), default=None
        How much each labelled row counts; the others count like the mean of them.
    """
    classes = model.classes is not None
    ready = _of_columns(model.preparation, columns)
    everything = stacked(X, X_unlabelled)
    table = ready(everything[:, columns])
    table = np.asarray(table.toarray() if issparse(table) else table)
    n, n_more = len(y), len(table) - len(y)
    weight = np.ones(n) if sample_weight is None else sample_weight / sample_weight.mean()
    weight = np.append(weight, np.ones(n_more))
    length = float(np.sqrt(np.average(np.sum(table**2, axis=1), weights=weight))) or 1.0
    targets, _ = targets_of(y, classes)
    unlabelled = everything[n:]
    if classes:
        said = _probabilities(model, unlabelled, targets.shape[1])
        fits = [
            _logistic(table / length, t, p, weight) for t, p in zip(targets.T, said.T, strict=True)
        ]
        coef, intercept = (np.array(each) for each in zip(*fits, strict=True))
    else:
        wanted = np.vstack([targets, model.decision_function(unlabelled)])
        alpha, fitted = spectrum_of_rows(table / length, weight).ridge(wanted, REGULARISATION)
        coef = (table.T @ alpha).T / length
        intercept = np.average(fitted - (table / length) @ coef.T, axis=0, weights=weight)
    return replace(
        model,
        preparation=ready,
        coef=coef / length,
        intercept=intercept,
        regularisation=REGULARISATION,
        from_memory=np.zeros_like(coef),
        spread=model.spread[columns],
        slope=1.0,
        held_out=None,
    )


def _logistic(table: Array, target: Array, said: Array, weight: Array) -> tuple[Array, float]:
    """Return the weights of columns, and the intercept.

    A row without label is there twice, as either class, with the probability as its weight.
    """
    n = len(target)
    rows = np.vstack([table, table[n:]])
    signs = np.concatenate([target, np.ones(len(said)), -np.ones(len(said))])
    counted = np.concatenate([weight[:n], weight[n:] * said, weight[n:] * (1 - said)])
    kept = counted > 0
    rows, signs, counted = rows[kept], signs[kept], counted[kept]
    # The spectrum's weights have the mean 1, so the penalty is for as many rows.
    penalty = REGULARISATION * len(counted) / counted.sum()
    alpha, fitted = logistic(spectrum_of_rows(rows, counted), signs[:, None], penalty)
    theta = rows.T @ alpha[:, 0]
    return theta, float(np.average(fitted[:, 0] - rows @ theta, weights=counted))


def _probabilities(model: LinearModel, X: Matrix, n_outputs: int) -> Array:
    """Return the probability of the class of each output."""
    said = model.predict_proba(X)
    return np.asarray(said[:, 1:] if n_outputs == 1 else said)


def _of_columns(ready: Preparation, columns: Array) -> Preparation:
    return Preparation(*(values[columns] for values in vars(ready).values()))
