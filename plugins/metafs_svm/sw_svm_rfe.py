r"""SW-SVM-RFE: SVM-RFE that listens more to some samples than to others.

Each sample's loss costs :math:`C_i = C v_i`, with weights v of mean 1 that are computed once, from
all the features, by `metafs.stats.sample_weights`. As in the paper, a sample whose margins are like
those of many others counts more; the Inf-FS paper describes it as weight for samples near the
separating plane.

L. Yu, Y. Han, M. E. Berens, "Stable gene selection from microarray data via sample weighting",
IEEE/ACM Transactions on Computational Biology and Bioinformatics 9(1), 2012.
"""

from metafs.data.matrix import dense
from metafs.data.typing import Array, Matrix
from metafs.stats.sample_weights import sample_weights
from metafs_svm.svm_rfe import SVMRFE, Elimination, eliminate


class SWSVMRFE(SVMRFE):
    """Keep the features that a linear SVM with weighted samples gives up last.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        How many features to keep, or which share of them; None keeps half. All features are
        ranked, down to the last, whatever the number.
    C : float, default=1.0
        The cost of the squared hinge loss of a sample of weight 1, which is the mean.
    step : int or float, default=1
        How many features to drop at a time, or, between 0 and 1, which share of those left.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        How many features were dropped before this one.
    ranking_ : ndarray of shape (n_features,)
        1 for the last one left.
    n_evaluations_ : int
        Support vector machines trained.
    stopped_ : str
        Why the elimination ended.

    Notes
    -----
    Edge cases and priors are as in `SVMRFE`. The weights of the samples need all values of the
    table at once, so that a sparse one is made dense for them.

    Examples
    --------
    >>> X = [[0, 0, 3], [1, 0, 2], [0, 2, 3], [1, 2, 2]]
    >>> SWSVMRFE(1).fit(X, ["a", "a", "b", "b"]).get_support()
    array([False,  True, False])
    """

    def _eliminate(self, X: Matrix, y: Array, expected: Array | None) -> list[Elimination]:
        costs = self.C * sample_weights(dense(X, "sw-svm-rfe"), y)
        return [eliminate(X, y, costs, step=self.step, expected=expected)]
