"""`metafs solve`: a stream of problems, one after the other, into the MetaDB."""

import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import click

from metafs.cli.app import INTERRUPTED, Sentences
from metafs.cli.options import (
    budget_option,
    db_option,
    json_lines_option,
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
from metafs.cli.output import data, echo_line, echo_message, to_json
from metafs.cli.stream_summary import summary
from metafs.cli.table import Column, Table, width_of
from metafs.data.parameters import named_value
from metafs.data.printable import one_line
from metafs.data.readers import sources
from metafs.memory import INTERRUPTED as INTERRUPTED_RUN
from metafs.pipeline.display.progress import Progress
from metafs.pipeline.engines.opening import ENGINES
from metafs.pipeline.loop import solve as solve_stream
from metafs.pipeline.solution import Solution
from metafs.plugin.registry import Registry
from metafs.transfer.expectation import TRANSFERS

NUMBERS = {"features": 8, "fitness": 7, "score": 6, "all": 6, "none": 6, "tried": 6}
COLUMNS = ("features", "fitness", "score", "tried")
CHOICE_COLUMNS = ("features", "score", "all", "none", "learner")
"""If the pipeline is chosen, its score stands beside a linear model on all features and no skill"""
NAME_WIDTHS = (12, 40)
NEAR_WIDTH = 60
STYLES = {"failed": "red", "skipped": "dim"}


@click.command(cls=Sentences)
@problem_options
@db_option
@partial(selector_options, default="auto")
@learner_options
@memory_options
@prefilter_option
@preset_option
@click.option(
    "--transfer",
    default="guided",
    show_default=True,
    help=f"How memory is used: {', '.join(TRANSFERS)}.",
)
@click.option(
    "--size",
    default="auto",
    show_default=True,
    metavar="N|all|auto",
    callback=lambda _ctx, _param, value: int(value) if value.isdecimal() else value,
    help="Number of features that the selector auto keeps, those of --keep among them.",
)
@click.option(
    "--max-features", type=int, metavar="N", help="Most features that the selector auto keeps."
)
@budget_option
@click.option(
    "--seconds",
    type=float,
    metavar="S",
    help="Time limit of a problem, in seconds; of the search if a selector is named.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Refuse tables that look wrong (an identifier, a leak, ...) instead of noting it.",
)
@keep_option
@click.option(
    "--batch",
    default=1,
    show_default=True,
    metavar="W",
    help="Number of problems that are solved from the same memory.",
)
@click.option("--wave", type=int, hidden=True)  # deprecated name of --batch
@click.option(
    "--check",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="Also search every N-th problem cold, to measure what memory saves; 0 is never.",
)
@click.option(
    "--save-models",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Save the model of each problem in this folder, for metafs predict.",
)
@click.option("--jobs", default=1, show_default=True, metavar="J", help="Number of processes.")
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default="local",
    show_default=True,
    help="Where the problems of a batch are solved.",
)
@seed_option
@no_plugin_option
@json_lines_option
@click.pass_context
def solve(ctx: click.Context, /, source: tuple[str, ...], **options: Any) -> None:
    """Solve each problem of SOURCE..., with the memory of the earlier ones.

    SOURCE is a file (csv, tsv, parquet, json, arff, svmlight, npz), a folder of them, a TOML
    stream, demo:digits or demo:few-labels. Solved problems are skipped when the command is run
    again.

    Example: metafs solve customers/ --target churned
    """
    as_json, no_plugin = (options.pop(name) for name in ("as_json", "no_plugin"))
    read = read_options(options, options["keep"])
    wave = options.pop("wave")
    options["batch"] = options["batch"] if wave is None else wave
    options = with_preset(ctx, options)
    options["params"] = dict(named_value(text) for text in options.pop("param"))
    debug = ctx.meta["metafs.debug"]
    stream = sources(source, read)
    with warnings.catch_warnings():
        if not debug:  # warnings of learners, on convergence for instance, would break the table
            warnings.simplefilter("ignore")
        names = [each.name for each in stream]
        progress = Progress(len(names))
        solutions = solve_stream(
            stream,
            registry=Registry(disabled=no_plugin),
            listener=progress if progress.is_shown else None,
            **options,
        )
        automatic = "auto" in (options["selector"], options["learner"])
        done, stopped = _drain(solutions, names, progress, as_json, debug, options["db"], automatic)
    if stopped:
        ctx.exit(INTERRUPTED)
    ctx.exit(1 if any(each.status == "failed" for each in done) else 0)


