"""All checks of a table, in the order in which a person would want to hear of them."""

from collections.abc import Iterable

from metafs.data.problem import Problem
from metafs.stats.table_checks.columns import dates_and_amounts, free_text, identifiers
from metafs.stats.table_checks.leaks import leaks
from metafs.stats.table_checks.rows import classes_alike, many_classes, shared_rows


def table_notes(problem: Problem, sharing: Iterable[str] = ()) -> tuple[str, ...]:
    """Return what may be wrong with a table; `sharing` are sources that hold some of its rows.

    Each note names a column or a source and says what to do; none tells what a cell holds.
    """
    return (
        *many_classes(problem),
        *classes_alike(problem),
        *leaks(problem),
        *identifiers(problem),
        *free_text(problem),
        *dates_and_amounts(problem),
        *shared_rows(problem, sharing),
    )
