"""An experiment as one self-contained page: what was compared, the plots, and every number."""

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from metafs.data.checks import counted
from metafs.experiment.arm_table import arm_table, in_short
from metafs.experiment.arms import COLD, DESCRIPTIONS
from metafs.experiment.drawing import Drawing
from metafs.experiment.explanation import MOST, Why
from metafs.experiment.result import Experiment, settings_of
from metafs.experiment.summary import column, ratios
from metafs.page.markup import document, folded, formatted, heading, soft, table

STYLE = """
body { max-width: 62rem; }
figure img { width: 100%; min-width: 40rem; height: auto; }
@media (prefers-color-scheme: dark) { figure img { filter: invert(0.92) hue-rotate(180deg); } }
"""
WHY_COLUMNS = ("feature", "expected", "proposed by", "score here", "outcome")
WORDS = ("proposed by", "outcome", "value", "arm", "features", "distance", "step")
READING = (
    "In plots along the stream, points are single searches and lines are running means over a "
    "tenth of the stream, at least five problems. Captions refer to the figures of B. Goertzel, "
    "N. Geisweiller, C. Poulin, Meta-learning for feature selection, 2021."
)


def page(experiment: Experiment, drawn: Sequence[Drawing], title: str = "Experiment") -> str:
    """Return the page as self-contained HTML."""
    why = _why(experiment)
    sections = {
        "arms": "Arms",
        **{each.name: each.title for each in drawn},
        "problems": "Problems",
        **({"why": "What memory proposed, and why"} if why else {}),
        "settings": "Settings",
    }
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(_introduction(experiment))}</p>",
        *_warnings(experiment),
        *_in_short(experiment),
        _contents(sections),
        heading("arms", sections["arms"]),
        _arms(experiment),
        soft("Beneath each speed-up: its 95 % bootstrap interval over problems."),
        arm_table(experiment),
        *([soft(READING)] if drawn else []),
        *(part for each in drawn for part in _figure(each)),
        heading("problems", sections["problems"]),
        soft(
            "Evaluations until the target, averaged over seeds and orders, and the geometric mean "
            "speed-up over cold; * the target was not always reached."
        ),
        table(*_problem_table(experiment)),
        *([heading("why", sections["why"]), *why] if why else []),
        heading("settings", sections["settings"]),
        soft(
            "As in experiment.json. Seeds are listed one by one; settings without a value have "
            "their default."
        ),
        table(("setting", "value"), _settings(experiment), WORDS),
    ]
    return document(title, parts, STYLE)


def _introduction(experiment: Experiment) -> str:
    design = experiment.design
    n_used = len({each.index for each in experiment.outcomes})
    return (
        f"{counted(n_used, 'problem')}, {counted(len(design.seed_numbers()), 'seed')}, "
        f"{counted(design.orders, 'order')} of the stream. "
        f"Each problem is first searched without memory (cold) by {design.settings.selector_name}; "
        "the best fitness found is its target. Every other arm then searches until it reaches the "
        "target or has spent its budget. Arms with memory begin with an empty memory."
    )


def _warnings(experiment: Experiment) -> list[str]:
    """Return warnings about missing problems."""
    messages = []
    if not experiment.complete:
        messages.append("The experiment was stopped before its end: later problems are missing.")
    messages += [
        f"{each.problem} failed in arm {each.arm} and is left out of all arms: {each.error}"
        for each in experiment.failures
    ]
    inside = [f"<p>{escape(each)}</p>" for each in messages]
    return ["<div class='warning'>", *inside, "</div>"] if messages else []


def _in_short(experiment: Experiment) -> list[str]:
    lines = [in_short(name, arm) for name, arm in experiment.summaries.items() if name != COLD]
    return ["<ul>", *(f"<li>{escape(each)}</li>" for each in lines), "</ul>"] if lines else []


