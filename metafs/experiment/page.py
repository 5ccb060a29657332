"""An experiment as one self-contained page: what was compared, the plots, and every number."""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from metafs.experiment.arms import COLD
from metafs.experiment.drawing import Drawing, said
from metafs.experiment.result import Experiment, settings_of
from metafs.experiment.summary import ArmSummary, column, ratios
from metafs.experiment.why import MOST, Why

STYLE = """
:root { color-scheme: light dark; --line: #bbb; --soft: #666; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { line-height: 1.2; } h2 { margin-top: 2.5rem; }
table { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.7rem 0.2rem 0; text-align: right; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; }
.wide { overflow-x: auto; }
figure { margin: 0; } figure img { width: 100%; height: auto; }
figcaption, .soft { color: var(--soft); font-size: 0.9rem; }
summary { cursor: pointer; font-size: 0.9rem; }
.warning { border-left: 4px solid #d55e00; padding-left: 0.8rem; }
@media (prefers-color-scheme: dark) {
  :root { --line: #555; --soft: #aaa; }
  figure img { filter: invert(0.92) hue-rotate(180deg); }
}
"""
NOTHING = "&ndash;"
ARM_COLUMNS = (
    "arm",
    "problems",
    "speed-up",
    "95 % interval",
    "arithmetic mean",
    "as published",
    "over cold-ranked",
    "95 % interval",
    "in seconds",
    "95 % interval",
    "targets reached",
    "slower than cold",
    "evaluations",
    "seconds",
    "fitness",
    "score",
    "features",
    "without experience",
)
WHY_COLUMNS = ("feature", "expected", "proposed by", "score here", "became")


