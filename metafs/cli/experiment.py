"""`metafs experiment`: what memory saves on a stream, against the same search without it."""

import warnings
from collections.abc import Generator, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import click

from metafs.cli.app import INTERRUPTED, Sentences
from metafs.cli.options import (
    budget_option,
    json_option,
    keep_option,
    learner_options,
    memory_options,
    no_plugin_option,
    prefilter_option,
    preset_option,
    problem_options,
    read_options,
    seed_option,
    selector_options,
    with_preset,
)
from metafs.cli.output import echo_line, echo_message, echo_table, to_json
from metafs.data.parameters import named_value
from metafs.data.printable import one_line
from metafs.data.readers import sources
from metafs.experiment.arms import DEFAULT, arms_named, known_arms
from metafs.experiment.design import Design
from metafs.experiment.drawing import require_matplotlib
from metafs.experiment.figures import drawings
from metafs.experiment.outcome import Failed, Outcome
from metafs.experiment.page import page
from metafs.experiment.result import Experiment
from metafs.experiment.running import run
from metafs.experiment.summary import ArmSummary
from metafs.pipeline.display.progress import Progress, format_seconds
from metafs.pipeline.settings import Settings
from metafs.plugin.registry import Registry

SETTINGS = (
    "selector",
    "learner",
    "scoring",
    "folds",
    "distance",
    "project",
    "whole_below",
    "regressor",
    "neighbours",
    "threshold",
    "c",
    "quality",
    "prefilter",
    "budget",
    "seed",
    "keep",
)
"""Options that are settings of every arm, under the same names."""
RESULT, PAGE, OUTCOMES = "experiment.json", "page.html", "outcomes.jsonl"
COLUMNS = (
    "arm",
    "problems",
    "speed-up",
    "95 % interval",
    "mean",
    "in seconds",
    "over ranked",
    "reached",
    "slower",
    "tried",
    "fitness",
    "score",
)


@click.command(cls=Sentences)
@problem_options
@click.option(
    "--arm",
    multiple=True,
    metavar="NAME",
    help=f"What to compare with cold: {', '.join(known_arms())}; repeatable.  "
    f"[default: {', '.join(DEFAULT)}]",
)
@click.option("--seeds", default=1, show_default=True, metavar="N", help="Repetitions by seed.")
@click.option(
    "--orders",
    default=1,
    show_default=True,
    metavar="N",
    help="Orders of the stream: its own, then shuffles.",
)
@selector_options
@budget_option
@learner_options
@click.option("--no-learn", is_flag=True, help="Score no learner, which takes most of the time.")
@memory_options
@prefilter_option
@preset_option
@keep_option
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default="experiment",
    show_default=True,
    metavar="FOLDER",
    help="Where the page, its figures and experiment.json go.",
)
@click.option("--no-page", is_flag=True, help="Draw nothing; needs no matplotlib.")
@click.option("--jobs", default=1, show_default=True, metavar="J", help="Processes.")
@seed_option
@no_plugin_option
@json_option
@click.pass_context
def experiment(ctx: click.Context, /, source: tuple[str, ...], **options: Any) -> None:
    """Measure what memory saves on the problems of SOURCE...

    Every problem is first searched without memory (cold), and the best fitness found is its
    target. Then each arm goes through the stream and searches until it reaches the target or has
    spent the budget. The speed-up is the cost of cold until the target divided by that of the
    arm. Arms: cold starts from the empty set, cold-ranked tries features by univariate relevance,
    paper starts from the features that similar problems selected, guided tries features by
    priority. Each arm has its own temporary MetaDB; yours is not changed. With --no-learn the
    quality of features is their relevance instead of the learner's gain, unless --quality is
    selector, so paper may start from other features. Any selector that takes a prior can be
    compared; one that reports no fitness is judged by the learner's score.

    Example: metafs experiment demo:digits -o digits
    """
    options = with_preset(ctx, options)
    registry = Registry(disabled=options["no_plugin"])
    params = dict(named_value(text) for text in options["param"])
    design = Design(
        arms_named(options["arm"]),
        seeds=options["seeds"],
        orders=options["orders"],
        learning=not options["no_learn"],
        settings=Settings(params=params, **{name: options[name] for name in SETTINGS}),
    )
    read = read_options(options, options["keep"])
    if not options["no_page"]:
        require_matplotlib()
    stream = sources(source, read)
    outcomes = run(stream, design, registry, options["jobs"])
    folder, debug, started = options["output"], ctx.meta["metafs.debug"], monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    for name in (RESULT, PAGE):  # of an earlier experiment, which this one replaces
        (folder / name).unlink(missing_ok=True)
    with warnings.catch_warnings():
        if not debug:  # warnings of learners, about convergence for example
            warnings.simplefilter("ignore")
        done, stopped = _drain(outcomes, design.n_outcomes(len(stream)), folder)
    found = Experiment(
        design,
        len(stream),
        [each for each in done if isinstance(each, Outcome)],
        [each for each in done if isinstance(each, Failed)],
    )
    document = to_json(found.as_json())
    if options["as_json"]:
        echo_line(document)
    else:
        echo_table(COLUMNS, [_row(name, each) for name, each in found.summaries.items()])
    (folder / RESULT).write_text(document + "\n", encoding="utf8")
    if found.outcomes and not options["no_page"]:
        _write_page(found, folder, f"What memory saves on {' '.join(source)}")
    _report(found, folder, monotonic() - started, stopped, debug)
    if stopped:
        ctx.exit(INTERRUPTED)
    ctx.exit(1 if found.failures else 0)


