r"""jsd-features: how near two problems lie, feature by feature.

A problem is the distribution over (feature, value bin, class)

.. math:: P(f, v, c) = n_{fvc} \Big/ \sum n_{fvc}, \qquad v \neq 0

and two problems are as far apart as the square root of the Jensen-Shannon divergence of
their distributions. As in the paper's sets of words, a zero is an absence and has no mass:
otherwise the absent words of a text, which are nearly all of them, would fill the signature.
Unlike whole rows, whose patterns two data sets hardly ever share, single features are shared
by all problems of a space, so distances below 1 are the rule.
"""

from dataclasses import dataclass

import numpy as np

from metafs.data.problem import Problem
from metafs.data.typing import Array
from metafs.plugin.signature import Signature, hash_keys, signature_of
from metafs.stats.discretise import Codes, discretise
from metafs_distances.divergence import RootJensenShannon, labelled_target


def bin_class_counts(codes: Codes, y: Array, n_classes: int) -> tuple[Array, Array, Array, Array]:
    """Return feature, code, class and count of every combination that occurs.

    The most frequent code of a column is not stored; its counts are what the others leave.
    """
    matrix = codes.matrix
    n_features = matrix.shape[1]
    columns = np.repeat(np.arange(n_features), np.diff(matrix.indptr))
    n_codes = 1 + int(matrix.data.max(initial=0))
    flat = (columns * n_codes + matrix.data) * n_classes + y[matrix.indices]
    cells, counts = np.unique(flat, return_counts=True)
    features, rest = np.divmod(cells, n_codes * n_classes)
    code, classes = np.divmod(rest, n_classes)

    stored = np.zeros((n_features, n_classes), dtype=np.int64)
    np.add.at(stored, (features, classes), counts)
    implicit = np.bincount(y, minlength=n_classes) - stored
    implicit_features, implicit_classes = np.nonzero(implicit)
    return (
        np.append(features, implicit_features),
        np.append(code, np.zeros_like(implicit_features)),
        np.append(classes, implicit_classes),
        np.append(counts, implicit[implicit_features, implicit_classes]),
    )


@dataclass(frozen=True)
class JsdFeatures(RootJensenShannon):
    """Root Jensen-Shannon divergence over (feature, value bin, class).

    Parameters
    ----------
    n_bins : int
        Bins of equal frequency for a column, or a target, with many values.

    Examples
    --------
    >>> one = Problem.of([[1, 0], [0, 1]], ["a", "b"], feature_names=["u", "v"])
    >>> two = Problem.of([[1, 0], [0, 1]], ["a", "c"], feature_names=["u", "v"])
    >>> jsd = JsdFeatures()
    >>> round(jsd.distance(jsd.signature(one), jsd.signature(two)), 3)
    0.707
    """

    n_bins: int = 4

    def signature(self, problem: Problem) -> Signature:
        """Describe a problem by the values that its features take in each class."""
        y, labels = labelled_target(problem, self.n_bins)
        codes = discretise(problem.X, n_bins=self.n_bins, categories=problem.categories)
        features, code, classes, counts = bin_class_counts(codes, y, len(labels))
        texts = [
            (problem.feature_names[f], codes.labels[f][v], labels[c])
            for f, v, c in zip(features.tolist(), code.tolist(), classes.tolist(), strict=True)
        ]
        present = np.array([value != "0" for _, value, _ in texts], dtype=bool)
        if not present.any():  # a table of zeros is told by its classes alone
            return signature_of(hash_keys([("", "", label) for label in labels]), np.bincount(y))
        kept = [text for text, keep in zip(texts, present, strict=True) if keep]
        return signature_of(hash_keys(kept), counts[present])
