"""The plots of an experiment along the stream, one for each kind of figure in the paper.

B. Goertzel, N. Geisweiller, C. Poulin, "Meta-learning for feature selection", 2021, figures 1-20.
Captions name the corresponding figures.
"""

from collections.abc import Sequence

from metafs.experiment.arms import COLD
from metafs.experiment.comparing import Speedup
from metafs.experiment.drawing import (
    LOOKS,
    Drawing,
    Rows,
    by_quarters,
    draw,
    label_axes,
    logarithmic,
    panels,
)
from metafs.experiment.memory_figures import (
    against_speedup,
    distance_along,
    features_along,
    seconds_along,
)
from metafs.experiment.result import Experiment
from metafs.experiment.series import QUARTERS, speedups, values
from metafs.experiment.summary import SECONDS
from metafs.page.markup import formatted

STREAM = 3
"""With fewer problems there are no plots along the stream."""


def drawings(experiment: Experiment) -> list[Drawing]:
    """Return every plot for which there are data."""
    arms = experiment.arm_names
    warm = [name for name in arms if name != COLD]
    remembering = [arm.name for arm in experiment.design.arms if arm.remembers and arm.name in arms]
    found = [means(experiment, warm)] if warm else []
    if len({each.index for each in experiment.outcomes}) < STREAM:
        return found
    if warm:
        found.append(speedup_along(experiment, warm))
        found.append(speedup_along(experiment, warm, seconds=True))
    found.append(fitness_along(experiment, arms))
    if any(each.score is not None for each in experiment.outcomes):
        found.append(scores_along(experiment, arms))
    if remembering:
        found.append(features_along(experiment, remembering))
        if any(each.nearest_distance is not None for each in experiment.outcomes):
            found.append(distance_along(experiment, remembering))
            found.append(against_speedup(experiment, remembering, "n_transferred"))
            found.append(against_speedup(experiment, remembering, "nearest_distance"))
        found.append(seconds_along(experiment, remembering))
    return found


def means(experiment: Experiment, arms: Sequence[str]) -> Drawing:
    """Draw the geometric mean speed-ups with their intervals."""
    kinds = {"evaluations, over cold": "speedup", "seconds, over cold": "speedup_seconds"}
    if any(experiment.summaries[name].over_ranked for name in arms):
        kinds["evaluations, over cold-ranked"] = "over_ranked"
    height = 1.5 + 0.4 * len(arms)
    figure, axes = panels(len(kinds), sharey=True, across=len(kinds), height=height)
    by_arm: dict[str, list[Speedup | None]] = {
        name: [getattr(experiment.summaries[name], kind) for kind in kinds.values()]
        for name in arms
    }
    for number, (panel, title) in enumerate(zip(axes, kinds, strict=True)):
        for place, name in enumerate(arms):
            found, colour = by_arm[name][number], LOOKS[name].colour
            if found is not None:
                panel.plot(found.geometric_mean_interval, [place, place], color=colour, linewidth=2)
                panel.plot([found.geometric_mean], [place], "o", color=colour)
        panel.axvline(1, color="black", linewidth=0.8)
        logarithmic(panel.xaxis)
        panel.set_title(title, fontsize=10)
        panel.set_xlabel("times faster")
        panel.set_yticks(range(len(arms)), arms)
        panel.set_ylim(len(arms) - 0.5, -0.5)
    return Drawing(
        "means",
        "Mean speed-up",
        "Geometric mean over problems with 95 % bootstrap intervals; right of the line the arm is "
        "faster. The paper gives such means for its figures 1, 4, 6, 10 and 16, from below 1 to "
        "1.99 in evaluations, all over cold.",
        figure,
        ("arm", *kinds),
        [(name, *(each and each.geometric_mean for each in by_arm[name])) for name in arms],
    )


def speedup_along(experiment: Experiment, arms: Sequence[str], seconds: bool = False) -> Drawing:
    """Draw the speed-up of each problem, in the order of the stream."""
    figure, (panel,) = panels(1)
    found = [speedups(experiment, name, SECONDS if seconds else "evaluations") for name in arms]
    for each in found:
        plain = float(each.value.mean()) if len(each.value) else None
        draw(
            panel,
            each,
            f"{each.label}: geometric {formatted(each.mean())}, arithmetic {formatted(plain)}",
        )
    panel.axhline(1, color="black", linewidth=0.8)
    logarithmic(panel.yaxis)
    label_axes(panel, f"speed-up in {'seconds' if seconds else 'evaluations'}")
    if seconds:
        name, title = "speedup_seconds", "Speed-up in seconds"
        caption = (
            "Seconds of the cold search until its target, divided by all seconds of the arm until "
            "the same target: describing, recalling, expecting, selecting and recording. The "
            "paper's section 4.8 compares the same costs, in its figures 19 and 20."
        )
    else:
        name, title = "speedup", "Speed-up in evaluations"
        caption = (
            "Evaluations of the cold search until its best set, divided by those of the arm until "
            "a set as good; a search that finds none counts with all its evaluations. Corresponds "
            "to figures 1, 4, 6, 7, 10 and 16. A rising line means that a larger memory helps more."
        )
    return Drawing(name, title, caption, figure, ("arm", *QUARTERS), by_quarters(found))


def fitness_along(experiment: Experiment, arms: Sequence[str]) -> Drawing:
    """Draw the fitness of the selected set, in the order of the stream."""
    figure, (panel,) = panels(1)
    found = [values(experiment, name, "fitness") for name in arms]
    for each in found:
        draw(panel, each, f"{each.label}: mean {each.mean():.4f}")
    label_axes(panel, "fitness of the selected set")
    return Drawing(
        "fitness",
        "Feature-selection scores",
        "Fitness with and without memory: it shows whether a speed-up comes with worse sets. Arms "
        "other than cold stop at the first set as good as cold's, or better. Corresponds to "
        "figures 2, 8, 12 and 17.",
        figure,
        ("arm", *QUARTERS),
        by_quarters(found),
    )


def scores_along(experiment: Experiment, arms: Sequence[str]) -> Drawing:
    """Draw the learner's scores, in the order of the stream."""
    kinds = {"nested": "score", "non-nested": "non_nested_score"}
    scorings = {each.scoring for each in experiment.outcomes if each.scoring}
    scoring = scorings.pop().replace("_", " ") if len(scorings) == 1 else "score"
    figure, axes = panels(2, sharey=True)
    rows: Rows = []
    for panel, (kind, of) in zip(axes, kinds.items(), strict=True):
        found = [values(experiment, name, of) for name in arms]
        for each in found:
            mean = each.mean()
            draw(panel, each, f"{each.label}: mean {'unknown' if mean is None else f'{mean:.4f}'}")
        label_axes(panel, f"{kind} {scoring}")
        rows += [(kind, *row) for row in by_quarters(found)]
    return Drawing(
        "scores",
        "Learner's scores",
        "Cross-validated scores of the learner with the selected features. Nested: selection is "
        "repeated inside each fold, without problems of the same source; non-nested: features "
        "are selected once from all rows. Corresponds to figures 3, 9, 13 and 18.",
        figure,
        ("score", "arm", *QUARTERS),
        rows,
    )
