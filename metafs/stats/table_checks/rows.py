"""Rows and targets: more classes than folds can hold, and rows that another source holds too."""

from collections.abc import Iterable, Iterator

from metafs.data.checks import counted, listing
from metafs.data.problem import Problem
from metafs.stats.table_checks.thresholds import CLASSES_PER_ROW, LEAST_ROWS


def many_classes(problem: Problem) -> Iterator[str]:
    """Yield a note if the target has nearly as many classes as rows.

    Examples
    --------
    >>> problem = Problem.of([[0]] * 20, [f"name {j}" for j in range(20)], target="who")
    >>> list(many_classes(problem))[0][:46]
    "the target 'who' has 20 classes in 20 rows: ch"
    """
    classes = problem.classes
    if classes is None or problem.n_samples < LEAST_ROWS:
        return
    if len(classes) >= CLASSES_PER_ROW * problem.n_samples:
        yield (
            f"the target {listing([problem.target])} has {len(classes)} classes in "
            f"{counted(problem.n_samples, 'row')}: choose another with --target, or --task numbers "
            "if it is a number"
        )


def shared_rows(problem: Problem, sources: Iterable[str]) -> Iterator[str]:
    """Yield a note if other sources that memory knows hold some of the rows.

    Examples
    --------
    >>> problem = Problem.of([[0], [1]], [0, 1], source="b.csv")
    >>> list(shared_rows(problem, ["a.csv", "b.csv"]))[0][:32]
    "some rows are also in 'a.csv': p"
    """
    others = sorted(set(sources) - {problem.source, ""})
    if others:
        more = " and other sources" if len(others) > 1 else ""
        yield (
            f"some rows are also in {listing(others[:1])}{more}: problems that share rows are not "
            "asked when a score is measured, so memory helps less there"
        )
