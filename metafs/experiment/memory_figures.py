"""The plots of memory along the stream: its proposals, its neighbours and its cost.

B. Goertzel, N. Geisweiller, C. Poulin, "Meta-learning for feature selection", 2021, figures 5, 11,
14, 15, 19 and 20.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from metafs.experiment.arms import COLD
from metafs.experiment.drawing import (
    CROWDED,
    LOOKS,
    OTHER_LOOKS,
    Drawing,
    Rows,
    by_quarters,
    draw,
    label_axes,
    logarithmic,
    panels,
    whole_numbers,
)
from metafs.experiment.result import Experiment
from metafs.experiment.series import QUARTERS, Series, in_pairs, phases, values
from metafs.experiment.summary import column, ratios
from metafs.page.markup import formatted
from metafs.stats.quality_map import correlation

REST = ("describe", "expect", "record")


def features_along(experiment: Experiment, arms: Sequence[str]) -> Drawing:
    """Draw how many features are selected, transferred and both."""

    def lines(name: str) -> list[Series]:
        return [
            values(experiment, COLD, "n_selected", "selected, cold"),
            values(experiment, name, "n_selected", f"selected, {name}"),
            values(experiment, name, "n_transferred", "transferred"),
            values(experiment, name, "n_common", "in common"),
        ]

    figure, axes = panels(len(arms))
    rows = _arm_by_arm(axes, arms, lines)
    for panel in axes:
        whole_numbers(panel.yaxis)
        label_axes(panel, "features")
    return Drawing(
        "features",
        "Number of features",
        "Features selected without and with memory, features that memory proposed, and those of "
        "them that were selected. Corresponds to figure 5.",
        figure,
        ("arm", "features", *QUARTERS),
        rows,
    )


def distance_along(experiment: Experiment, arms: Sequence[str]) -> Drawing:
    """Draw how near the recalled problems lie."""

    def lines(name: str) -> list[Series]:
        return [
            values(experiment, name, "nearest_distance", "nearest"),
            values(experiment, name, "mean_distance", "mean of all neighbours"),
        ]

    figure, axes = panels(len(arms), sharey=True)
    rows = _arm_by_arm(axes, arms, lines, with_cold=False)
    for panel in axes:
        label_axes(panel, f"distance ({experiment.design.settings.distance})")
    return Drawing(
        "distance",
        "Distance to the nearest problems",
        "As memory grows, nearer problems should be found: 0 is the same problem, 1 has nothing in "
        "common. Arms with the same neighbours have the same distances. Corresponds to figure 11, "
        "whose distances rarely fall below 0.9.",
        figure,
        ("arm", "distance", *QUARTERS),
        rows,
    )


def seconds_along(experiment: Experiment, arms: Sequence[str]) -> Drawing:
    """Draw the seconds of memory next to those of selection with and without it."""

    def lines(name: str) -> list[Series]:
        return [
            phases(experiment, COLD, ["select"], "selection, cold"),
            phases(experiment, name, ["select"], f"selection, {name}"),
            phases(experiment, name, ["recall"], "recall"),
            phases(experiment, name, REST, "describe, expect, record"),
        ]

    figure, axes = panels(len(arms), sharey=True)
    rows = _arm_by_arm(axes, arms, lines)
    for panel in axes:
        logarithmic(panel.yaxis)
        label_axes(panel, "seconds until the target", ncols=1)
    return Drawing(
        "seconds",
        "What memory costs",
        "Seconds of recall and of the other steps that memory needs, next to those of selection "
        "with and without it. Corresponds to figures 19 and 20, where the search for neighbours "
        "took longer than selection unless divided by 40; nothing is divided here.",
        figure,
        ("arm", "step", *QUARTERS),
        rows,
    )


def _arm_by_arm(
    axes: Sequence[Any],
    arms: Sequence[str],
    lines: Callable[[str], list[Series]],
    *,
    with_cold: bool = True,
) -> Rows:
    """Draw the lines of each arm in its own panel, and return them by quarters.

    With cold, the first line is cold's, and labels show means.
    """
    rows: Rows = []
    for panel, name in zip(axes, arms, strict=True):
        found, looks = lines(name), [LOOKS[name], *OTHER_LOOKS]
        if with_cold:
            looks.insert(0, LOOKS[COLD])
        for each, how in zip(found, looks, strict=False):
            mean = f": mean {formatted(each.mean())}" if with_cold else ""
            draw(panel, each, each.label + mean, how)
        panel.set_title(name, fontsize=10)
        rows += [(name, *row) for row in by_quarters(found)]
    return rows


def against_speedup(experiment: Experiment, arms: Sequence[str], of: str) -> Drawing:
    """Draw the speed-up against the number of features transferred, or against nearness."""
    inverse = of == "nearest_distance"
    figure, axes = panels(len(arms))
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
            x, ratio, s=10, alpha=0.5, color=LOOKS[name].colour, rasterized=len(x) > CROWDED
        )
        panel.axhline(1, color="black", linewidth=0.8)
        logarithmic(panel.yaxis)
        panel.set_title(f"{name}: Pearson's correlation {formatted(plain)}", fontsize=10)
        if not inverse:
            whole_numbers(panel.xaxis)
        panel.set_xlabel(label)
        panel.set_ylabel("speed-up in evaluations")
        rows.append((name, plain, logs, len(x)))
    texts = (
        (
            "inverse_distance_speedup",
            "Nearness against speed-up",
            "Whether nearer problems help more; points to the right are nearer. Corresponds to "
            "figure 15, with a correlation of 0.02.",
        )
        if inverse
        else (
            "transferred_speedup",
            "Features transferred against speed-up",
            "Whether more proposals help more; an arm that always proposes the same number cannot "
            "show it. Corresponds to figure 14, with a correlation of 0.14.",
        )
    )
    columns = ("arm", "correlation", "correlation with its logarithm", "searches")
    return Drawing(*texts, figure, columns, rows)
