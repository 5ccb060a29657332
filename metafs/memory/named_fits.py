"""At most one problem for a name: fits in a cross-validation do not flood the memory.

Each fold, and each fit on other rows, is another problem by its content. Of the fits with one name
memory keeps that with the most rows, and of equals the first: after a search over settings that is
the final fit on all rows. What a stream solved under that name is left alone.
"""

from metafs.data.problem import BARE, Problem
from metafs_metadb import FIT_OF, MetaDB


def fit_source(name: str) -> str:
    """Return the source of a problem that a ``fit`` with a learner was given.

    Examples
    --------
    >>> fit_source("north")
    'fit of north'
    """
    return f"{FIT_OF}{name}"


def would_be_kept(db: MetaDB, problem: Problem) -> bool:
    """Tell whether memory would keep a fit: its content is known, or it has most rows of all."""
    fits = _fits(db, problem)
    most = max((n_samples for *_, n_samples in fits), default=0)
    return problem.n_samples > most or problem.fingerprint in {each[1] for each in fits}


def keep_one(db: MetaDB, problem: Problem) -> None:
    """Forget all fits of that name but the one with the most rows, of equals the first."""
    fits = _fits(db, problem)
    kept = max(fits, key=lambda each: (each[3], -each[0]), default=None)
    db.forget([each[0] for each in fits if each is not kept])


def _fits(db: MetaDB, problem: Problem) -> list[tuple[int, str, str, int]]:
    """Return id, fingerprint, space and rows of the fits that have the name of a problem.

    Columns without names have a space for each content, so those count as one.
    """
    bare, space = problem.space is None, problem.own_space
    return [
        each
        for each in db.fits_named(problem.name)
        if (each[2].startswith(BARE) if bare else each[2] == space)
    ]
