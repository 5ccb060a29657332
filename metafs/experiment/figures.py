"""The plots of an experiment, in kind those of the paper: each arm along the stream.

B. Goertzel, N. Geisweiller, C. Poulin, "Meta-learning for feature selection", 2021, figures 1-20.
Captions say which of them a plot answers to. Points are single searches, lines running means.
"""

from collections.abc import Sequence

import numpy as np

from metafs.experiment.arms import COLD, RANKED
from metafs.experiment.drawing import (
    COLOURS,
    CROWDED,
    OTHER_COLOURS,
    Drawing,
    Rows,
    arm_colour,
    by_quarters,
    draw,
    label_axes,
    logarithmic,
    panels,
    said,
)
from metafs.experiment.result import Experiment
from metafs.experiment.series import (
    QUARTERS,
    in_pairs,
    phases,
    speedups,
    values,
)
from metafs.experiment.summary import SECONDS, column, ratios
from metafs.quality_map import correlation

REST = ("describe", "expect", "record")


def drawings(experiment: Experiment) -> list[Drawing]:
    """Return every plot for which there is something to show."""
    arms = experiment.arm_names
    warm = [name for name in arms if name != COLD]
    remembering = [arm.name for arm in experiment.design.arms if arm.remembers and arm.name in arms]
    found = [means(experiment, warm)] if warm else []
    if warm:
        found.append(speedup_along(experiment, warm))
        found.append(speedup_along(experiment, warm, seconds=True))
    found.append(fitness_along(experiment, arms))
    if experiment.design.learning:
        found.append(scores_along(experiment, arms))
    if remembering:
        found.append(features_along(experiment, remembering))
        found.append(distance_along(experiment, remembering))
        found.append(against_speedup(experiment, remembering, "n_transferred"))
        found.append(against_speedup(experiment, remembering, "nearest_distance"))
        found.append(seconds_along(experiment, remembering))
    return found


def means(experiment: Experiment, arms: Sequence[str]) -> Drawing:
    """Draw the geometric mean speed-ups with their intervals."""
    kinds = {"evaluations, over cold": "speedup", "seconds, over cold": "speedup_seconds"}
    if RANKED in arms:
        kinds["evaluations, over cold-ranked"] = "over_ranked"
    figure, axes = panels(len(kinds), sharey=True, width=3.4, height=1.2 + 0.4 * len(arms))
    rows: Rows = []
    for panel, (title, kind) in zip(axes, kinds.items(), strict=True):
        for place, name in enumerate(arms):
            found = getattr(experiment.summaries[name], kind)
            if found is not None:
                low, high = found.geometric_mean_interval
                panel.plot([low, high], [place, place], color=arm_colour(name), linewidth=2)
                panel.plot([found.geometric_mean], [place], "o", color=arm_colour(name))
        logarithmic(panel.xaxis)
        panel.axvline(1, color="black", linewidth=0.8)
        panel.set_title(title, fontsize=10)
        panel.set_yticks(range(len(arms)), arms)
        panel.set_ylim(len(arms) - 0.5, -0.5)
    for name in arms:
        arm = experiment.summaries[name]
        ranked = arm.over_ranked
        rows.append(
            (
                name,
                arm.speedup.geometric_mean,
                arm.speedup.arithmetic_mean,
                None if ranked is None else ranked.geometric_mean,
                arm.speedup_seconds.geometric_mean,
            )
        )
    return Drawing(
        "means",
        "Mean speed-up",
        "Geometric mean over problems with 95 % bootstrap intervals; right of the line the arm is "
        "faster. The paper gives such means for its figures 1, 4, 6, 10 and 16, from below 1 to "
        "1.99 in evaluations, all over cold.",
        figure,
        ("arm", "geometric mean", "arithmetic mean", "over cold-ranked", "in seconds"),
        rows,
    )


