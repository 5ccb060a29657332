"""An experiment as one self-contained page: what was compared, the plots, and every number."""

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from metafs.data.checks import counted
from metafs.experiment.arm_table import arm_table, in_short
from metafs.experiment.arms import COLD, DESCRIPTIONS
from metafs.experiment.drawing import Drawing, formatted
from metafs.experiment.markup import document, folded, heading, soft, table
from metafs.experiment.result import Experiment, settings_of
from metafs.experiment.summary import column, ratios
from metafs.experiment.why import MOST, Why

WHY_COLUMNS = ("feature", "expected", "proposed by", "score here", "became")
WORDS = ("proposed by", "became", "value", "arm", "features", "distance", "step")
READING = (
    "Along the stream points are single searches, lines running means over a tenth of it, at least "
    "five problems. The paper to whose figures the plots answer is B. Goertzel, N. Geisweiller, "
    "C. Poulin, Meta-learning for feature selection, 2021."
)


def page(experiment: Experiment, drawn: Sequence[Drawing], title: str = "Experiment") -> str:
    """Return the page as HTML; nothing in it is fetched from elsewhere."""
    why = _why(experiment)
    sections = {
        "arms": "Arms",
        **{each.name: each.title for each in drawn},
        "problems": "Problems",
        **({"why": "Why: what memory said"} if why else {}),
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
            "Evaluations until the target, seeds and orders averaged, and beside them the "
            "geometric mean speed-up over cold; * not always reached."
        ),
        table(*_problem_table(experiment)),
        *([heading("why", sections["why"]), *why] if why else []),
        heading("settings", sections["settings"]),
        soft(
            "As in experiment.json. Seeds are told by their numbers; what has no value is default."
        ),
        table(("setting", "value"), _settings(experiment), WORDS),
    ]
    return document(title, parts)


def _introduction(experiment: Experiment) -> str:
    design = experiment.design
    n_used = len({each.index for each in experiment.outcomes})
    return (
        f"{counted(n_used, 'problem')}, {counted(len(design.seed_numbers()), 'seed')}, "
        f"{counted(design.orders, 'order')} of the stream. "
        f"Each problem is searched cold by {design.settings.selector_name}, and the best fitness "
        "found is its target; every arm then searches until the target or until its budget is "
        "spent. Arms that remember begin with an empty memory."
    )


def _warnings(experiment: Experiment) -> list[str]:
    """Return what a reader must know before trusting the means."""
    messages = []
    if not experiment.complete:
        messages.append("The experiment was stopped before its end: later problems are missing.")
    messages += [
        f"{each.problem} failed in arm {each.arm} and counts in none: {each.error}"
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
    """Return a row for each problem, with what each arm needed."""
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
    """Return what memory said of each problem, folded, in the pass that is explained."""
    explained = [(each.problem, each.why) for each in experiment.outcomes if each.why is not None]
    if not explained:
        return []
    arm = next(each.arm for each in experiment.outcomes if each.why is not None)
    return [
        soft(
            f"Arm {arm}, its first seed, in the order of the stream: whom memory asked, the {MOST} "
            "features of which it expected most, and what became of them. Numbers after the names "
            "of problems are their distances. Expected: what memory thought a feature worth. "
            "Proposed by: the neighbour, or the feature's record over all problems, that "
            "added most to this. Score here: what the feature turned out to tell, 1 for the best "
            "of the problem. In no recorded set: in none of the sets that the search wrote down."
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
        soft(f"{why.memory} Asked: {asked}." if asked else why.memory),
        *([table(WHY_COLUMNS, rows, WORDS)] if rows else []),
    )


def _settings(experiment: Experiment) -> list[tuple[str, str | None]]:
    return [(name, _plain(value)) for name, value in settings_of(experiment).items()]


def _plain(value: Any) -> str | None:
    text = ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else value
    return None if text in (None, "", {}) else str(text)