def _contents(sections: dict[str, str]) -> str:
    links = (f"<a href='#{escape(name)}'>{escape(text)}</a>" for name, text in sections.items())
    return f"<nav aria-label='Contents'>{' &middot; '.join(links)}</nav>"


def _arms(experiment: Experiment) -> str:
    items = (
        f"<dt>{name}</dt><dd>{escape(DESCRIPTIONS[name])}</dd>" for name in experiment.arm_names
    )
    return f"<dl>{''.join(items)}</dl>"


def _figure(drawn: Drawing) -> list[str]:
    image = b64encode(drawn.svg).decode()
    return [
        heading(drawn.name, drawn.title),
        "<figure><div class='wide'>"
        f"<img alt='{escape(drawn.alt)}' src='data:image/svg+xml;base64,{image}'></div>",
        f"<figcaption>{escape(drawn.caption)}</figcaption></figure>",
        folded("In numbers", table(drawn.columns, drawn.rows, WORDS)),
    ]


def _problem_table(experiment: Experiment) -> tuple[list[str], list[list[Any]]]:
    """Return a row for each problem, with the evaluations of each arm."""
    arms = experiment.arm_names
    others = [name for name in arms if name != COLD]
    columns = ["problem", "features", COLD]
    columns += [text for name in others for text in (name, "speed-up")]
    rows = []
    n_features_of = {(each.index, each.problem): each.n_features for each in experiment.of(COLD)}
    pairs = {name: experiment.pairs(name) for name in arms}
    for (index, problem), n_features in sorted(n_features_of.items()):
        row: list[Any] = [problem, n_features]
        for name in arms:
            here = [pair for pair in pairs[name] if pair[0].index == index]
            ours = [each for each, _ in here]
            if not ours:
                row += [None] if name == COLD else [None, None]
                continue
            mark = "" if all(each.reached for each in ours) else "*"
            row.append(formatted(float(column(ours, "evaluations").mean())) + mark)
            if name != COLD:
                row.append(float(np.exp(np.log(ratios(here)).mean())))
        rows.append(row)
    return columns, rows


def _why(experiment: Experiment) -> list[str]:
    """Return what memory proposed for each problem, in the pass that is explained."""
    explained = [(each.problem, each.why) for each in experiment.outcomes if each.why is not None]
    if not explained:
        return []
    arm = next(each.arm for each in experiment.outcomes if each.why is not None)
    return [
        soft(
            f"Arm {arm}, first seed, in the order of the stream: the neighbours of each problem, "
            f"the {MOST} features with the highest expectation, and their outcomes. Numbers in "
            "parentheses are distances. Expected: the expectation of memory before the search. "
            "Proposed by: the neighbour, or the selection frequency over all problems, that "
            "contributed most to it. Score here: the score of the feature on this problem, 1 for "
            "the best. In no recorded set: no set that the search recorded had the feature."
        ),
        *(_why_of(problem, why) for problem, why in explained),
    ]


def _why_of(problem: str, why: Why) -> str:
    selected = (
        f"{why.n_survived} of {len(why.proposed)} selected" if why.proposed else "no experience"
    )
    asked = ", ".join(f"{each.problem} ({each.distance:.3f})" for each in why.neighbours)
    rows = [
        (
            each.feature,
            f"{each.expected:.3f}",
            each.by if each.distance is None else f"{each.by} ({each.distance:.3f})",
            None if each.relative is None else f"{each.relative:.3f}",
            each.fate,
        )
        for each in why.proposed
    ]
    return folded(
        f"{problem}: {selected}",
        soft(f"{why.memory} Neighbours: {asked}." if asked else why.memory),
        *([table(WHY_COLUMNS, rows, WORDS)] if rows else []),
    )


def _settings(experiment: Experiment) -> list[tuple[str, str | None]]:
    return [(name, _plain(value)) for name, value in settings_of(experiment).items()]


def _plain(value: Any) -> str | None:
    text = ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else value
    return None if text in (None, "", {}) else str(text)
