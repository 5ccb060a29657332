"""The one way to cut rows into folds for cross-validation, and why some rows cannot be cut.

Every class is among the training rows and among the test rows of every fold. A class with one row
cannot be, and a score without it would be wrong: scored by the other classes alone, a learner that
always predicts the largest class looks perfect. So there are no folds then, and `NoScore` says
why.
"""

from collections.abc import Sequence

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from metafs.data.problem import Problem
from metafs.data.target import holds_classes
from metafs.data.typing import Array
from metafs.errors import NoScore

Fold = tuple[Array, Array]
"""(training rows, test rows)."""


def folds(problem: Problem, n_folds: int, seed: int | None) -> list[Fold]:
    """Return the folds of a problem, or raise `NoScore` with the reason why there are none."""
    return folds_of(problem.y, n_folds, seed, classes=problem.classes)


def folds_of(
    y: Array, n_folds: int, seed: int | None, *, classes: Sequence[str] | None = None
) -> list[Fold]:
    """Return the folds of a settled target.

    There are as many folds as asked for, or fewer, so that each can hold every class, or two
    numbers to compare. `classes` are the labels of the codes in y.

    Examples
    --------
    >>> [(len(train), len(test)) for train, test in folds_of(np.array([0, 1, 0, 1]), 5, seed=0)]
    [(2, 2), (2, 2)]
    >>> folds_of(np.array([0, 0, 0, 1]), 5, seed=0)
    Traceback (most recent call last):
    metafs.errors.NoScore: class '1' has 1 row, but every class needs at least 2: ...
    """
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
