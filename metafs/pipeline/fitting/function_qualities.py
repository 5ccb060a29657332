"""Quality of features over the functions that a search met on one problem.

The functions are the programs that the learner met on the selected columns, if it searches for
programs; else the learner, trained on each of the sets that the selector's search met. Their
quality is that of `metafs.stats.function_quality`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from metafs.data.problem import Problem
from metafs.data.typing import Array
from metafs.pipeline.fitting.scoring import model_on
from metafs.pipeline.fitting.selection import Selection
from metafs.plugin.protocols import SupportsFunctions
from metafs.stats.function_quality import Function, FunctionQuality
from metafs.stats.preparation import chosen_columns

MOST_SETS = 40
"""The learner is trained on so many of the sets that were met, those of highest fitness."""


def function_qualities(
    problem: Problem, selection: Selection, learner: Any, quality: FunctionQuality | None = None
) -> Array:
    """Return Q of each feature of a problem, in [0, 1]."""
    quality = FunctionQuality() if quality is None else quality
    functions = functions_met(problem, selection, learner)
    used = np.unique(np.concatenate([np.zeros(0, np.int64), *(g.columns for g in functions)]))
    table = chosen_columns(problem.X, used)
    table = table.toarray() if issparse(table) else table
    places = [replace(g, columns=np.searchsorted(used, g.columns)) for g in functions]
    Q = np.zeros(problem.n_features)
    Q[used] = np.clip(quality.of_each(places, table), 0.0, 1.0)
    return Q


def functions_met(problem: Problem, selection: Selection, learner: Any) -> list[Function]:
    """Return the functions, with columns of the problem."""
    selected = np.flatnonzero(selection.selected)
    model = model_on(problem, selected, learner)
    if isinstance(model[-1], SupportsFunctions) and len(model) == 1:
        met = model[-1].functions_met()
        return [replace(g, columns=selected[g.columns]) for g in met]
    fitness = 1.0 if selection.fitness is None else selection.fitness
    best = {tuple(selected.tolist()): fitness}
    for _, features, found in sorted(selection.candidates, key=lambda each: -each[2]):
        if features and len(best) < MOST_SETS:
            best.setdefault(tuple(sorted(features)), found)
    return [_on_set(problem, features, learner, each) for features, each in best.items()]


def _on_set(problem: Problem, features: Sequence[int], learner: Any, fitness: float) -> Function:
    """Return the learner on a set: probabilities if it has any, else decisions or numbers."""
    columns = np.array(features, dtype=np.int64)
    model = model_on(problem, columns, learner)
    output = model.predict_proba if hasattr(model, "predict_proba") else model.predict
    smooth = not set(features) & set(problem.categories)
    return Function(columns, fitness, len(columns), output, smooth)
