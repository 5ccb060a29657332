"""A problem: a table of features and a target, checked once and then never changed."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

from metafs.data import checks
from metafs.data.fingerprint import fingerprint
from metafs.data.frozen import unwritable
from metafs.data.matrix import labelled_and_not, raw_target
from metafs.data.notes import COMMAS, WEIGHTLESS, Notes
from metafs.data.row_values import OF_ROWS, Named, RowValues, named_values
from metafs.data.table_input import taken_apart
from metafs.data.target import encode_target
from metafs.data.typing import Array, Matrix
from metafs.data.usable import LeaveOut, usable_columns, without_infinities
from metafs.errors import ProblemError

BARE = "bare:"
"""How the spaces of problems begin whose columns have no names of their own."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A matrix, a target and the names that let memory compare it with other problems.

    `Problem.of` builds one from arrays or frames and checks it; the plain constructor trusts
    its caller.

    Parameters
    ----------
    X : float64 array or csr_array of shape (n_samples, n_features)
        NaN stands for a missing value.
    y : array of shape (n_samples,)
        Codes 0..C-1 of the classes (int64), or numbers (float64).
    feature_names : tuple of str
        One name a column, all different.
    classes : tuple of str or None
        The label of each code of `y`, sorted; None for a numeric target.
    space : str or None
        The pool of features within which equal names mean the same feature. None: the columns
        have no names of their own, so the problem takes no part in memory.
    categories : mapping of int to tuple of str
        The labels of the codes 0..K-1 of each categorical column; all others are numeric.
    meta_features : array of shape (n_features, k) or None
        Properties of the features themselves.
    X_unlabelled : float64 array or csr_array of shape (n_unlabelled, n_features), or None
        Rows without a target: they show the distribution of features, and are never scored.
    groups : int64 array of shape (n_samples,) or None
        Rows of one group, of a patient for instance, are never divided between folds.
    time : float64 array of shape (n_samples,) or None
        When each row was seen: a model is scored on later rows than those it learnt from.
    sample_weight : float64 array of shape (n_samples,) or None
        How much each row counts, in learning and in scores.
    given_names : tuple of str
        All columns in the order in which they were given, also those that were left out.
    decimal_commas : tuple of str
        Columns whose numbers are written with decimal commas.
    notes : tuple of str
        What was assumed or left out when the data was read.

    Examples
    --------
    >>> problem = Problem.of([[0, 1], [1, 1], [1, 0]], ["no", "yes", "yes"], name="tiny")
    >>> problem.classes, problem.y, problem.feature_names
    (('no', 'yes'), array([0, 1, 1]), ('x0', 'x1'))
    """

    X: Matrix
    y: Array
    feature_names: tuple[str, ...]
    classes: tuple[str, ...] | None = None
    name: str = "problem"
    space: str | None = "default"
    source: str = ""
    target: str = "y"
    categories: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    meta_features: Array | None = None
    meta_feature_names: tuple[str, ...] = ()
    X_unlabelled: Matrix | None = None
    groups: Array | None = None
    time: Array | None = None
    sample_weight: Array | None = None
    given_names: tuple[str, ...] = ()
    decimal_commas: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Make the arrays read-only, so that no plugin can change what is recorded."""
        for name in ("X", "y", "meta_features", "X_unlabelled", *OF_ROWS):
            object.__setattr__(self, name, unwritable(getattr(self, name)))

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns, the target not among them."""
        return int(self.X.shape[1])

    @property
    def is_classification(self) -> bool:
        """Whether the target is a class rather than a number."""
        return self.classes is not None

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the content: equal whatever the storage, file format or order of columns."""
        return fingerprint(
            self.X,
            self.y,
            feature_names=self.feature_names,
            classes=self.classes,
            categories=self.categories,
            space=self.space,
        )

    @cached_property
    def own_space(self) -> str:
        """The space in memory; a problem without one has a space for its content alone."""
        return self.space or f"{BARE}{self.fingerprint[:12]}"

    def columns(self, columns: Iterable[int | str]) -> Self:
        """Return the problem restricted to these columns, given by index or name, in this order."""
        position = {name: j for j, name in enumerate(self.feature_names)}
        try:
            indices = [position[c] if isinstance(c, str) else int(c) for c in columns]
        except KeyError as unknown:
            raise ProblemError(
                checks.unknown_column(self.source or self.name, unknown.args[0], self.feature_names)
            ) from None
        meta_features = self.meta_features
        return replace(
            self,
            X=self.X[:, indices],
            feature_names=tuple(self.feature_names[j] for j in indices),
            categories={
                new: self.categories[old]
                for new, old in enumerate(indices)
                if old in self.categories
            },
            meta_features=None if meta_features is None else meta_features[indices],
            X_unlabelled=None if self.X_unlabelled is None else self.X_unlabelled[:, indices],
        )

    def by_name(self) -> Self:
        """Return the problem with its columns in the order of their names.

        The order of columns is no part of a problem, and so it must not settle a tie. Columns
        that have no names of their own stay as they are.

        Examples
        --------
        >>> Problem.of([[0, 1], [1, 0]], [0, 1], feature_names=["b", "a"]).by_name().X.tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        names = self.feature_names
        order = sorted(range(self.n_features), key=names.__getitem__)
        if self.space is None or order == list(range(self.n_features)):
            return self
        return self.columns(order)

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        *,
        name: str = "problem",
        space: str | None = None,
        feature_names: Sequence[str] | None = None,
        target: str = "y",
        task: str = "auto",
        source: str = "",
        meta_features: Any = None,
        meta_feature_names: Sequence[str] = (),
        groups: Any = None,
        time: Any = None,
        sample_weight: Any = None,
        leave_out: LeaveOut = "empty",
    ) -> Self:
        """Build a problem from arrays, lists, a sparse matrix, or a pandas or polars frame.

        Rows whose target is missing are kept apart as `X_unlabelled`. Columns without any value are
        left out; with `leave_out` "constant" also those with one value in all rows, with "nothing"
        none. Infinite values are missing. Columns of a bare array are called x0, x1, ... and belong
        to no space unless `space` names one; named columns belong to "default".

        The target is y, of any array-like kind, or the name of a column of the frame X. With task
        "auto" it is taken for classes if it is text or boolean, if it has two distinct values, or
        if they are whole and few (`metafs.data.target` says how few); else for numbers. "classes"
        and "numbers" decide it.

        `groups`, `time` and `sample_weight` have one value a row, or are names of columns of the
        frame X, which are then no features. Rows of weight 0 are left out.

        Raises
        ------
        ProblemError
            The data cannot be a problem; the message says which column and what to do.
        """
        where = checks.well_formed(source or name)
        described = {"name": name, "source": source}
        notes = Notes()
        known = {"groups": groups, "time": time, "sample_weight": sample_weight}
        given = taken_apart(X, y, known, feature_names, where, notes)
        feature_names = given.names
        if feature_names is not None:
            space = "default" if space is None else space
            names = [str(feature) for feature in feature_names]
        else:
            names = [f"x{j}" for j in range(given.X.shape[1])]
        return cls.of_matrix(
            given.X,
            raw_target(given.y, where),
            names,
            categories=given.categories,
            space=space,
            target=given.target or target,
            task=task,
            meta_features=meta_features,
            meta_feature_names=tuple(meta_feature_names),
            of_rows=named_values(given.of_rows, where),
            notes=notes,
            leave_out=leave_out,
            **described,
        )

    @classmethod
    def of_matrix(
        cls,
        X: Matrix,
        y: Array,
        feature_names: Sequence[str],
        *,
        name: str,
        space: str | None,
        source: str,
        target: str,
        task: str = "auto",
        categories: Mapping[int, tuple[str, ...]] | None = None,
        meta_features: Any = None,
        meta_feature_names: tuple[str, ...] = (),
        of_rows: Named | None = None,
        notes: Notes | None = None,
        leave_out: LeaveOut = "empty",
        keep: Collection[str] = (),
    ) -> Self:
        """Check a converted matrix and a raw target, and build the problem from them.

        Columns in `keep` are not left out for being constant.
        """
        notes = notes or Notes()
        name, source, target = map(checks.well_formed, (name, source, target))
        feature_names = [checks.well_formed(feature) for feature in feature_names]
        where = source or name
        checks.check_shape(X, y, feature_names, where)
        checks.check_names(feature_names, where)
        categories = dict(categories or {})
        rows = RowValues(of_rows or {}, X.shape[0], where, notes)
        if (counted := rows.counted) is not None:
            X, _, categories = labelled_and_not(X, counted, categories)
            y = y[counted]
            rows.take(counted)
            notes.add(WEIGHTLESS, rows.names["sample_weight"])
        encoded = encode_target(y, name=target, where=where, task=task)
        notes.add_all(encoded.assumed, target)
        known_of_rows = rows.of(encoded.present)
        X_unlabelled = None
        if not encoded.present.all():
            X, X_unlabelled, categories = labelled_and_not(X, encoded.present, categories)
            X_unlabelled = without_infinities(X_unlabelled, feature_names, Notes())
        X = without_infinities(X, feature_names, notes)
        used = usable_columns(
            X,
            feature_names,
            leave_out=leave_out,
            keep=keep,
            notes=notes,
            where=where,
            X_unlabelled=X_unlabelled,
        )
        meta_features, meta_feature_names = checks.checked_meta_features(
            meta_features, meta_feature_names, len(feature_names), where
        )
        problem = cls(
            X=X,
            y=encoded.y,
            feature_names=tuple(feature_names),
            classes=encoded.classes,
            name=name,
            space=space,
            source=source,
            target=target,
            categories=categories,
            meta_features=meta_features,
            meta_feature_names=meta_feature_names,
            X_unlabelled=X_unlabelled,
            given_names=tuple(feature_names),
            decimal_commas=tuple(notes.columns.get(COMMAS, ())),
            **known_of_rows,
            notes=notes.texts(),
        )
        return problem if len(used) == len(feature_names) else problem.columns(used.tolist())
