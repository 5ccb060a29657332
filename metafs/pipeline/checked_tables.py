"""Say what may be wrong with the table of a task, or refuse to solve it."""

from dataclasses import replace

from metafs.errors import ProblemError
from metafs.pipeline.task import PreparedTask
from metafs.stats.repeated_rows import repeated_rows
from metafs.stats.table_checks.checks import table_notes


def checked_table(task: PreparedTask, *, strict: bool = False) -> PreparedTask:
    """Return the task with notes on its table; with `strict` these are an error.

    Rows that repeat are noted anyway when a problem is solved, and so only looked for if strict.
    """
    transfer = task.plan.transfer
    sources = task.sharing.values() if transfer is not None and transfer.remembers else ()
    found = table_notes(task.problem, sources)
    if not strict:
        return replace(task, notes=found)
    repeated = repeated_rows(task.problem)
    found = (*found, *([] if repeated is None else [repeated]))
    if found:
        problem = task.problem
        raise ProblemError(f"{problem.source or problem.name}: {'; '.join(found)} (--strict).")
    return task