def page(experiment: Experiment, drawn: Sequence[Drawing], title: str = "Experiment") -> str:
    """Return the page as HTML; nothing in it is fetched from elsewhere."""
    arms = [_arm_row(name, each) for name, each in experiment.summaries.items()]
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(_told(experiment))}</p>",
        *_warnings(experiment),
        "<h2>Arms</h2>",
        "<p class='soft'>Speed-up: evaluations of the cold search until its best set over those "
        "of the arm until a set as good, geometric mean over problems. As published: over all "
        "evaluations of the cold search, also those it went on to spend. Seconds: describing, "
        "recalling, expecting, selecting and recording.</p>",
        _table(ARM_COLUMNS, arms),
        *(part for each in drawn for part in _figure(each)),
        "<h2>Problems</h2>",
        "<p class='soft'>Evaluations until the target, seeds and orders averaged, and the "
        "geometric mean speed-up; * not always reached.</p>",
        _table(*_problem_table(experiment)),
        *_why(experiment),
        "<h2>Settings</h2>",
        _table(("setting", "value"), _settings(experiment)),
    ]
    return (
        "<!doctype html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


def _told(experiment: Experiment) -> str:
    design = experiment.design
    n_used = len({each.index for each in experiment.outcomes})
    return (
        f"{n_used} problems, {len(design.seed_numbers())} seed(s), {design.orders} order(s) of the "
        f"stream. Each problem is searched cold by {design.settings.selector_name}, and the best "
        "fitness found is its target; every arm then searches until the target or until its "
        "budget is spent. Arms that remember begin with an empty memory."
    )


def _warnings(experiment: Experiment) -> list[str]:
    """Return what a reader must know before trusting the means."""
    told = []
    if not experiment.complete:
        told.append("The experiment was stopped before its end: later problems are missing.")
    told += [
        f"{each.problem} failed in arm {each.arm} and counts in none: {each.error}"
        for each in experiment.failures
    ]
    return [f"<p class='warning'>{escape(each)}</p>" for each in told]


def _figure(drawn: Drawing) -> list[str]:
    image = b64encode(drawn.svg).decode()
    return [
        f"<h2 id='{escape(drawn.name)}'>{escape(drawn.title)}</h2>",
        f"<figure><img alt='{escape(drawn.alt)}' src='data:image/svg+xml;base64,{image}'>",
        f"<figcaption>{escape(drawn.caption)}</figcaption></figure>",
        "<details><summary>The same as a table</summary>",
        _table(drawn.columns, drawn.rows),
        "</details>",
    ]


def _table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in columns)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>" for row in rows
    )
    return (
        f"<div class='wide'><table>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def _cell(value: Any) -> str:
    return NOTHING if value is None else escape(said(value))


def _arm_row(name: str, arm: ArmSummary) -> tuple[Any, ...]:
    means, ranked = arm.means, arm.over_ranked
    return (
        name,
        arm.problems,
        arm.speedup.geometric_mean,
        _interval(arm.speedup.geometric_mean_interval),
        arm.speedup.arithmetic_mean,
        arm.as_published,
        ranked and ranked.geometric_mean,
        ranked and _interval(ranked.geometric_mean_interval),
        arm.speedup_seconds.geometric_mean,
        _interval(arm.speedup_seconds.geometric_mean_interval),
        f"{means['reached']:.0%}",
        f"{arm.speedup.negative_transfer:.0%}",
        means["mean_evaluations"],
        means["seconds"],
        _four(means["mean_fitness"]),
        _four(means["mean_score"]),
        means["mean_selected"],
        f"{arm.without_experience:.0%}",
    )


def _four(value: float | None) -> str | None:
    return None if value is None else f"{value:.4f}"


def _interval(ends: tuple[float, float]) -> str:
    return f"{said(ends[0])} to {said(ends[1])}"


def _problem_table(experiment: Experiment) -> tuple[list[str], list[list[Any]]]:
    """Return a row for each problem, with what each arm needed."""
    arms = experiment.arm_names
    others = [name for name in arms if name != COLD]
    columns = ["problem", "features", COLD]
    columns += [text for name in others for text in (name, "speed-up")]
    rows = []
    told = {(each.index, each.problem): each.n_features for each in experiment.of(COLD)}
    pairs = {name: experiment.pairs(name) for name in arms}
    for (index, problem), n_features in sorted(told.items()):
        row: list[Any] = [problem, n_features]
        for name in arms:
            here = [pair for pair in pairs[name] if pair[0].index == index]
            ours = [each for each, _ in here]
            if not ours:
                row += [None] if name == COLD else [None, None]
                continue
            mark = "" if all(each.reached for each in ours) else "*"
            row.append(said(float(column(ours, "evaluations").mean())) + mark)
            if name != COLD:
                row.append(float(np.exp(np.log(ratios(here)).mean())))
        rows.append(row)
    return columns, rows


def _why(experiment: Experiment) -> list[str]:
    """Return what memory said of each problem, folded, in the pass that is explained."""
    told = [(each.problem, each.why) for each in experiment.outcomes if each.why is not None]
    if not told:
        return []
    arm = next(each.arm for each in experiment.outcomes if each.why is not None)
    return [
        "<h2 id='why'>Why: what memory said</h2>",
        f"<p class='soft'>Arm {escape(arm)}, its first seed, in the order of the stream: whom "
        f"memory asked, the {MOST} features of which it expected most, and what became of them. "
        "Proposed by: the neighbour, or the feature's record over all problems, that added most "
        "to the expectation.</p>",
        *(part for problem, why in told for part in _why_of(problem, why)),
    ]


def _why_of(problem: str, why: Why) -> list[str]:
    survived = f": {why.n_survived} of {len(why.proposed)} survived" if why.proposed else ""
    asked = ", ".join(f"{each.problem} ({each.distance:.3f})" for each in why.neighbours)
    rows = [
        (
            each.feature,
            each.expected,
            each.by if each.distance is None else f"{each.by} ({each.distance:.3f})",
            each.relative,
            each.fate,
        )
        for each in why.proposed
    ]
    return [
        f"<details><summary>{escape(problem + survived)}</summary>",
        f"<p class='soft'>{escape(why.memory)} {escape(asked)}</p>",
        *([_table(WHY_COLUMNS, rows)] if rows else []),
        "</details>",
    ]


def _settings(experiment: Experiment) -> list[tuple[str, str | None]]:
    return [(name, _plain(value)) for name, value in settings_of(experiment).items()]


def _plain(value: Any) -> str | None:
    told = ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else value
    return None if told in (None, "", {}) else str(told)
