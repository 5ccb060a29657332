r"""jsd-rows and jsd-all-rows: the published distance, over whole rows.

A data set is the distribution of its distinct rows, each taken as the set of the features
that are present in it, with their value bins, together with the target:

.. math:: P_D(R) = |\{i : R_i = R\}| / N, \qquad d(D, D') = \sqrt{JSD(P_D, P_{D'})}

B. Goertzel, N. Geisweiller and C. Poulin, "Meta-learning for feature selection", 2021,
section 3.3.3. With many features hardly any row occurs in two data sets and the distance is
nearly always 1; the authors propose to look at generally important features only, which
`features` does.

`jsd-all-rows` is that distance as published: every distinct row counts, up to `ALL_ROWS` of them,
and the target is a number, 0 or 1 for two classes, so that what the classes are called does not
matter. `jsd-rows` keeps signatures short: of more distinct rows than `MAX_KEYS` only the most
frequent count, and classes go by name.
"""

from dataclasses import dataclass

import numpy as np

from metafs.data.problem import Problem
from metafs.data.typing import Array
from metafs.plugin.signature import MAX_KEYS, Signature, hash_keys, signature_of
from metafs.stats.discretise import Codes, discretise
from metafs_distances.divergence import RootJensenShannon, labelled_target

ALL_ROWS = 2**16
"""Distinct rows that a signature of all rows holds at most, in a megabyte."""


def row_keys(codes: Codes, feature_names: tuple[str, ...]) -> Array:
    """Return a 64-bit key for each row: the sum, modulo 2^64, of the keys of what is present.

    A sum does not care in which order columns come, and a sparse row costs what it holds.
    """
    matrix = codes.matrix
    n_samples, n_features = matrix.shape
    offsets = np.cumsum([0, *(len(labels) for labels in codes.labels)])
    item_keys = hash_keys(
        (feature_names[f], label) for f, labels in enumerate(codes.labels) for label in labels
    )
    absent = np.array([label == "0" for labels in codes.labels for label in labels], dtype=bool)
    item_keys[absent] = 0
    unstored = item_keys[offsets[:-1]]
    columns = np.repeat(np.arange(n_features), np.diff(matrix.indptr))
    keys = np.full(n_samples, unstored.sum(dtype=np.uint64), dtype=np.uint64)
    np.add.at(keys, matrix.indices, item_keys[offsets[columns] + matrix.data] - unstored[columns])
    return keys


@dataclass(frozen=True)
class JsdRows(RootJensenShannon):
    """Root Jensen-Shannon divergence over whole rows with their target.

    Parameters
    ----------
    n_bins : int
        Bins of equal frequency for a column, or a target, with many values.
    features : tuple of str, optional
        Look at these features only. Signatures are comparable when this is the same.
    max_keys : int
        Distinct rows that count one by one, the most frequent first.
    named_classes : bool
        Whether classes go by their names; otherwise the first in the order of names is 0, the
        second 1, and so on.

    Examples
    --------
    The paper's worked example:

    >>> words = ["word1", "word2"]
    >>> D2 = Problem.of([[1, 1], [1, 1], [1, 0], [0, 0]], [1, 1, 1, 0], feature_names=words)
    >>> D3 = Problem.of([[1, 1], [0, 1], [1, 0], [0, 0]], [1, 1, 1, 0], feature_names=words)
    >>> jsd = JsdRows()
    >>> round(jsd.distance(jsd.signature(D2), jsd.signature(D3)), 4)
    0.3945
    """

    n_bins: int = 4
    features: tuple[str, ...] | None = None
    max_keys: int = MAX_KEYS
    named_classes: bool = True

    def signature(self, problem: Problem) -> Signature:
        """Describe a problem by its distinct rows."""
        if self.features is not None:
            seen = set(problem.feature_names)
            problem = problem.columns([name for name in self.features if name in seen])
        y, labels = labelled_target(problem, self.n_bins)
        if not self.named_classes:
            labels = tuple(map(str, range(len(labels))))
        codes = discretise(problem.X, n_bins=self.n_bins, categories=problem.categories)
        target_keys = hash_keys(("target", "", label) for label in labels)
        keys = row_keys(codes, problem.feature_names) + target_keys[y]
        return signature_of(keys, np.ones(len(keys)), self.max_keys)
