"""What a page about a memory shows, as plain records, read from a copy of the memory."""

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from metafs.memory import MetaDB, ReportRows, Table

BEST_CELL = 9
"""The cell of a problem's first feature in the map of features and problems."""


@dataclass(frozen=True)
class Selected:
    """A feature that the best run of a problem selected."""

    feature_id: int
    weight: float | None
    """In the linear model with memory, else in the one fitted without memory."""
    from_memory: float | None
    towards: str | None
    """The class that a positive weight speaks for; None for a number."""
    sources: tuple[int, ...] = ()
    """Past problems it came from, the most important first."""
    carried: bool = False
    """Whether the sources carried its weight; else they were neighbours that selected it."""


@dataclass(frozen=True)
class Curve:
    """Score or fitness against number of features."""

    kind: str
    """``"score"`` of the chosen ranking and learner, or ``"fitness"`` of recorded sets."""
    points: tuple[tuple[int, float, int], ...]
    """Number of features, value, and on how many folds it was measured."""


@dataclass(frozen=True)
class Solved:
    """A problem, and the run it is remembered by."""

    values: Mapping[str, Any]
    """The columns of `report_queries.PROBLEMS`."""
    pipeline: Mapping[str, Any]
    selected: tuple[Selected, ...]
    neighbours: tuple[tuple[int, float], ...]
    """Problem and distance, the nearest first."""
    curve: Curve | None
    stability: Mapping[str, Any] | None
    belief: Mapping[str, Any] | None


@dataclass(frozen=True)
class Feature:
    """How a feature did in the best runs of the problems shown."""

    feature_id: int
    space: str
    name: str
    n_problems: int | None = None
    n_selected: int | None = None
    mean_quality: float | None = None
    cells: str = ""
    """A character for each problem: a point if it lacks the feature, 0 if it was not selected,
    1 to 9 by its rank; empty for a feature outside the map."""


@dataclass(frozen=True)
class Report:
    """Everything that the page shows."""

    space: str | None
    made_at: datetime
    counts: Mapping[str, Any]
    problems: tuple[Solved, ...]
    features: tuple[Feature, ...]
    other_names: Mapping[int, str]
    """Names of problems that are referred to and not shown."""
    leaderboard: Table
    pipelines: Table
    gains: Table
    losses: Table


def report(db: MetaDB, space: str | None = None) -> Report:
    """Read the report of a memory, or of one space of it."""
    made_at = datetime.now().astimezone()
    rows = db.report(space)
    return Report(
        space=space,
        made_at=made_at,
        counts=_records(rows.counts)[0],
        problems=_problems(rows),
        features=_features(rows),
        other_names=dict(rows.problem_names.rows),
        leaderboard=rows.leaderboard,
        pipelines=rows.pipelines,
        gains=rows.gains,
        losses=rows.losses,
    )


def _records(table: Table) -> list[dict[str, Any]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def _problems(rows: ReportRows) -> tuple[Solved, ...]:
    near: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for run_id, problem_id, distance in rows.neighbours.rows:
        near[run_id].append((problem_id, distance))
    stability = {each["problem_id"]: each for each in _records(rows.stability)}
    beliefs = {each["run_id"]: each for each in _records(rows.beliefs)}
    selected, curves = _selected(rows), _curves(rows)
    found = []
    for values in _records(rows.problems):
        run_id = values["run_id"]
        pipeline = json.loads(values["pipeline"]) if values["pipeline"] else {}
        found.append(
            Solved(
                values,
                pipeline,
                tuple(selected[run_id]),
                tuple(near[run_id]),
                _curve_of(run_id, pipeline, curves),
                stability.get(values["problem_id"]),
                beliefs.get(run_id),
            )
        )
    return tuple(found)


def _selected(rows: ReportRows) -> dict[int, list[Selected]]:
    carried, proposed = (
        {(run_id, feature_id): tuple(ids) for run_id, feature_id, ids in table.rows}
        for table in (rows.carried, rows.proposed)
    )
    found: dict[int, list[Selected]] = defaultdict(list)
    for run_id, feature_id, _, weight, from_memory, towards in rows.chosen.rows:
        key = run_id, feature_id
        found[run_id].append(
            Selected(
                feature_id,
                weight,
                from_memory,
                towards,
                carried.get(key) or proposed.get(key, ()),
                key in carried,
            )
        )
    return found


Curves = dict[tuple[int, str | None, str | None], list[tuple[int, float, int]]]


def _curves(rows: ReportRows) -> Curves:
    """Return the points of trials by run, selector and learner, and those of sets by run."""
    found: Curves = defaultdict(list)
    for run_id, selector, learner, size, score, n_folds in rows.trials.rows:
        found[run_id, selector, learner].append((size, score, n_folds))
    for run_id, size, fitness in rows.sets.rows:
        found[run_id, None, None].append((size, fitness, 1))
    return found


def _curve_of(run_id: int, pipeline: Mapping[str, Any], curves: Curves) -> Curve | None:
    learner = pipeline.get("learner")
    tried = curves.get((run_id, pipeline.get("selector"), learner), [])
    everything = curves.get((run_id, "all", learner), [])
    if pipeline and tried:
        points = {each[0]: each for each in (*everything, *tried)}
        return Curve("score", tuple(points[size] for size in sorted(points)))
    sets = curves.get((run_id, None, None), [])
    return Curve("fitness", tuple(sets)) if sets else None


def _features(rows: ReportRows) -> tuple[Feature, ...]:
    place = {run_id: at for at, run_id in enumerate(rows.problems.column("run_id"))}
    n_selected = rows.problems.column("n_selected")
    cells: dict[int, list[str]] = {}
    for run_id, feature_id, rank in rows.cells.rows:
        line = cells.setdefault(feature_id, ["."] * len(place))
        at = place[run_id]
        line[at] = "0" if rank is None else _cell(rank, n_selected[at] or 1)
    shown = [
        replace(Feature(*row), cells="".join(cells.get(row[0], ()))) for row in rows.features.rows
    ]
    return (*shown, *(Feature(*each) for each in rows.feature_names.rows))


def _cell(rank: int, n_selected: int) -> str:
    """Return the character of a selected feature: 9 for the first, 1 for the last of many."""
    return str(BEST_CELL - round((BEST_CELL - 1) * (rank - 1) / max(n_selected - 1, BEST_CELL - 1)))
