"""Rows and targets: too many classes, classes written in two ways, rows that other sources hold."""

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


def classes_alike(problem: Problem) -> Iterator[str]:
    """Yield a note if some classes differ only in case or in spaces.

    Examples
    --------
    >>> problem = Problem.of([[0]] * 4, ["yes", "Yes", "no", "no"], target="paid")
    >>> list(classes_alike(problem))[0][:68]
    "the target 'paid' has 3 classes, of which only 2 differ in more than"
    """
    classes = problem.classes or ()
    different = {" ".join(each.split()).casefold() for each in classes}
    if len(different) < len(classes):
        yield (
            f"the target {listing([problem.target])} has {len(classes)} classes, of "
            f"which only {len(different)} differ in more than upper case, lower case and "
            "spaces: write each class in one way"
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
