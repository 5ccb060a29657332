"""Measurers: features that are measured when somebody asks, so that the others cost nothing.

A measurer knows the names of all features and measures those it is asked for, each once. It
counts them, keeps their columns, and keeps the time it took. A feature that cannot be measured is
named in ``failed`` with the reason, and the rest goes on.

Here are features measured by a callable, by a generator, and those that stand in a table already;
`metafs_metafeatures.mf_pfs.lazy_columns` has those in a parquet file or a DuckDB table.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
from scipy.sparse import issparse

from metafs.data.checks import check_name_count, check_names, counted
from metafs.data.columns import frame_columns, frame_names
from metafs.data.matrix import matrix_of_array, matrix_of_columns
from metafs.data.parameters import check_at_least, column_numbers
from metafs.data.typing import Array, Matrix
from metafs.errors import ProblemError, UsageError
from metafs.plugin.generators import measure_all, prepared
from metafs.plugin.protocols import Generator

_IN_THE_TABLE = np.empty(0)  # stands for a column that need not be kept


class Measurer(ABC):
    """Base of measurers; a subclass supplies ``_measure_many(features)``.

    It is asked for one feature at a time, unless ``_at_once`` says that many are cheaper.

    Attributes
    ----------
    feature_names : tuple of str
        The names of all features, measured or not.
    n_samples : int or None
        Values of each feature; None until it is given or the first feature is measured.
    failed : dict of str to str
        For each feature that could not be measured, why.
    seconds : float
        Time spent measuring.
    """

    def __init__(self, feature_names: Iterable[Any]) -> None:
        self.feature_names = tuple(map(str, feature_names))
        where = type(self).__name__
        check_names(self.feature_names, where)
        if not self.feature_names:
            raise ProblemError(f"{where}: there are no features to measure; give at least one.")
        self.n_samples: int | None = None
        self.failed: dict[str, str] = {}
        self.seconds = 0.0
        self._columns: dict[int, Array] = {}
        self._failed: set[int] = set()

    _at_once: ClassVar[bool] = True

    @abstractmethod
    def _measure_many(self, features: list[int]) -> Iterable[Any]:
        """Return the column of each feature; where one fails, any error may be raised."""

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return len(self.feature_names)

    @property
    def measured(self) -> Array:
        """(n_features,): whether each feature has been measured, or has failed."""
        known = np.zeros(self.n_features, dtype=bool)
        known[[*self._columns, *self._failed]] = True
        return known

    @property
    def n_measured(self) -> int:
        """How many features have been measured, or have failed."""
        return len(self._columns) + len(self.failed)

    def measure(self, features: Any) -> tuple[Array, Matrix]:
        """Measure what has not been, and return the features without those that fail.

        Parameters
        ----------
        features : array-like of int
            The features wanted, by number.

        Returns
        -------
        features : ndarray
            Those of the features that can be measured, in the order asked for.
        columns : ndarray or csr_array of shape (n_samples, n_features)
            Their values.
        """
        wanted = [int(j) for j in np.asarray(features, dtype=np.int64)]
        column_numbers("features", wanted, self.n_features)
        known = self._columns.keys() | self._failed
        new = [j for j in dict.fromkeys(wanted) if j not in known]
        if new:
            began = perf_counter()
            for together in [new] if self._at_once else [[j] for j in new]:
                self._measure_new(together)
            self.seconds += perf_counter() - began
        kept = [j for j in wanted if j in self._columns]
        return np.array(kept, dtype=np.int64), self._table(kept)

    def _table(self, features: list[int]) -> Matrix:
        if not features:
            return np.empty((0, 0))
        return np.column_stack([self._columns[j] for j in features])

    def _measure_new(self, features: list[int]) -> None:
        try:
            for j, values in zip(features, self._measure_many(features), strict=True):
                self._columns[j] = self._checked(values)
        except Exception as error:  # a measurer is user code and may raise anything
            if len(features) == 1:
                self.failed[self.feature_names[features[0]]] = str(error) or type(error).__name__
                self._failed.add(features[0])
                return
            for j in features:  # so that the one that fails is found
                if j not in self._columns:
                    self._measure_new([j])

    def _checked(self, values: Any) -> Array:
        """Return a column as float64, or say why it is none."""
        column = np.asarray(values, dtype=np.float64)
        if column.ndim != 1:
            raise ProblemError(f"its values have shape {column.shape} instead of one a sample")
        if self.n_samples is not None and len(column) != self.n_samples:
            raise ProblemError(
                f"it has {counted(len(column), 'value')} for {self.n_samples} samples"
            )
        if not np.isfinite(column).all():
            raise ProblemError("it has missing or infinite values")
        self.n_samples = len(column)
        return column


class CallableMeasurer(Measurer):
    """Features measured by a function of their number.

    Parameters
    ----------
    measure : callable
        ``measure(j)`` returns the values of feature j on all samples.
    n_features : int, default=None
        How many features there are; not needed with names.
    feature_names : sequence of str, default=None
        Their names; x0, x1, ... where there are none.

    Examples
    --------
    >>> measurer = CallableMeasurer(lambda j: [j, 1 / (3 - j)], n_features=5)
    >>> features, columns = measurer.measure([1, 3])
    >>> features, columns.tolist(), measurer.n_measured, measurer.failed
    (array([1]), [[1.0], [0.5]], 2, {'x3': 'division by zero'})
    """

    _at_once = False

    def __init__(
        self,
        measure: Callable[[int], Any],
        n_features: int | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        if not callable(measure):
            raise UsageError(f"measure is {measure!r}; give a function from a number to a column.")
        if feature_names is None:
            if n_features is None:
                raise UsageError("give n_features or feature_names: how many features there are.")
            check_at_least("n_features", n_features)
            feature_names = [f"x{j}" for j in range(n_features)]
        elif n_features is not None:
            check_name_count(feature_names, n_features, "CallableMeasurer")
        super().__init__(feature_names)
        self._function = measure

    def _measure_many(self, features: list[int]) -> Iterable[Any]:
        return [self._function(j) for j in features]


class GeneratorMeasurer(Measurer):
    """Drawn features of a generator, measured on instances.

    The instances are prepared once, which counts as measuring.

    Parameters
    ----------
    generator : Generator
        Knows the value of a feature on each instance.
    features : sequence
        The features drawn, for example by ``generator.sample``.
    images : array-like
        The instances, as they are or as the generator has prepared them.
    feature_names : sequence of str, default=None
        Their names; x0, x1, ... where there are none.
    """

    def __init__(
        self,
        generator: Generator,
        features: Sequence[Any],
        images: Any,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        names = [f"x{j}" for j in range(len(features))] if feature_names is None else feature_names
        check_name_count(names, len(features), "GeneratorMeasurer")
        super().__init__(names)
        self.generator, self.features = generator, tuple(features)
        began = perf_counter()
        is_raw = isinstance(images, np.ndarray | list | tuple)
        self._instances = prepared(generator, images) if is_raw else images
        self.seconds = perf_counter() - began

    def _measure_many(self, features: list[int]) -> Iterable[Any]:
        drawn = [self.features[j] for j in features]
        return list(measure_all(self.generator, drawn, self._instances).T)


class TableMeasurer(Measurer):
    """Features that stand in a table already, dense or sparse; only looking at one counts.

    Parameters
    ----------
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        The table.
    feature_names : sequence of str, default=None
        Their names; those of the frame, or x0, x1, ...

    Examples
    --------
    >>> measurer = TableMeasurer([[1, 2, 3], [4, 5, 6]])
    >>> measurer.measure([2, 0])[1].tolist(), measurer.n_measured
    ([[3.0, 1.0], [6.0, 4.0]], 2)
    """

    def __init__(self, X: Any, feature_names: Sequence[str] | None = None) -> None:
        if nw.dependencies.is_into_dataframe(X):
            names = tuple(frame_names(X))
            X, _ = matrix_of_columns(frame_columns(X), len(names), len(X), "TableMeasurer")
        else:
            X, _ = matrix_of_array(X, feature_names, "TableMeasurer")
            names = tuple(f"x{j}" for j in range(X.shape[1]))
        if feature_names is not None:
            names = tuple(feature_names)
        check_name_count(names, X.shape[1], "TableMeasurer")
        super().__init__(names)
        self._X = X.tocsc() if issparse(X) else X
        self.n_samples = X.shape[0]

    def _measure_many(self, features: list[int]) -> Iterable[Any]:
        columns = self._X[:, features]
        if not np.isfinite(columns.data if issparse(columns) else columns).all():
            raise ProblemError("it has missing or infinite values")
        return [_IN_THE_TABLE] * len(features)

    def _table(self, features: list[int]) -> Matrix:
        columns = self._X[:, features]
        return columns.tocsr() if issparse(columns) else columns

    def _checked(self, values: Any) -> Array:
        return np.asarray(values)
