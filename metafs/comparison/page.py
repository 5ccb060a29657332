"""A comparison as one self-contained page: the pipelines, their ranks, and every problem."""

from collections.abc import Mapping
from html import escape
from typing import Any

from metafs.comparison.picture import picture
from metafs.comparison.result import Comparison, Interval
from metafs.data.checks import counted
from metafs.page.markup import Lines, document, heading, soft, table

COLUMNS = (
    "pipeline",
    "nested score",
    "difference from the first",
    "mean rank",
    "features",
    "stability",
    "Jaccard",
    "seconds",
    "without score",
)


def page(comparison: Comparison, title: str, settings: Mapping[str, Any]) -> str:
    """Return the page as HTML."""
    return document(
        title,
        [
            f"<h1>{escape(title)}</h1>",
            f"<p>{escape(in_words(comparison))}</p>",
            *_warnings(comparison),
            heading("pipelines", "Pipelines"),
            soft(
                "Means over problems. Beneath a score and a difference: Student's 95 % interval. "
                "Nested: the selection is repeated inside each fold, and all pipelines have the "
                "same folds. Stability: agreement of the sets selected in the folds of a problem, "
                "by Kuncheva's index (0 for chance) and by Jaccard's."
            ),
            table(COLUMNS, _pipelines(comparison)),
            *_ranks(comparison),
            heading("problems", "Problems"),
            soft("Nested score of each pipeline; beneath it, the number of selected features."),
            table(*_problems(comparison)),
            heading("settings", "Settings"),
            soft("Settings that are not listed have their defaults."),
            table(("setting", "value"), _settings(settings), ("value",)),
        ],
    )


def in_words(comparison: Comparison) -> str:
    """Say in some sentences what was compared and whether the pipelines differ."""
    n_compared = len(comparison.common)
    text = f"{counted(n_compared, 'problem')} of {comparison.n_problems} compared"
    scoring = comparison.scorings[0] if len(comparison.scorings) == 1 else ""
    text += f" by {scoring}." if scoring else "."
    if len(comparison.scorings) > 1:
        scorings = ", ".join(comparison.scorings)
        text += f" They are scored by {scorings}: compare ranks rather than means."
    test = comparison.test
    if test is None:
        return f"{text} Ranks are tested with at least two pipelines on two problems."
    name = {"friedman": "Friedman's test", "wilcoxon": "Wilcoxon's signed-rank test"}[test.test]
    finds = "a difference" if test.differ else "no difference"
    text += f" {name} finds {finds} between pipelines (p = {test.p_value:.2g})."
    if not test.differ:
        return text
    best = min(range(len(test.mean_ranks)), key=lambda place: test.mean_ranks[place])
    text += f" The best mean rank is that of {comparison.compared[best]}"
    if test.test == "wilcoxon":
        return f"{text}."
    equal = next((group[1:] for group in test.groups if group[0] == best), ())
    if equal:
        others = ", ".join(comparison.compared[place] for place in equal)
        return f"{text}; by Nemenyi's test it does not differ from {others}."
    return f"{text}; by Nemenyi's test it differs from all others."


def _warnings(comparison: Comparison) -> list[str]:
    lines = [
        f"{each.solution.problem} has no score by {each.pipeline}, so it is compared for no "
        f"pipeline: {each.reason}"
        if each.pipeline in comparison.compared
        else f"{each.pipeline} is left out, {each.solution.problem}: {each.reason}"
        for each in comparison.failures
    ]
    inside = [f"<p>{escape(each)}</p>" for each in lines]
    return ["<div class='warning'>", *inside, "</div>"] if lines else []


def _pipelines(comparison: Comparison) -> list[tuple[Any, ...]]:
    return [
        (
            name,
            _with_interval(each.mean_score, each.score_interval),
            None
            if [name] == comparison.compared[:1]
            else _with_interval(each.difference, each.difference_interval),
            each.mean_rank,
            each.n_features,
            each.stability,
            each.jaccard,
            each.seconds,
            each.n_failed,
        )
        for name, each in comparison.summaries.items()
    ]


def _settings(settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (name, ", ".join(map(str, value)) if isinstance(value, tuple) else str(value))
        for name, value in settings.items()
        if value is not None and value != ()
    ]


def _with_interval(mean: float | None, interval: Interval | None) -> Any:
    text = None if mean is None else f"{mean:.4f}"
    if text is None or interval is None:
        return text
    return Lines((text, f"{interval[0]:.4f} to {interval[1]:.4f}"))


def _ranks(comparison: Comparison) -> list[str]:
    test = comparison.test
    if test is None:
        return []
    caption = (
        "Mean ranks over problems, 1 for the best. A bar joins pipelines that do not differ by "
        "Nemenyi's test at the level of 5 %. J. Demsar, Statistical comparisons of classifiers "
        "over multiple data sets, JMLR 7, 2006."
    )
    return [
        heading("ranks", "Critical difference"),
        f"<figure><div class='wide'>{picture(comparison.compared, test)}</div>"
        f"<figcaption>{escape(caption)}</figcaption></figure>",
    ]


def _problems(comparison: Comparison) -> tuple[list[str], list[list[Any]]]:
    by_problem: dict[int, dict[str, Any]] = {}
    named: dict[int, str] = {}
    for each in comparison.entries:
        named[each.index] = each.solution.problem
        cell = None
        if each.score is not None:
            n_features = counted(each.solution.n_selected, "feature")
            cell = Lines((f"{each.score:.4f}", n_features))
        by_problem.setdefault(each.index, {})[each.pipeline] = cell
    rows = [
        [named[index], *(cells.get(name) for name in comparison.names)]
        for index, cells in sorted(by_problem.items())
    ]
    return ["problem", *comparison.names], rows
