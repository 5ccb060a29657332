"""A choice in the form that every other run has: a selection, and rows for the MetaDB."""

import numpy as np

from metafs.memory import TrialRow
from metafs.pipeline.choice.candidates import ALL
from metafs.pipeline.choice.choosing import Choice
from metafs.pipeline.fitting.selection import Selection
from metafs.plugin.ranking import ranking


def selection_of(choice: Choice) -> Selection:
    """Return what was selected, with the ranks of the chosen selector where it ranked."""
    n_features = choice.evaluation.problem.n_features
    selected = np.zeros(n_features, dtype=bool)
    selected[choice.columns] = True
    n_evaluations = len(choice.evaluation.seconds)
    candidate = choice.candidate
    if candidate is None or candidate.selector == ALL:
        scores = selected.astype(np.float64)
        return Selection(selected, scores, ranking(scores), n_evaluations, choice.stopped)
    sized = candidate.size is not None
    found = choice.evaluation.selection(candidate.selector, None, sized=sized)
    return Selection(selected, found.scores, found.ranking, n_evaluations, choice.stopped)


def trials_of(choice: Choice) -> tuple[TrialRow, ...]:
    """Return a row for each fold on which a pipeline was scored."""
    return tuple(
        TrialRow(
            candidate.selector,
            candidate.size,
            candidate.learner,
            fold,
            choice.evaluation.scores[candidate][fold],
            seconds,
        )
        for (candidate, fold), seconds in choice.evaluation.seconds.items()
    )
