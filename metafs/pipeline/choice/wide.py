"""Wide tables: what is scored besides the race when there are very many columns.

Of tens of thousands of columns a few may tell everything, and then pipelines on all columns, or on
some hundred of them, do no better than guessing, so that the race would learn nothing from them.
Ranking the columns takes most of the time there, and fitting the default's learner to a few of them
hardly any. So the learner is first scored on few columns of each quick ranking.
"""

from collections.abc import Sequence

from metafs.pipeline.choice.candidates import Candidate
from metafs.pipeline.choice.evaluation import Evaluation

WIDE = 10_000
"""A table of more columns is wide."""
QUICK = 1.0
"""Seconds up to which a ranking is quick."""
MOST_COLUMNS = 64


def opening(candidates: Sequence[Candidate], evaluation: Evaluation) -> list[Candidate]:
    """Return the candidates that are scored before all others, except for the default."""
    if evaluation.problem.n_features <= WIDE:
        return []
    return [
        each
        for each in candidates
        if each.learner == candidates[0].learner
        and each.size is not None
        and each.size <= MOST_COLUMNS
        and evaluation.rough_seconds(each) <= QUICK
    ]