def _drain(
    outcomes: Generator[Outcome | Failed, None, None], total: int, folder: Path
) -> tuple[list[Outcome | Failed], bool]:
    """Collect outcomes, write each at once, and return whether the run was interrupted."""
    progress = Progress(total)
    done: list[Outcome | Failed] = []
    with (folder / OUTCOMES).open("w", 1, encoding="utf8") as lines:
        try:
            for each in outcomes:
                done.append(each)
                progress.working_on(f"{each.arm}: {each.problem}")
                progress.done()
                if isinstance(each, Outcome):
                    lines.write(to_json(each.as_json()) + "\n")
            return done, False
        except KeyboardInterrupt:
            outcomes.close()  # here, where joblib's messages about cancelled work are not shown
            return done, True
        finally:
            progress.clear()


def _write_page(found: Experiment, folder: Path, title: str) -> None:
    """Draw everything, as files and in one page."""
    drawn = drawings(found)
    figures = folder / "figures"
    figures.mkdir(exist_ok=True)
    for each in drawn:
        (figures / f"{each.name}.svg").write_bytes(each.svg)
        (figures / f"{each.name}.png").write_bytes(each.png)
    (folder / PAGE).write_text(page(found, drawn, title), encoding="utf8")


def _row(name: str, arm: ArmSummary) -> Sequence[Any]:
    """Return a row of the printed table."""
    low, high = arm.speedup.geometric_mean_interval
    return (
        name,
        arm.problems,
        _digits(arm.speedup.geometric_mean),
        f"{low:.2f} to {high:.2f}",
        _digits(arm.speedup.arithmetic_mean),
        _digits(arm.speedup_seconds.geometric_mean),
        None if arm.over_ranked is None else _digits(arm.over_ranked.geometric_mean),
        f"{arm.means['reached']:.0%}",
        f"{arm.speedup.negative_transfer:.0%}",
        round(arm.means["mean_evaluations"] or 0),
        arm.means["mean_fitness"],
        arm.means["mean_score"],
    )


def _digits(value: float) -> float:
    return round(value, 2)


def _report(found: Experiment, folder: Path, seconds: float, stopped: bool, debug: bool) -> None:
    """Print to stderr what failed, how long it took and which files were written."""
    for each in found.failures:
        echo_message(one_line(f"failed: {each.problem} ({each.arm}): {each.error}"))
        if debug:
            echo_message(each.details)
    if stopped:
        n_all = found.design.n_outcomes(found.n_problems)
        echo_message(f"stopped: {len(found.all_outcomes)} of {n_all} searches are done.")
    n_used = len({each.index for each in found.outcomes})
    written = [folder / name for name in (PAGE, RESULT) if (folder / name).exists()]
    echo_message(
        f"\n{n_used} of {found.n_problems} problems compared in {format_seconds(seconds)}; "
        f"see {' and '.join(map(str, written))}"
    )
