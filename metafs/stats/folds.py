"""The one way to cut rows into folds for cross-validation, and why some rows cannot be cut.

Every class is among the training rows and among the test rows of every fold. A class with one row
cannot be, and a score without it would be wrong: scored by the other classes alone, a learner that
always predicts the largest class looks perfect. So there are no folds then, and `NoScore` says
why.

Rows of one group, of a patient for instance, are never divided: a model knows a patient it has
seen. Where rows have a time, each fold is tested on later rows than it learns from: of k + 1 parts
in the order of time, fold i learns from the first i and is tested on the next. Rows of the same
time stay together. With both, groups of the test rows are left out of the training rows.
"""

import warnings
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from metafs.data.problem import Problem
from metafs.data.target import holds_classes
from metafs.data.typing import Array
from metafs.errors import NoScore

Fold = tuple[Array, Array]
"""(training rows, test rows)."""


def folds(problem: Problem, n_folds: int, seed: int | None) -> list[Fold]:
    """Return the folds of a problem, or raise `NoScore` with the reason why there are none."""
    return folds_of(
        problem.y,
        n_folds,
        seed,
        classes=problem.classes,
        groups=problem.groups,
        time=problem.time,
    )


def folds_of(
    y: Array,
    n_folds: int,
    seed: int | None,
    *,
    classes: Sequence[str] | None = None,
    groups: Array | None = None,
    time: Array | None = None,
) -> list[Fold]:
    """Return the folds of a settled target.

    There are as many folds as asked for, or fewer, so that each can hold every class, or two
    numbers to compare. `classes` are the labels of the codes in y; `groups` are codes, and `time`
    numbers, one a row.

    Examples
    --------
    >>> [(len(train), len(test)) for train, test in folds_of(np.array([0, 1, 0, 1]), 5, seed=0)]
    [(2, 2), (2, 2)]
    >>> folds_of(np.array([0, 0, 0, 1]), 5, seed=0)
    Traceback (most recent call last):
    metafs.errors.NoScore: class '1' has 1 row, but every class needs at least 2: ...
    """
    if time is not None:
        return _with_every_class(
            partial(_folds_in_time, y, time, groups), min(n_folds, len(y) // 2), y, classes
        )
    if groups is not None:
        most = min(n_folds, _most_folds(y, groups, classes))
        return _with_every_class(partial(_folds_of_groups, y, groups, seed), most, y, classes)
    n_folds = min(n_folds, len(y) // 2)
    if holds_classes(y):
        values, counts = np.unique(y, return_counts=True)
        if len(values) < 2:
            raise NoScore("the target has only one class: give rows of another.")
        rarest = int(counts.argmin())
        if counts[rarest] < 2:
            raise NoScore(
                f"class {_label(values[rarest], classes)!r} has 1 row, but every class needs at "
                "least 2: one to learn from and one to test on. Give more rows of it, or leave it "
                "out."
            )
        n_folds = min(n_folds, int(counts[rarest]))
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    elif n_folds < 2:
        raise NoScore(f"{len(y)} rows are too few to learn from some and test on others: give 4.")
    else:
        splitter = KFold(n_folds, shuffle=True, random_state=seed)
    found = list(splitter.split(np.zeros(len(y)), y))
    require_every_class(y, found, classes=classes)
    return found


def _with_every_class(
    cut: Callable[[int], list[Fold]], n_folds: int, y: Array, classes: Sequence[str] | None
) -> list[Fold]:
    """Return the most folds, at most so many, each of which holds every class."""
    for fewer in range(n_folds, 2, -1):
        try:
            found = cut(fewer)
            require_every_class(y, found, classes=classes)
        except NoScore:
            continue
        return found
    found = cut(2)
    require_every_class(y, found, classes=classes)
    return found


def _most_folds(y: Array, groups: Array, classes: Sequence[str] | None) -> int:
    """Return into how many folds groups can be divided at most."""
    n_groups = len(np.unique(groups))
    if not holds_classes(y):
        if n_groups < 2:
            raise NoScore("all rows are of one group: give rows of another to test on.")
        return n_groups
    values = np.unique(y)
    if len(values) < 2:
        raise NoScore("the target has only one class: give rows of another.")
    held = [len(np.unique(groups[y == value])) for value in values]
    rarest = int(np.argmin(held))
    if held[rarest] < 2:
        raise NoScore(
            f"class {_label(values[rarest], classes)!r} is in 1 group, but every class needs at "
            "least 2: one to learn from and one to test on. Give another group of it, or leave it "
            "out."
        )
    return held[rarest]


def _folds_of_groups(y: Array, groups: Array, seed: int | None, n_folds: int) -> list[Fold]:
    """Return folds that divide no group, of about equal size and with about the same classes."""
    if holds_classes(y):
        splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
        with warnings.catch_warnings():  # of a class in fewer rows than folds, which is refused
            warnings.simplefilter("ignore", UserWarning)
            return list(splitter.split(y, y, groups))
    # The largest group goes to the smallest fold; the seed decides between groups of equal size.
    _, codes = np.unique(groups, return_inverse=True)
    shuffled = np.random.default_rng(seed).permutation(int(codes.max()) + 1)[codes]
    return list(GroupKFold(n_folds).split(y, y, shuffled))


def _folds_in_time(y: Array, time: Array, groups: Array | None, n_folds: int) -> list[Fold]:
    """Return folds each of which learns from all rows before those it is tested on."""
    if len(y) < 6:
        raise NoScore(
            f"{len(y)} rows are too few to learn from some and test on later ones: give 6."
        )
    moments, place, counts = np.unique(time, return_inverse=True, return_counts=True)
    if len(moments) < 3:
        raise NoScore(
            f"the rows are of {len(moments)} different time{'s' if len(moments) > 1 else ''}, but "
            "two folds need 3, of which two are tested on: give earlier or later rows."
        )
    middle = np.cumsum(counts) - counts / 2  # rows before each moment, and half of its own
    n_parts = min(n_folds, len(moments) - 1) + 1
    part = np.minimum(middle * n_parts // len(y), n_parts - 1)
    part = np.unique(part, return_inverse=True)[1][place]  # none is empty
    found = []
    for each in range(1, int(part.max()) + 1):
        train, test = np.flatnonzero(part < each), np.flatnonzero(part == each)
        if groups is not None:
            train = train[~np.isin(groups[train], groups[test])]
        if len(train) < 2 or len(test) < 2:
            raise NoScore(
                "a fold would learn from or be tested on fewer than 2 rows: give more rows or ask "
                "for fewer folds."
            )
        found.append((train, test))
    if len(found) < 2:
        raise NoScore("most rows are of the same time, so that there is one fold: give other rows.")
    return found


def n_independent(problem: Problem, rows: Array | slice = slice(None)) -> float:
    r"""Return how many independent rows of equal weight some rows are worth.

    Rows of one group count once. Of the weights w of rows, or of groups, they are worth
    :math:`(\sum w)^2 / \sum w^2` (L. Kish, "Survey Sampling", Wiley, 1965).

    Examples
    --------
    >>> one = Problem.of(np.eye(4), [0, 0, 1, 1], groups=["a", "a", "b", "b"])
    >>> n_independent(one), n_independent(one, np.array([0, 2, 3]))
    (2.0, 2.0)
    """
    n_rows = len(problem.y[rows])
    weight = np.ones(n_rows) if problem.sample_weight is None else problem.sample_weight[rows]
    if problem.groups is None:
        return float(weight.sum() ** 2 / (weight**2).sum()) if n_rows else 0.0
    _, codes = np.unique(problem.groups[rows], return_inverse=True)
    if problem.sample_weight is None:
        return float(codes.max() + 1) if n_rows else 0.0
    of_group = np.bincount(codes, weight) / np.bincount(codes)
    return float(of_group.sum() ** 2 / (of_group**2).sum())


def require_every_class(
    y: Array, found: Sequence[Fold], *, classes: Sequence[str] | None = None
) -> None:
    """Refuse folds, however they were cut, in which a class is missing; numbers have none.

    Examples
    --------
    >>> y = np.array([0, 0, 1, 1])
    >>> require_every_class(y, [(np.array([0, 1]), np.array([2, 3]))])
    Traceback (most recent call last):
    metafs.errors.NoScore: class '1' is missing from the training rows of a fold: ...
    """
    if not holds_classes(y):
        return
    values = np.unique(y)
    for train, test in found:
        for rows, role in ((train, "training"), (test, "test")):
            missing = np.setdiff1d(values, y[rows])
            if len(missing):
                raise NoScore(
                    f"class {_label(missing[0], classes)!r} is missing from the {role} rows of a "
                    "fold: give more rows of it, or leave it out."
                )


def _label(code: Array, classes: Sequence[str] | None) -> str:
    return str(code) if classes is None else classes[int(code)]
