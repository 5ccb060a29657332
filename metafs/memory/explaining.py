r"""Explain the expectations of a run from its rows in the MetaDB and those of earlier runs.

The expectation of a feature s is a sum of parts: one from each neighbour :math:`D_i`, and one from
the feature's selection frequency R over all problems,

.. math:: P(s) = a \sum_i \frac{w(d_i)}{\sum_j w(d_j) + w_0} \, v(s, D_i) \; + \; (1 - a) \, R(s)

with :math:`w(d) = 1 / (c + d^2)`, v the value of the feature there, a = 1/2 and w_0 = w(1) for the
guided transfer, a = 1 and w_0 = 0 for the published rule (`metafs.transfer.expectation`). Values
come from the best runs at the time when the run began. The expectation of an unseen feature comes
from meta-regression, of which only the result is stored.

A run stores its expectations and the neighbours it used, not each neighbour's part: that would
multiply the largest table by the number of neighbours. So the parts are computed again, and their
sum is compared with what was stored; where they differ, an explanation says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from metafs.data.typing import Array
from metafs.errors import MetafsError, UsageError
from metafs.memory.best_runs import experiences
from metafs.memory.carriers import with_carriers
from metafs.plugin.prior import Source
from metafs.plugin.programs import written
from metafs.transfer.expectation import (
    OF_NEIGHBOURS,
    TRANSFERS,
    C,
    Experience,
    expect,
    relative_scores,
    selection_frequency,
)
from metafs.transfer.explanation import (
    Explanation,
    FeatureExplanation,
    FrequencyPart,
    LearnedProgram,
    NeighbourPart,
    RecalledNeighbour,
    fate_of,
)
from metafs_metadb import FeatureHistory, MetaDB, StoredRun

TOLERANCE = 1e-9
"""Largest difference between the sum of the parts and the stored expectation."""

LIMIT = 20


def explain(
    db: MetaDB,
    problem: Mapping[str, Any],
    feature: str | None = None,
    *,
    run_id: int | None = None,
    limit: int | None = LIMIT,
) -> Explanation:
    """Explain what memory expected of a problem's features, and their outcomes.

    Parameters
    ----------
    db : MetaDB
        The memory.
    problem : mapping
        The problem, as `MetaDB.find_problem` returns it.
    feature : str, optional
        Explain this feature only.
    run_id : int, optional
        The run to explain; by default the problem's best run.
    limit : int or None
        Maximum number of selected features, and of proposed features that were not selected.

    Returns
    -------
    Explanation
        Selected features by rank, then the others by expectation.
    """
    stored = db.stored_run(problem["problem_id"], run_id)
    if stored is None:
        runs = f"`metafs runs --problem '{problem['name']}'` lists its runs."
        if run_id is not None:
            raise UsageError(f"run {run_id} is not one of {problem['name']!r}: {runs}")
        raise MetafsError(f"{problem['name']!r} was never solved: {runs}")
    if stored.run["status"] == "failed":
        raise MetafsError(f"run {stored.run['run_id']} failed: {stored.run['error']}")
    places = shown(stored, limit) if feature is None else [_place_of(stored, feature)]
    return explain_places(db, stored, places)


def explain_places(db: MetaDB, stored: StoredRun, places: Sequence[int] | Array) -> Explanation:
    """Explain some features of a run, by the memory before it."""
    neighbour_ids = [each.problem_id for each in stored.neighbours]
    known = db.experience(neighbour_ids, before=stored.run["run_id"]) if neighbour_ids else {}
    history = db.history_before(stored.run, [stored.names[place] for place in places])
    found = explanation(stored, places, experiences(stored.neighbours, known), history)
    return with_carriers(db, stored, found)


def shown(stored: StoredRun, limit: int | None = None) -> Array:
    """Return the places of selected features by rank, then of rejected ones by expectation.

    At most `limit` of each kind.
    """
    expected = np.nan_to_num(stored.expected)
    selected, others = np.flatnonzero(stored.selected), np.flatnonzero(~stored.selected)
    rejected = others[np.argsort(-expected[others], kind="stable")]
    rejected = rejected[expected[rejected] > 0]
    return np.concatenate([selected[:limit], rejected[:limit]])


def explanation(
    stored: StoredRun,
    places: Sequence[int] | Array,
    near: Sequence[Experience],
    history: FeatureHistory,
) -> Explanation:
    """Explain some features of a run, from rows alone.

    Parameters
    ----------
    stored : StoredRun
        The run, with all its rows.
    places : sequence of int
        Which of its features to explain.
    near : sequence of Experience
        The experience of its neighbours before the run.
    history : FeatureHistory
        The history of each of these features before the run, in all other problems.
    """
    places = np.asarray(places, dtype=np.int64)
    names = [stored.names[place] for place in places.tolist()]
    features, sources = _measured(stored, places), tuple[Source, ...]()
    rule = TRANSFERS.get(stored.run["transfer"])
    if rule is not None and rule.remembers and stored.run["prior_used"] is not None:
        prior = expect(near, names, rule, c=stored.run.get("c") or C)
        sources = () if prior is None else prior.sources
        of_neighbours = OF_NEIGHBOURS if rule.guides else 1.0
        parts = zip(
            _neighbour_parts(near, sources, names, of_neighbours),
            _frequency_parts(history, 1.0 - of_neighbours),
            strict=True,
        )
        complete = len(near) == len(stored.neighbours)  # none was forgotten
        features = [
            _with_parts(each, found, known, rule.guides, complete)
            for each, (found, known) in zip(features, parts, strict=True)
        ]
    all_weighted = len(sources) == len(stored.neighbours)
    return Explanation(
        run=stored.run,
        neighbours=tuple(
            RecalledNeighbour(
                number + 1,
                each.name,
                each.distance,
                sources[number].weight if all_weighted else None,
            )
            for number, each in enumerate(stored.neighbours)
        ),
        features=tuple(features),
        n_features=len(stored.names),
        n_solved=history.n_solved,
        programs=_programs(stored),
    )


def _programs(stored: StoredRun) -> tuple[LearnedProgram, ...]:
    """Return the programs that the learner kept, the one with the fewest errors for each class."""
    least = stored.run.get("least_score")
    rows = None if least is None else 0.0 - least
    return tuple(
        LearnedProgram(each.output, written(each.candidate), 0.0 - each.score, rows)
        for each in stored.programs
    )


def _neighbour_parts(
    near: Sequence[Experience],
    sources: Sequence[Source],
    names: Sequence[str],
    of_neighbours: float,
) -> list[tuple[NeighbourPart, ...]]:
    """Return the parts of the neighbours for each feature, the largest first."""
    places = [{name: place for place, name in enumerate(each.features)} for each in near]
    found = []
    for column, name in enumerate(names):
        contributions = []
        for memory, place_of, source in zip(near, places, sources, strict=True):
            place = place_of.get(name)
            had = place is not None
            contributions.append(
                NeighbourPart(
                    problem=source.problem,
                    distance=source.distance,
                    share=source.weight,
                    had=had,
                    selected=had and bool(memory.selected[place]),
                    relative=float(memory.relative[place]) if had else 0.0,
                    quality=float(np.nan_to_num(memory.quality[place])) if had else 0.0,
                    part=of_neighbours * source.weight * float(source.quality[column]),
                )
            )
        found.append(tuple(sorted(contributions, key=lambda each: (-each.part, each.distance))))
    return found


def _frequency_parts(history: FeatureHistory, of_frequency: float) -> list[FrequencyPart]:
    return [
        FrequencyPart(int(n_selected), int(n_problems), of_frequency * float(share))
        for n_selected, n_problems, share in zip(
            history.n_selected, history.n_problems, selection_frequency(history), strict=True
        )
    ]


def _with_parts(
    feature: FeatureExplanation,
    contributions: tuple[NeighbourPart, ...],
    frequency: FrequencyPart,
    guided: bool,
    complete: bool,
) -> FeatureExplanation:
    """Return the feature with the parts of its expectation, and whether they add up to it."""
    neighbours, stored = sum(each.part for each in contributions), feature.expected or 0.0
    unseen = not any(each.had for each in contributions) and not (guided and frequency.n_problems)
    predicted = complete and unseen and stored > 0
    return replace(
        feature,
        neighbours=neighbours,
        frequency=frequency,
        predicted=predicted,
        adds_up=predicted or abs(neighbours + frequency.part - stored) <= TOLERANCE,
        contributions=contributions,
    )


def _measured(stored: StoredRun, places: Array) -> list[FeatureExplanation]:
    """Return the features with what the run itself stored."""
    relative = relative_scores(stored.q)
    most_expected = np.argsort(-np.nan_to_num(stored.expected), kind="stable")
    place_of = {int(feature): number for number, feature in enumerate(most_expected, start=1)}
    found = []
    for place in places.tolist():
        expected = _known(stored.expected[place])
        steps = tuple((step, fit) for step, features, fit in stored.candidates if place in features)
        found.append(
            FeatureExplanation(
                feature=stored.names[place],
                rank=None if np.isnan(stored.rank[place]) else int(stored.rank[place]),
                fate=fate_of(bool(stored.selected[place]), bool(steps), bool(stored.candidates)),
                q=_known(stored.q[place]),
                relative=float(relative[place]) if relative.any() else None,
                quality=_known(stored.quality[place]),
                expected=expected,
                place=place_of[place] if expected else None,
                steps=steps,
            )
        )
    return found


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _place_of(stored: StoredRun, feature: str) -> int:
    """Return the place of a feature in a run, or suggest similar names."""
    if feature in stored.names:
        return stored.names.index(feature)
    near = get_close_matches(feature, stored.names, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "see `metafs features`."
    raise UsageError(f"{stored.run['problem']!r} has no feature {feature!r}: {hint}")
