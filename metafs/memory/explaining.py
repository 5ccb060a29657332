r"""Explain: why a run expected something of a feature, from the rows it left and those before it.

What was expected of a feature s is a sum of parts: one from each neighbour :math:`D_i` that was
asked, and one from the feature's record over all problems,

.. math:: P(s) = a \sum_i \frac{w(d_i)}{\sum_j w(d_j) + w_0} \, v(s, D_i) \; + \; (1 - a) \, R(s)

with v what the feature was worth there, a = 1/2 and w_0 = w(1) where the transfer guides, a = 1
and w_0 = 0 for the published rule (`metafs.transfer.expectation`). Neighbours and features speak
by the best runs they had when the run began. A feature that nobody had was judged by its
kind, and of that only the result is kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from metafs.data.typing import Array
from metafs.errors import MetafsError, UsageError
from metafs.memory.best_runs import experiences
from metafs.plugin.prior import Source
from metafs.transfer.expectation import (
    OF_NEIGHBOURS,
    TRANSFERS,
    Experience,
    expect,
    relative_scores,
    reputation,
)
from metafs.transfer.explanation import (
    LEFT_OUT,
    NOT_KEPT,
    NOT_SELECTED,
    SELECTED,
    Asked,
    Explanation,
    FeatureExplained,
    Recorded,
    Said,
)
from metafs_metadb import FeatureRecord, MetaDB, RunTold

TOLERANCE = 1e-9
"""Parts that miss what was stored by more are not those it was made of."""

LIMIT = 20


def explain(
    db: MetaDB,
    problem: Mapping[str, Any],
    feature: str | None = None,
    *,
    run_id: int | None = None,
    limit: int | None = LIMIT,
) -> Explanation:
    """Explain what memory said of a problem's features, and what became of them.

    Parameters
    ----------
    db : MetaDB
        The memory.
    problem : mapping
        The problem, as `MetaDB.find_problem` returns it.
    feature : str, optional
        Explain this feature only.
    run_id : int, optional
        The run to explain; by default the one that the problem is remembered by.
    limit : int or None
        At most so many features that were selected, and so many that were expected in vain.

    Returns
    -------
    Explanation
        Selected features by rank, then the most expected of those that did not survive.
    """
    told = db.told_run(problem["problem_id"], run_id)
    if told is None:
        runs = f"`metafs runs --problem '{problem['name']}'` lists its runs."
        if run_id is not None:
            raise UsageError(f"run {run_id} is none of {problem['name']!r}: {runs}")
        raise MetafsError(f"{problem['name']!r} was never solved: {runs}")
    if told.run["status"] == "failed":
        raise MetafsError(f"run {told.run['run_id']} failed: {told.run['error']}")
    places = shown(told, limit) if feature is None else [_place(told, feature)]
    return explain_places(db, told, places)


def explain_places(db: MetaDB, told: RunTold, places: Sequence[int] | Array) -> Explanation:
    """Explain some features of a run, by what the memory knew before it."""
    asked = [each.problem_id for each in told.neighbours]
    known = db.experience(asked, before=told.run["run_id"]) if asked else {}
    record = db.record_before(told.run, [told.names[place] for place in places])
    return explanation(told, places, experiences(told.neighbours, known), record)


def shown(told: RunTold, limit: int | None = None) -> Array:
    """Return the places of selected features by rank, then of those most expected in vain.

    At most `limit` of either kind.
    """
    expected = np.nan_to_num(told.expected)
    survived, others = np.flatnonzero(told.selected), np.flatnonzero(~told.selected)
    in_vain = others[np.argsort(-expected[others], kind="stable")]
    in_vain = in_vain[expected[in_vain] > 0]
    return np.concatenate([survived[:limit], in_vain[:limit]])


def explanation(
    told: RunTold,
    places: Sequence[int] | Array,
    near: Sequence[Experience],
    record: FeatureRecord,
) -> Explanation:
    """Explain some features of a run, from rows alone.

    Parameters
    ----------
    told : RunTold
        The run, with all its rows.
    places : sequence of int
        Which of its features to explain.
    near : sequence of Experience
        What its neighbours knew before it.
    record : FeatureRecord
        How each of these features had fared before it, in all other problems.
    """
    places = np.asarray(places, dtype=np.int64)
    names = [told.names[place] for place in places.tolist()]
    features, sources = _measured(told, places), tuple[Source, ...]()
    rule = TRANSFERS.get(told.run["transfer"])
    if rule is not None and rule.remembers and told.run["prior_used"] is not None:
        prior = expect(near, names, told.run["transfer"])
        sources = () if prior is None else prior.sources
        of_neighbours = OF_NEIGHBOURS if rule.guides else 1.0
        parts = zip(
            _said(near, sources, names, of_neighbours),
            _recorded(record, 1.0 - of_neighbours),
            strict=True,
        )
        features = [
            _with_parts(each, said, known, rule.guides)
            for each, (said, known) in zip(features, parts, strict=True)
        ]
    all_spoke = len(sources) == len(told.neighbours)
    return Explanation(
        run=told.run,
        neighbours=tuple(
            Asked(
                number + 1, each.name, each.distance, sources[number].weight if all_spoke else None
            )
            for number, each in enumerate(told.neighbours)
        ),
        features=tuple(features),
        n_features=len(told.names),
        n_solved=record.n_solved,
    )


def _said(
    near: Sequence[Experience],
    sources: Sequence[Source],
    names: Sequence[str],
    of_neighbours: float,
) -> list[tuple[Said, ...]]:
    """Return what the neighbours said of each feature, the largest part first."""
    places = [{name: place for place, name in enumerate(each.features)} for each in near]
    found = []
    for column, name in enumerate(names):
        said = []
        for memory, place_of, source in zip(near, places, sources, strict=True):
            place = place_of.get(name)
            had = place is not None
            said.append(
                Said(
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
        found.append(tuple(sorted(said, key=lambda each: (-each.part, each.distance))))
    return found


def _recorded(record: FeatureRecord, of_record: float) -> list[Recorded]:
    return [
        Recorded(int(n_selected), int(n_problems), of_record * float(share))
        for n_selected, n_problems, share in zip(
            record.n_selected, record.n_problems, reputation(record), strict=True
        )
    ]


def _with_parts(
    feature: FeatureExplained, said: tuple[Said, ...], record: Recorded, of_record: bool
) -> FeatureExplained:
    """Return the feature with the parts of its expectation, and whether they add up to it."""
    neighbours, stored = sum(each.part for each in said), feature.expected or 0.0
    strange = not any(each.had for each in said) and not (of_record and record.n_problems)
    judged = strange and stored > 0
    return replace(
        feature,
        neighbours=neighbours,
        record=record,
        judged=judged,
        adds_up=judged or abs(neighbours + record.part - stored) <= TOLERANCE,
        said=said,
    )


def _measured(told: RunTold, places: Array) -> list[FeatureExplained]:
    """Return what the run itself wrote of features."""
    relative = relative_scores(told.q)
    most_expected = np.argsort(-np.nan_to_num(told.expected), kind="stable")
    place_of = {int(feature): number for number, feature in enumerate(most_expected, start=1)}
    found = []
    for place in places.tolist():
        expected = _known(told.expected[place])
        steps = tuple((step, fit) for step, features, fit in told.candidates if place in features)
        found.append(
            FeatureExplained(
                feature=told.names[place],
                rank=None if np.isnan(told.rank[place]) else int(told.rank[place]),
                fate=_fate(bool(told.selected[place]), bool(steps), bool(told.candidates)),
                q=_known(told.q[place]),
                relative=float(relative[place]) if relative.any() else None,
                quality=_known(told.quality[place]),
                expected=expected,
                place=place_of[place] if expected else None,
                steps=steps,
            )
        )
    return found


def _fate(selected: bool, in_some: bool, any_recorded: bool) -> str:
    if selected:
        return SELECTED
    if in_some:
        return LEFT_OUT
    return NOT_KEPT if any_recorded else NOT_SELECTED


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _place(told: RunTold, feature: str) -> int:
    """Return the place of a feature in a run, or say which names are near."""
    if feature in told.names:
        return told.names.index(feature)
    near = get_close_matches(feature, told.names, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "see `metafs features`."
    raise UsageError(f"{told.run['problem']!r} has no feature {feature!r}: {hint}")
