"""`metafs solve`: a stream of problems, one after the other, into the MetaDB."""

import warnings
from dataclasses import replace
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
    named_value,
    no_plugin_option,
    problem_options,
    read_options,
    seed_option,
    selector_options,
)
from metafs.cli.output import echo_line, echo_message, one_line, to_json
from metafs.cli.progress import Progress
from metafs.cli.stream_summary import summary
from metafs.data.readers import sources
from metafs.pipeline.engines import ENGINES
from metafs.pipeline.loop import solve as solve_stream
from metafs.pipeline.solution import Solution
from metafs.plugin.registry import Registry
from metafs.transfer.expectation import TRANSFERS

COLUMNS = f"{'features':>8}  {'fitness':>7}  {'score':>6}  {'tried':>6}  near"
CHOICE_COLUMNS = f"{'features':>8}  {'score':>6}  {'all':>6}  {'none':>6}  {'learner':11}  near"
NAME_WIDTHS = (12, 40)


@click.command(cls=Sentences)
@problem_options
@db_option
@selector_options
@learner_options
@memory_options
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
@click.option("--seconds", type=float, metavar="S", help="Time limit of a search, in seconds.")
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
        done = _drain(solutions, names, progress, as_json, debug, options["db"], automatic)
    if len(done) < len(stream):
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
) -> list[Solution]:
    """Print each solution as it comes, then a summary."""
    started = monotonic()
    done: list[Solution] = []
    width = min(max(map(len, [" " * NAME_WIDTHS[0], *names])), NAME_WIDTHS[1])
    if not as_json:
        echo_line(f"{'problem':{width}}  {CHOICE_COLUMNS if automatic else COLUMNS}")
    try:
        for name in names:
            progress.working_on(name)
            solution = next(solutions)
            progress.clear()
            progress.done()
            done.append(replace(solution, model=None))  # a stream may be long
            text = to_json(solution.as_json()) if as_json else line(solution, width, automatic)
            echo_line(text)
            if debug and solution.details:
                echo_message(solution.details)
        for _ in solutions:  # there are no more, but what the stream does at its end is done
            pass
    except KeyboardInterrupt:
        solutions.close()
        progress.clear()
        echo_message(
            f"\nstopped: {len(done)} of {len(names)} problems are done and recorded in {db}; "
            "run the same command again to go on with the rest."
        )
    echo_message(summary(done, monotonic() - started, db))
    return done


def line(solution: Solution, width: int, automatic: bool = False) -> str:
    """Return a line for people, the name in so many columns.

    If the pipeline was chosen, its score stands beside those of a linear model on all features and
    of no skill.
    """
    name = f"{one_line(solution.problem):{width}}"
    if solution.status == "failed":
        return f"{name}  failed"
    near = ", ".join(f"{one_line(other)} ({d:.2f})" for other, d in solution.neighbours[:2])
    if not near and solution.transferred:
        near = "none; predicted from meta-features"
    elif solution.experience == "none":
        near = "none: searched cold"
    elif solution.experience == "nameless":
        near = "none: columns without names"
    elif solution.experience == "far":
        near = f"too far to rely on: {near}"
    near = "solved before" if solution.status == "skipped" else near
    n_selected = f"{len(solution.features):8}"
    score = _number(solution.score, 6)
    if automatic:
        baseline = [_number(solution.all_features, 6), _number(solution.no_skill, 6)]
        learner = (solution.pipeline or {"learner": "no skill"})["learner"]
        return "  ".join([name, n_selected, score, *baseline, f"{learner:11}", near]).rstrip()
    tried = f"{'' if solution.n_evaluations is None else solution.n_evaluations:>6}"
    fitness = _number(solution.fitness, 7)
    return "  ".join([name, n_selected, fitness, score, tried, near]).rstrip()


def _number(value: float | None, width: int) -> str:
    return " " * width if value is None else f"{value:{width}.3f}"
