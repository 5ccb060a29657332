"""The data of a page: columns of numbers, and texts that are safe to show, each said once.

Problems and features are referred to by their place in the lists, repeated texts by their place in
`words`; `reading.js` reads it.
"""

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from metafs.memory import Table
from metafs.page.text import shown
from metafs.report.layout import Place
from metafs.report.records import Report, Selected, Solved
from metafs.version import __version__

MOST_REASONS = 300
"""With more problems than this the sentences about memory's strength are left out."""


NUMBERS = (
    "n_samples",
    "n_features",
    "n_runs",
    "n_failed",
    "n_selected",
    "fitness",
    "score",
    "all_features",
    "no_skill",
    "without_memory",
    "n_evaluations",
    "seconds",
)
"""The columns of a problem that are numbers."""


class Words:
    """Texts that repeat, and the place of each."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._place: dict[str, int] = {}

    def place(self, text: str | None) -> int:
        """Return the place of a text, -1 for none."""
        if text is None:
            return -1
        if text not in self._place:
            self._place[text] = len(self.words)
            self.words.append(shown(text))
        return self._place[text]


def contents(report: Report, places: Mapping[int, Place], source: str) -> dict[str, Any]:
    """Return what the page is drawn from."""
    words = Words()
    ids = [each.values["problem_id"] for each in report.problems]
    others = [key for key in report.other_names if key not in set(ids)]
    at = {key: place for place, key in enumerate([*ids, *others])}
    feature_at = {each.feature_id: place for place, each in enumerate(report.features)}
    reasons = len(ids) <= MOST_REASONS
    problems = {
        name: [_value(each.values[name]) for each in report.problems]
        for name in ("problem_id", *NUMBERS)
    } | {
        name: [words.place(_word(each, name)) for each in report.problems]
        for name in ("space", "target", "selector", "by", "learner", "transfer", "scoring")
    }
    return {
        "version": __version__,
        "source": shown(source),
        "space": None if report.space is None else shown(report.space),
        "made": report.made_at.isoformat(sep=" ", timespec="minutes")[:16],
        "counts": {name: _value(value) for name, value in report.counts.items()},
        "problems": problems
        | {
            "name": [shown(each.values["name"]) for each in report.problems],
            "error": {
                place: shown(each.values["error"], 300)
                for place, each in enumerate(report.problems)
                if each.values["error"]
            },
            "made": [_day(each.values["created_at"]) for each in report.problems],
            "prior": [int(each.values["prior_used"] is not None) for each in report.problems],
            "selected": [
                [_selected(one, feature_at, at, words) for one in each.selected]
                for each in report.problems
            ],
            "near": [
                [v for key, d in each.neighbours for v in (at[key], _value(d))]
                for each in report.problems
            ],
            "curve": [_curve(each) for each in report.problems],
            "stability": [
                _few(each.stability, "selector", "n_resamples", "jensen_shannon", "by_chance")
                for each in report.problems
            ],
            "belief": [
                _few(each.belief, "strength", "gain", *(["reason"] if reasons else []))
                for each in report.problems
            ],
            "place": [places.get(key, 0) for key in ids],
        },
        "others": [shown(report.other_names[key]) for key in others],
        "features": {
            "feature_id": [each.feature_id for each in report.features],
            "name": [shown(each.name) for each in report.features],
            "space": [words.place(each.space) for each in report.features],
            "had": [each.n_problems for each in report.features],
            "selected": [each.n_selected for each in report.features],
            "quality": [_value(each.mean_quality) for each in report.features],
        },
        "cells": [each.cells for each in report.features if each.cells],
        "leaderboard": _rows(report.leaderboard),
        "pipelines": _rows(report.pipelines),
        "gains": [[at[row[0]], *map(_value, row[1:])] for row in report.gains.rows if row[0] in at],
        "losses": _rows(report.losses),
        "words": words.words,
    }


def _word(each: Solved, name: str) -> str | None:
    """Return a text of a problem: of its chosen pipeline, if one was chosen."""
    if name == "by":  # what chose the pipeline
        name = "selector"
    elif name in each.pipeline:
        return str(each.pipeline[name])
    value = each.values[name]
    return None if value is None else str(value)


def _selected(
    one: Selected, feature_at: Mapping[int, int], at: Mapping[int, int], words: Words
) -> list[Any]:
    """Return feature, weight, part from memory, its class, whether carried, and the sources."""
    sources = [at[key] for key in one.sources if key in at]
    from_memory = None if not one.from_memory else _value(one.from_memory, 2)
    known = [_value(one.weight, 3), from_memory, words.place(one.towards), int(one.carried)]
    return [feature_at[one.feature_id], *known, *sources]


def _curve(each: Solved) -> list[Any] | None:
    """Return the kind, then size, value and folds of each point."""
    if each.curve is None:
        return None
    points = [v for size, y, folds in each.curve.points for v in (size, _value(y), folds)]
    return [each.curve.kind, *points]


def _few(record: Mapping[str, Any] | None, *names: str) -> list[Any] | None:
    return None if record is None else [_value(record[name]) for name in names]


def _rows(table: Table) -> list[list[Any]]:
    return [[_value(value) for value in row] for row in table.rows]


def _day(value: Any) -> str | None:
    return value.isoformat(sep=" ", timespec="minutes") if isinstance(value, datetime) else None


def _value(value: Any, digits: int = 4) -> Any:
    """Return a value with few digits; what is not a number is nothing."""
    if isinstance(value, bool) or value is None:
        return None if value is None else int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        short = float(f"{value:.{digits}g}")
        return int(short) if short.is_integer() and abs(short) < 1e15 else short
    return shown(value, 300) if isinstance(value, str) else value
