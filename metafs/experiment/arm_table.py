"""A table of the arms: every number of an arm's summary with its meaning, and a short text."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from metafs.experiment.arms import COLD, RANKED
from metafs.experiment.comparing import Speedup
from metafs.experiment.result import Experiment
from metafs.experiment.summary import ArmSummary
from metafs.page.markup import Lines, formatted, table


@dataclass(frozen=True)
class Measure:
    """A row of the table: one number of each arm."""

    name: str
    meaning: str
    of: Callable[[ArmSummary], Any]


def _mean(name: str, digits: str | None = None) -> Callable[[ArmSummary], Any]:
    def of(arm: ArmSummary) -> Any:
        value = arm.means[name]
        return value if value is None or digits is None else format(value, digits)

    return of


def _speedup(found: Speedup | None) -> Lines | None:
    if found is None:
        return None
    return Lines((found.geometric_mean, " to ".join(map(formatted, found.geometric_mean_interval))))


SETS = ("about as many sets as", "times fewer sets than", "times more sets than")
TIME = ("about as long as", "times less time than", "times as long as")
MEASURES = (
    Measure("problems", "compared", lambda arm: arm.problems),
    Measure(
        "speed-up",
        "evaluations of cold until its best set, over those of the arm until a set as good; "
        "geometric mean over problems",
        lambda arm: _speedup(arm.speedup),
    ),
    Measure(
        "over cold-ranked",
        "the same over cold-ranked: above 1, memory adds to the univariate relevance of features",
        lambda arm: _speedup(arm.over_ranked),
    ),
    Measure(
        "in seconds",
        "the speed-up over cold in seconds: describing, recalling, expecting, selecting, recording",
        lambda arm: _speedup(arm.speedup_seconds),
    ),
    Measure(
        "arithmetic mean",
        "of the speed-up in evaluations; a few lucky problems can carry it",
        lambda arm: arm.speedup.arithmetic_mean,
    ),
    Measure(
        "as published",
        "the speed-up with all evaluations of cold, also those after its best set",
        lambda arm: arm.as_published,
    ),
    Measure(
        "reached",
        "searches that found a set as good as cold's; the others count with all their evaluations",
        _mean("reached", ".0%"),
    ),
    Measure(
        "slower",
        "searches that needed more evaluations than cold",
        lambda arm: f"{arm.speedup.negative_transfer:.0%}",
    ),
    Measure("evaluations", "sets tried until the target, mean", _mean("mean_evaluations")),
    Measure("seconds", "until the target, mean", _mean("seconds")),
    Measure("fitness", "of the selected set; what is searched for", _mean("mean_fitness", ".4f")),
    Measure("score", "of the learner, cross-validated", _mean("mean_score", ".4f")),
    Measure("features", "selected, mean", _mean("mean_selected")),
    Measure(
        "without experience",
        "searches without relevant experience, or with experience too doubtful to use",
        lambda arm: f"{arm.without_experience:.0%}",
    ),
)


def arm_table(experiment: Experiment) -> str:
    """Return a row for each measure that any arm has, and a column for each arm."""
    arms = experiment.summaries
    found = ((each, [each.of(arm) for arm in arms.values()]) for each in MEASURES)
    rows = [
        (Lines((each.name, each.meaning)), *values)
        for each, values in found
        if any(value is not None for value in values)
    ]
    return table(("", *arms), rows)


def in_short(name: str, arm: ArmSummary) -> str:
    """Summarise an arm in two sentences; an interval that contains 1 is no difference."""
    sets = [_times(arm.speedup, SETS, COLD)]
    if arm.over_ranked is not None:
        sets.append(_times(arm.over_ranked, SETS, RANKED))
    return (
        f"{name} tried {' and '.join(sets)}, and took {_times(arm.speedup_seconds, TIME, COLD)}. "
        f"It found a set as good as that of {COLD} in {arm.means['reached']:.0%} of its searches."
    )


def _times(found: Speedup, words: tuple[str, str, str], baseline: str) -> str:
    same, faster, slower = words
    low, high = found.geometric_mean_interval
    if low <= 1 <= high:
        return f"{same} {baseline}"
    if low > 1:
        return f"{formatted(found.geometric_mean)} {faster} {baseline}"
    return f"{formatted(1 / found.geometric_mean)} {slower} {baseline}"