def _drain(
    solutions: Any,
    names: list[str],
    progress: Progress,
    as_json: bool,
    debug: bool,
    db: str,
    automatic: bool,
) -> tuple[list[Solution], bool]:
    """Print each solution as it comes, then a summary; return also whether Ctrl-C ended it."""
    started = monotonic()
    done: list[Solution] = []
    stopped = False
    table = _table(names, automatic)
    if not as_json:
        table.echo_header()
    try:
        for name in names:
            progress.working_on(name)
            solution = next(solutions)
            progress.clear()
            progress.done()
            done.append(replace(solution, model=None))  # a stream may be long
            if as_json:
                echo_line(to_json(solution.as_json()))
            else:
                table.echo_row(cells(solution, automatic), STYLES.get(solution.status, ""))
            if debug and solution.details:
                echo_message(solution.details)
        for _ in solutions:  # there are no more, but what the stream does at its end is done
            pass
    except KeyboardInterrupt:
        stopped = True
        solutions.close()
        progress.clear()
        echo_message(_stopped_in_words(done, len(names), db))
    finally:  # also where the memory cannot be used
        progress.clear()
    echo_message(summary(done, monotonic() - started, db))
    return done, stopped


def _stopped_in_words(done: list[Solution], n_all: int, db: str) -> str:
    """Say how far a stream has come that Ctrl-C ended, and how to go on."""
    partly = [one_line(each.problem) for each in done if each.stopped == INTERRUPTED_RUN]
    kept = f", with the best so far for {', '.join(partly)}" if partly else ""
    return (
        f"\nstopped: {len(done) - len(partly)} of {n_all} problems are done and recorded in {db}"
        f"{kept}; run the same command again to go on with the rest."
    )


def _table(names: list[str], automatic: bool) -> Table:
    """Return the table of a stream, before any problem of it is solved."""
    width = min(max(NAME_WIDTHS[0], width_of([one_line(each) for each in names])), NAME_WIDTHS[1])
    columns = [Column("problem", width, kept=True)]
    for name in CHOICE_COLUMNS if automatic else COLUMNS:
        columns.append(Column(name, NUMBERS.get(name, 11), right=name in NUMBERS))
    return Table(data(), [*columns, Column("near", NEAR_WIDTH, middle=False)], ruled=False)


def cells(solution: Solution, automatic: bool = False) -> list[str]:
    """Return the row of a solution, as text."""
    name = one_line(solution.problem)
    if solution.status == "failed":
        return [name, "failed"]
    numbers = {
        "features": str(len(solution.features)),
        "fitness": _number(solution.fitness),
        "score": _number(solution.score),
        "all": _number(solution.all_features),
        "none": _number(solution.no_skill),
        "tried": "" if solution.n_evaluations is None else str(solution.n_evaluations),
        "learner": (solution.pipeline or {"learner": "no skill"})["learner"],
    }
    shown = CHOICE_COLUMNS if automatic else COLUMNS
    return [name, *(numbers[each] for each in shown), _near(solution)]


def _near(solution: Solution) -> str:
    """Return the nearest problems, or why there are none."""
    if solution.status == "skipped":
        return "solved before"
    near = ", ".join(f"{one_line(other)} ({d:.2f})" for other, d in solution.neighbours[:2])
    if not near and solution.transferred:
        return "none; predicted from meta-features"
    if solution.experience == "none":
        return "none: searched cold"
    if solution.experience == "nameless":
        return "none: columns without names"
    return f"too far to rely on: {near}" if solution.experience == "far" else near


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