def speedup_along(experiment: Experiment, arms: Sequence[str], seconds: bool = False) -> Drawing:
    """Draw the speed-up of each problem, in the order of the stream."""
    figure, (panel,) = panels(1)
    found = [speedups(experiment, name, SECONDS if seconds else "evaluations") for name in arms]
    for each in found:
        plain = float(each.value.mean()) if len(each.value) else np.nan
        draw(panel, each, f"{each.label}: geometric {each.mean():.2f}, arithmetic {plain:.2f}")
    logarithmic(panel.yaxis)
    panel.axhline(1, color="black", linewidth=0.8)
    label_axes(panel, f"speed-up in {'seconds' if seconds else 'evaluations'}")
    if seconds:
        name, title = "speedup_seconds", "Speed-up in seconds"
        caption = (
            "Seconds of the cold search until its target over all seconds of the arm until the "
            "same: describing, recalling, expecting, selecting and recording. The paper's section "
            "4.8 weighs the same costs, in its figures 19 and 20."
        )
    else:
        name, title = "speedup", "Speed-up in evaluations"
        caption = (
            "Evaluations of the cold search until its best set over those of the arm until a set "
            "as good; a search that never gets there is charged all it spent. Answers to figures "
            "1, 4, 6, 7, 10 and 16: does the line rise while memory grows?"
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
        "Fitness with and without memory; a speed-up bought with worse sets would show here. Arms "
        "other than cold stop at cold's fitness. Answers to figures 2, 8, 12 and 17.",
        figure,
        ("arm", *QUARTERS),
        by_quarters(found),
    )


def scores_along(experiment: Experiment, arms: Sequence[str]) -> Drawing:
    """Draw the learner's scores, in the order of the stream."""
    kinds = {"honest": "score", "optimistic": "optimistic_score"}
    figure, axes = panels(2, sharey=True)
    rows: Rows = []
    for panel, (kind, of) in zip(axes, kinds.items(), strict=True):
        found = [values(experiment, name, of) for name in arms]
        for each in found:
            mean = each.mean()
            draw(panel, each, f"{each.label}: mean {'unknown' if mean is None else f'{mean:.4f}'}")
        label_axes(panel, f"{kind} score")
        rows += [(kind, *row) for row in by_quarters(found)]
    return Drawing(
        "scores",
        "Learner's scores",
        "Cross-validated scores of the learner with the selected features. Honest: selection made "
        "inside the folds, where problems of the same source are not asked; optimistic: with the "
        "set selected from all rows. Answers to figures 3, 9, 13 and 18.",
        figure,
        ("score", "arm", *QUARTERS),
        rows,
    )


def features_along(experiment: Experiment, arms: Sequence[str]) -> Drawing:
    """Draw how many features are selected, transferred and both."""
    figure, axes = panels(len(arms))
    rows: Rows = []
    for panel, name in zip(axes, arms, strict=True):
        found = [
            values(experiment, COLD, "n_selected", "selected, cold"),
            values(experiment, name, "n_selected", f"selected, {name}"),
            values(experiment, name, "n_transferred", "transferred"),
            values(experiment, name, "n_common", "in common"),
        ]
        colours = (COLOURS[COLD], arm_colour(name), OTHER_COLOURS[1], OTHER_COLOURS[2])
        for each, colour in zip(found, colours, strict=True):
            draw(panel, each, f"{each.label}: mean {each.mean():.1f}", colour)
        panel.set_title(name, fontsize=10)
        label_axes(panel, "features")
        rows += [(name, *row) for row in by_quarters(found)]
    return Drawing(
        "features",
        "Number of features",
        "Features selected without and with memory, features that memory proposed, and those of "
        "them that were selected. Answers to figure 5.",
        figure,
        ("arm", "features", *QUARTERS),
        rows,
    )


