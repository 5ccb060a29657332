r"""jsd-features: how near two problems lie, feature by feature.

A problem is the distribution over (feature, value bin)

.. math:: P(f, v) \propto \frac{1}{n_{fv}} \sum_c \Big(n_{fvc} - \frac{n_{fv} n_c}{n}\Big)^2,
          \qquad v \neq 0

with :math:`n_{fvc}` the rows of class c that have the value, and two problems are as far apart as
the square root of the Jensen-Shannon divergence of their distributions. The mass of a value is its
contribution to a chi-square statistic, whatever the names of classes and the class it is associated
with: problems are near if the same values are relevant in both. By occurrence alone all texts would
be near each other; by names of classes a renamed class would be unrelated, and any two tables with
classes 0 and 1 would be related.

As in the paper's sets of words, a zero is an absence and has no mass: otherwise the absent words of
a text, which are nearly all of them, would fill the signature. Unlike whole rows, whose patterns
two data sets hardly ever share, single features are shared by all problems of a space, so distances
below 1 are the rule.

`JsdLabelled` is what this was before: the distribution over (feature, value bin, class).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from metafs.data.problem import Problem
from metafs.data.typing import Array
from metafs.plugin.signature import Signature, hash_keys, signature_of
from metafs.stats.discretise import Codes, discretise
from metafs.stats.linear.rows import stacked
from metafs_distances.divergence import RootJensenShannon, labelled_target

_ROUNDING = 1e-9  # a statistic below this, relative to the count, is rounding


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


def association(counts: Array, n_c: Array) -> Array:
    """Return how far counts of values by class are from what chance lets expect.

    Examples
    --------
    >>> association(np.array([[4, 0], [2, 2]]), np.array([5, 5]))
    array([2., 0.])
    """
    n_v = counts.sum(axis=1)
    apart: Array = counts - np.outer(n_v, n_c / n_c.sum())
    found = (apart**2).sum(axis=1) / n_v
    return np.where(found > _ROUNDING * n_v, found, 0.0)


def _codes(problem: Problem, n_bins: int) -> Codes:
    """Return the bins of the labelled rows; rows without target help to tell the quantiles."""
    rows = stacked(problem.X, problem.X_unlabelled)
    codes = discretise(rows, n_bins=n_bins, categories=problem.categories)
    if problem.X_unlabelled is None:
        return codes
    return replace(codes, matrix=csc_array(codes.matrix[: problem.n_samples]))


@dataclass(frozen=True)
class JsdFeatures(RootJensenShannon):
    """Root Jensen-Shannon divergence over (feature, value bin), by association with the target.

    Parameters
    ----------
    n_bins : int
        Bins of equal frequency for a column, or a target, with many values.

    Examples
    --------
    >>> one = Problem.of([[1, 0], [0, 1]], ["a", "b"], feature_names=["u", "v"])
    >>> two = Problem.of([[1, 0], [0, 1]], ["yes", "no"], feature_names=["u", "v"])
    >>> jsd = JsdFeatures()
    >>> jsd.distance(jsd.signature(one), jsd.signature(two))
    0.0
    """

    n_bins: int = 4

    @property
    def earlier(self) -> Mapping[str, Any]:
        """Distances under which older memories keep problems that this one described."""
        return {"jsd-labelled": JsdLabelled(self.n_bins)}

    def signature(self, problem: Problem) -> Signature:
        """Describe a problem by the values of its features that are associated with classes."""
        y, labels = labelled_target(problem, self.n_bins)
        codes = _codes(problem, self.n_bins)
        features, code, classes, counts = bin_class_counts(codes, y, len(labels))
        width = 1 + int(code.max(initial=0))
        values, row = np.unique(features * width + code, return_inverse=True)
        by_class = np.zeros((len(values), len(labels)), dtype=np.int64)
        by_class[row, classes] = counts
        texts = [
            (problem.feature_names[f], codes.labels[f][v])
            for f, v in zip((values // width).tolist(), (values % width).tolist(), strict=True)
        ]
        present = np.array([value != "0" for _, value in texts], dtype=bool)
        if not present.any():  # a table of zeros is like any other
            return signature_of(hash_keys([("", "")]), np.ones(1))
        mass = association(by_class[present], np.bincount(y, minlength=len(labels)))
        if not mass.any():  # no value is associated with a class: use occurrences
            mass = by_class[present].sum(axis=1).astype(np.float64)
        kept = [text for text, keep in zip(texts, present, strict=True) if keep]
        return signature_of(hash_keys(kept), mass)


@dataclass(frozen=True)
class JsdLabelled(RootJensenShannon):
    """Root Jensen-Shannon divergence over (feature, value bin, class), classes by name.

    Parameters
    ----------
    n_bins : int
        Bins of equal frequency for a column, or a target, with many values.

    Examples
    --------
    >>> one = Problem.of([[1, 0], [0, 1]], ["a", "b"], feature_names=["u", "v"])
    >>> two = Problem.of([[1, 0], [0, 1]], ["a", "c"], feature_names=["u", "v"])
    >>> jsd = JsdLabelled()
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
        if not present.any():  # a table of zeros has only its classes
            return signature_of(hash_keys([("", "", label) for label in labels]), np.bincount(y))
        kept = [text for text, keep in zip(texts, present, strict=True) if keep]
        return signature_of(hash_keys(kept), counts[present])
