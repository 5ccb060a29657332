"""Wide tables: what is scored besides the race when there are very many columns.

Of tens of thousands of columns a few may tell everything, and then pipelines on all columns, or on
some hundred of them, do no better than guessing, so that the race would learn nothing from them.
Ranking the columns takes most of the time there, and fitting the default's learner to a few of them
hardly any. So the learner is first scored on few columns of each quick ranking.
"""

from collections.abc import Sequence

from metafs.pipeline.choice.candidates import Candidate

WIDE = 10_000
"""A table of more columns is wide."""
QUICK_RANKINGS = ("projected", "infogain")
MOST_COLUMNS = 64


def opening(candidates: Sequence[Candidate], n_features: int) -> list[Candidate]:
    """Return the candidates that are scored before all others, except for the default.

    Examples
    --------
    >>> linear = [Candidate("remembered"), Candidate("remembered", "projected", 4)]
    >>> opening(linear, n_features=500), [str(each) for each in opening(linear, n_features=20_000)]
    ([], ['remembered on 4 by projected'])
    """
    if n_features <= WIDE:
        return []
    return [
        each
        for each in candidates
        if each.learner == candidates[0].learner
        and each.selector in QUICK_RANKINGS
        and each.size is not None
        and each.size <= MOST_COLUMNS
    ]