def distance_along(experiment: Experiment, arms: Sequence[str]) -> Drawing:
    """Draw how near the recalled problems lie."""
    figure, axes = panels(len(arms), sharey=True)
    rows: Rows = []
    for panel, name in zip(axes, arms, strict=True):
        found = [
            values(experiment, name, "nearest_distance", "nearest"),
            values(experiment, name, "mean_distance", "mean of all asked"),
        ]
        for each, colour in zip(found, (arm_colour(name), OTHER_COLOURS[0]), strict=True):
            draw(panel, each, each.label, colour)
        panel.set_title(name, fontsize=10)
        label_axes(panel, f"distance ({experiment.design.settings.distance})")
        rows += [(name, *row) for row in by_quarters(found)]
    return Drawing(
        "distance",
        "Distance to the nearest problems",
        "As memory grows, nearer problems should be found. Answers to figure 11, whose distances "
        "rarely fall below 0.9.",
        figure,
        ("arm", "distance", *QUARTERS),
        rows,
    )


def against_speedup(experiment: Experiment, arms: Sequence[str], of: str) -> Drawing:
    """Draw the speed-up against the number of features transferred, or against nearness."""
    inverse = of == "nearest_distance"
    figure, axes = panels(len(arms), sharey=True)
    rows: Rows = []
    label = "1 / distance to the nearest problem" if inverse else "features transferred"
    for panel, name in zip(axes, arms, strict=True):
        pairs = in_pairs(experiment, name)
        ratio, x = ratios(pairs), column([each for each, _ in pairs], of)
        known = x > 0 if inverse else ~np.isnan(x)
        x, ratio = (1 / x[known] if inverse else x[known]), ratio[known]
        plain, logs = (
            float(correlation(x, each)) if len(x) > 1 else None for each in (ratio, np.log(ratio))
        )
        panel.scatter(
            x, ratio, s=10, alpha=0.5, color=arm_colour(name), rasterized=len(x) > CROWDED
        )
        logarithmic(panel.yaxis)
        panel.axhline(1, color="black", linewidth=0.8)
        panel.set_title(f"{name}: Pearson {said(plain)}", fontsize=10)
        panel.set_xlabel(label)
        panel.set_ylabel("speed-up in evaluations")
        rows.append((name, plain, logs, len(x)))
    told = (
        (
            "inverse_distance_speedup",
            "Nearness against speed-up",
            "Does a near problem help more? Answers to figure 15, with a correlation of 0.02.",
        )
        if inverse
        else (
            "transferred_speedup",
            "Features transferred against speed-up",
            "Do more proposals help more? Answers to figure 14, with a correlation of 0.14.",
        )
    )
    columns = ("arm", "correlation", "correlation with its logarithm", "searches")
    return Drawing(*told, figure, columns, rows)


def seconds_along(experiment: Experiment, arms: Sequence[str]) -> Drawing:
    """Draw what memory costs, beside selection with and without it."""
    figure, axes = panels(len(arms), sharey=True)
    rows: Rows = []
    for panel, name in zip(axes, arms, strict=True):
        found = [
            phases(experiment, COLD, ["select"], "selection, cold"),
            phases(experiment, name, ["select"], f"selection, {name}"),
            phases(experiment, name, ["recall"], "recall"),
            phases(experiment, name, REST, "describe, expect, record"),
        ]
        colours = (COLOURS[COLD], arm_colour(name), OTHER_COLOURS[1], OTHER_COLOURS[2])
        for each, colour in zip(found, colours, strict=True):
            draw(panel, each, f"{each.label}: mean {each.mean():.3g}", colour)
        logarithmic(panel.yaxis)
        panel.set_title(name, fontsize=10)
        label_axes(panel, "seconds until the target", ncols=1)
        rows += [(name, *row) for row in by_quarters(found)]
    return Drawing(
        "seconds",
        "What memory costs",
        "Seconds of recall and of the other steps that memory needs, beside those of selection "
        "with and without it. Answers to figures 19 and 20, where the search for neighbours took "
        "longer than selection unless divided by 40; nothing is divided here.",
        figure,
        ("arm", "step", *QUARTERS),
        rows,
    )
