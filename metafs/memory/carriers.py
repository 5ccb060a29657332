r"""Carriers: which past problems supplied memory's part of a feature's weight.

In the model with memory the part of a weight that memory supplied is a sum over directions,
:math:`\sum_k a_k W_{kj}`. The run keeps the coefficients a, the past problems keep their weights W.
The basis of the space may have changed since, so what is left of the sum is counted as its part.
Of a word all parts were multiplied by how rare it was in memory, which may have changed as well: if
nothing else is lacking they are brought to their sum.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from metafs.data.typing import Array
from metafs.memory.past_columns import Places, scales_on, weights_on
from metafs.transfer.explanation import Belief, Carrier, Explanation
from metafs_metadb import BeliefRow, MetaDB, StoredRun

MOST = 5
"""Maximum number of carriers of each feature."""

_NOTHING = 1e-9

BASIS = "the basis of the space"
FORGOTTEN = "forgotten problems"


def with_carriers(db: MetaDB, stored: StoredRun, explained: Explanation) -> Explanation:
    """Return an explanation with the strength of memory and the carriers of each weight."""
    belief = db.belief(stored.run["run_id"])
    if belief is None:
        return explained
    place = {name: number for number, name in enumerate(stored.names)}
    names = [each.feature for each in explained.features]
    places = [place[name] for name in names]
    parts = carried(db, belief, stored.run["space"], names, stored.from_memory[places])
    features = tuple(
        replace(each, weight=_known(weight), from_memory=_known(part), carriers=by)
        for each, weight, part, by in zip(
            explained.features,
            stored.weight[places],
            stored.from_memory[places],
            parts,
            strict=True,
        )
    )
    found = Belief(belief.strength, belief.gain, belief.reason)
    return replace(explained, features=features, belief=found)


def carried(
    db: MetaDB, belief: BeliefRow, space: str, names: Sequence[str], from_memory: Array
) -> list[tuple[Carrier, ...]]:
    """Return the problems that supplied memory's part of each weight, the largest part first."""
    ids = np.asarray(belief.problem_ids, dtype=np.int64)
    if not len(ids):
        return [()] * len(names)
    models = db.references(sorted({each for each in ids.tolist() if each}))
    called = db.problem_names(list(models))
    feature_ids = db.feature_ids(space, names)
    weights = np.zeros((len(ids), len(names)))
    places = Places(feature_ids)
    scales = scales_on(list(models.values()), places)
    for row, (problem_id, output) in enumerate(zip(ids.tolist(), belief.outputs, strict=True)):
        if (model := models.get(problem_id)) is not None and output in model.outputs:
            ours, known = weights_on(model, model.outputs.index(output), places, scales)
            weights[row, ours] = known
    table = np.asarray(belief.coefficients, dtype=np.float64).reshape(-1, len(ids))
    parts = table[:, :, None] * weights  # (outputs, directions, features)
    # The run stores the part of one output: the one whose sum is nearest to it.
    own = np.abs(parts.sum(axis=1) - np.nan_to_num(from_memory)).argmin(axis=0)
    found = []
    for column, output in enumerate(own.tolist()):
        by_problem: dict[str, float] = {}
        for problem_id, part in zip(ids.tolist(), parts[output, :, column].tolist(), strict=True):
            if problem_id in called:
                name = called[problem_id]
                by_problem[name] = by_problem.get(name, 0.0) + part
        whole, found_part = float(np.nan_to_num(from_memory[column])), sum(by_problem.values())
        unknown = [BASIS] if not ids.all() else []
        unknown += [FORGOTTEN] if any(each and each not in called for each in ids.tolist()) else []
        if unknown:
            by_problem[" or ".join(unknown)] = whole - found_part
        elif whole * found_part > 0:
            by_problem = {name: part * whole / found_part for name, part in by_problem.items()}
        largest = sorted(by_problem.items(), key=lambda item: -abs(item[1]))[:MOST]
        found.append(tuple(Carrier(*each) for each in largest if abs(each[1]) > _NOTHING))
    return found


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
