r"""Maximum-margin machines, one class against the rest, from a Gram matrix.

With :math:`K_{ij} = x_i^T C x_j` and :math:`y_i = \pm 1` each machine minimises

.. math:: \tfrac12 w^T C^{-1} w + \lambda \sum_i \ell(y_i (w^T x_i + b)), \qquad
          w = C \sum_i \alpha_i x_i

with the hinge :math:`\ell(t) = (1 - t)_+` or its square, and with the intercept free or 0. The
hinge is libsvm's; the squared hinge is a machine without slack on :math:`K + I / 2\lambda`. Without
an intercept, each sample stands opposite its mirror image :math:`(-x_i, -y_i)`, and both have half
the price: by symmetry b = 0 is then the best there is. All classes can also be trained together, as
in the paper (`metafs.stats.crammer_singer`).
"""

from dataclasses import dataclass

import numpy as np
from sklearn.svm import SVC, LinearSVC

from metafs.data.typing import Array
from metafs.stats.crammer_singer import crammer_singer

ROUNDING = 64 * float(np.finfo(np.float64).eps)
AGAINST_REST, TOGETHER = "against-rest", "crammer-singer"
MOST_ITERATIONS = 10**6
"""Steps of libsvm, far more than a machine on scaled samples takes."""

NO_SLACK = 1e10
"""A cost, in units of the inverse spread of the samples, that no margin is worth."""


def spread(K: Array, fit_intercept: bool = True) -> float:
    """Return the mean squared distance of the samples from their centre; 1 if there is none.

    Without an intercept it is that from 0.

    Examples
    --------
    >>> spread(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    1.0
    """
    from_zero = float(np.trace(K)) / len(K)
    from_centre = from_zero - (float(K.mean()) if fit_intercept else 0.0)
    # What rounding leaves of samples that are all the same is no spread.
    return positive(from_centre if from_centre > ROUNDING * from_zero else 0.0)


def positive(value: float) -> float:
    """Return a scale that can be divided by."""
    return value if np.isfinite(value) and value > 1e-300 else 1.0


def signs_against_rest(y: Array, n_classes: int) -> Array:
    """Return 1 where a sample is of a machine's class, else -1; y holds 0, 1, ...

    Two classes have one machine, for the second of them.

    Examples
    --------
    >>> signs_against_rest(np.array([0, 1, 1]), 2).tolist()
    [[-1.0], [1.0], [1.0]]
    """
    classes = np.arange(n_classes)[1 if n_classes == 2 else 0 :]
    return np.where(y[:, None] == classes, 1.0, -1.0)


@dataclass(frozen=True)
class Machines:
    """The machines of a problem: what each sample counts for, and the intercepts."""

    alpha: Array
    """(n_samples, n_machines)."""
    intercept: Array
    """(n_machines,)."""

    def predict(self, K: Array) -> Array:
        """Return classes 0, 1, ... from the products of samples with those trained on."""
        decision = K @ self.alpha + self.intercept
        return chosen(decision)


def chosen(decision: Array) -> Array:
    """Return the class that each row of decisions speaks for."""
    if decision.shape[1] == 1:
        return (decision[:, 0] > 0).astype(np.int64)
    return np.asarray(decision.argmax(axis=1))


def machines_of(
    K: Array,
    y: Array,
    n_classes: int,
    cost: float,
    loss: str,
    fit_intercept: bool = True,
    multi_class: str = AGAINST_REST,
) -> Machines:
    """Train on classes 0, 1, ..., each against the rest or, if there are more than two, together.

    Together they have no intercept of their own; `fit_intercept` then centres the samples.
    """
    if multi_class == AGAINST_REST or n_classes == 2:
        return train(K, signs_against_rest(y, n_classes), cost, loss, fit_intercept)
    common = K.mean(axis=1) if fit_intercept else np.zeros(len(K))
    centred = K - common[:, None] - common + (common.mean() if fit_intercept else 0.0)
    present, found = crammer_singer(centred, y, cost)
    alpha, intercept = np.zeros((len(K), n_classes)), np.full(n_classes, -np.inf)
    alpha[:, present], intercept[present] = found, 0.0
    if fit_intercept:  # back to samples as they are
        alpha = alpha - alpha.mean(axis=0)
        intercept = intercept - common @ alpha
    return Machines(alpha, intercept)


def train(K: Array, signs: Array, cost: float, loss: str, fit_intercept: bool = True) -> Machines:
    """Train a machine for each column of signs.

    Examples
    --------
    >>> K = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> machines = train(K, np.array([[1.0], [-1.0]]), 10.0, "hinge")
    >>> machines.alpha.ravel()
    array([ 0.5, -0.5])
    """
    if not fit_intercept:
        mirrored = np.block([[K, -K], [-K, K]])
        both = train(mirrored, np.concatenate([signs, -signs]), cost / 2, loss)
        alpha = both.alpha[: len(K)] - both.alpha[len(K) :]
        return Machines(alpha, np.zeros(signs.shape[1]))
    # The intercept takes up what the samples have in common; far from 0 it would drown the rest.
    common = K.mean(axis=1)
    K = K - common[:, None] - common + common.mean()
    if loss == "squared_hinge":
        K = K + np.eye(len(K)) / (2 * cost)
        cost = NO_SLACK / spread(K)
    alpha, intercept = np.zeros(signs.shape), np.zeros(signs.shape[1])
    for machine, y in enumerate(signs.T):
        if len(set(y)) == 1:
            intercept[machine] = y[0]
            continue
        svm = SVC(kernel="precomputed", C=cost, max_iter=MOST_ITERATIONS).fit(K, y)
        alpha[svm.support_, machine] = svm.dual_coef_[0]
        intercept[machine] = svm.intercept_[0]
    return Machines(alpha, intercept - common @ alpha)


def train_on_rows(
    X: Array,
    y: Array,
    cost: float,
    loss: str,
    fit_intercept: bool,
    seed: int,
    *,
    together: bool = False,
) -> tuple[Array, Array]:
    """Return weights and intercepts for more samples than a Gram matrix could hold.

    This is LinearSVC, whose intercept is regularised with the weights; on centred rows, and in the
    unit of their length, that changes little. X is centred in place.
    """
    centre = np.zeros(X.shape[1], dtype=X.dtype)
    if fit_intercept:
        centre = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
        X -= centre
    length = positive(float(np.sqrt(np.einsum("ij,ij->", X, X, dtype=np.float64) / len(X))))
    svm = LinearSVC(
        loss=loss,
        multi_class="crammer_singer" if together else "ovr",
        C=cost,
        dual=True if loss == "hinge" else "auto",
        fit_intercept=fit_intercept,
        intercept_scaling=length,
        max_iter=10_000,
        random_state=seed,
    ).fit(X, y)
    intercept = np.zeros(len(svm.coef_)) + svm.intercept_
    return svm.coef_, intercept - svm.coef_ @ centre
