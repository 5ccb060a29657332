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

    Parameters and attributes are those of `SVMRFE`; C is the cost of a sample of weight 1, which is
    the mean.

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
