"""What it costs to learn what a solved problem leaves to memory, in milliseconds of a processor.

The past problems are in memory as the MetaDB gives them; a new one has as many rows as they had.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from remembered.memory import Remembered
from remembered.streams import Stream

from metafs import Problem
from metafs.memory.weights import NEAREST, history_of
from metafs.pipeline.fitting.reference import learned
from metafs.stats.linear import scales_of
from metafs_metadb import Neighbour, Reference

MOST_ROWS = 200  # a class
N_TIMES = 3


def references(stream: Stream, memory: Remembered) -> dict[int, Reference]:
    """Return what the MetaDB would give of the past problems, by problem_id."""
    found = {}
    for k, past in enumerate(stream.past[:NEAREST]):
        scales = memory.scales[k]
        kept = [np.flatnonzero(row) for row in memory.weights[k]]
        curve = memory.curves[k]
        transfers = () if curve is None else ((0, 0.0, memory.coherences[k]),)
        at = np.flatnonzero(scales_of(past.X).spread > 0)  # a table has no constant columns
        found[k + 1] = Reference(
            k + 1,
            k + 1,
            past.name,
            len(past.y),
            "words" if stream.words else "standard",
            len(past.y),
            tuple(memory.outputs[k]),
            tuple(each + 1 for each in kept),
            tuple(row[each] for row, each in zip(memory.weights[k], kept, strict=True)),
            at + 1,
            np.zeros(len(at)),
            scales.document_frequency[at],
            scales.mean[at],
            scales.spread[at],
            transfers,
        )
    return found


def milliseconds(ask: Callable[[], Any]) -> tuple[float, Any]:
    """Return the least of a few calls, and what the last gave."""
    times = []
    for _ in range(N_TIMES):
        begun = time.process_time()
        answer = ask()
        times.append(1e3 * (time.process_time() - begun))
    return min(times), answer


def costs(stream: Stream, memory: Remembered) -> dict[str, float]:
    """Return the medians over the new problems of a stream."""
    models = references(stream, memory)
    near = [Neighbour(k, model.source, 0.5, "") for k, model in models.items()]
    rows = []
    for new in stream.new:
        chosen = new.labelled(min(MOST_ROWS, _least(new, stream.classes)), stream.classes)
        problem = Problem.of(new.X[chosen], new.y[chosen], name=new.name)
        ids = np.arange(1, problem.n_features + 1)
        recall, history = milliseconds(lambda ids=ids: history_of(near, models, [], ids))

        def left(problem: Problem = problem, **known: Any) -> float:
            return milliseconds(lambda: learned(problem, **known))[0]

        columns = left(fit=False)
        model = left()
        rows.append(
            {
                "rows": problem.n_samples,
                "columns": problem.n_features,
                "past models": recall,
                "relevance and scales": columns,
                "model without memory": model - columns,
                "transfer": left(fold_history=history) - model,
                "with memory": left(fit=False, history=history) - columns,
                "all": recall + left(history=history, fold_history=history) - columns,
            }
        )
    return {key: float(np.median([row[key] for row in rows])) for key in rows[0]}


def _least(new: Any, classes: bool) -> int:
    return int(np.unique(new.y, return_counts=True)[1].min()) if classes else len(new.y)
