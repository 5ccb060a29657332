"""`metafs compare`: pipelines side by side on a stream, on the same folds."""

import warnings
from collections.abc import Generator
from pathlib import Path
from time import monotonic
from typing import Any

import click

from metafs.cli.app import INTERRUPTED, Sentences
from metafs.cli.options import (
    budget_option,
    json_option,
    keep_option,
    no_plugin_option,
    problem_options,
    read_options,
    seed_option,
)
from metafs.cli.output import echo_line, echo_message, echo_table, to_json
from metafs.comparison.page import in_words, page
from metafs.comparison.pipelines import pipelines_of
from metafs.comparison.result import Comparison, Entry, Summary
from metafs.comparison.running import run
from metafs.data.printable import one_line
from metafs.data.readers import sources
from metafs.errors import UsageError
from metafs.pipeline.display.progress import Progress, format_seconds
from metafs.pipeline.settings import Settings
from metafs.plugin.registry import Registry
from metafs.transfer.expectation import TRANSFERS

SHARED = ("folds", "scoring", "seed", "transfer", "budget", "seconds", "keep")
"""Options that are settings of every pipeline, under the same names."""
COLUMNS = ("pipeline", "score", "95 % interval", "rank", "features", "stability", "seconds")


@click.command(cls=Sentences)
@problem_options
@click.option(
    "--selector",
    multiple=True,
    metavar="NAME[:PARAM=VALUE,...]",
    help="Selector, or auto, with its parameters; repeatable.",
)
@click.option(
    "--learner",
    multiple=True,
    metavar="NAME",
    help="Model to train, each with every selector; repeatable.  "
    "[default: logistic, or ridge for numbers; auto for auto]",
)
@click.option("--folds", default=5, show_default=True, help="Folds of the cross-validation.")
@click.option("--scoring", help="scikit-learn scorer.  [default: balanced_accuracy, or r2]")
@click.option(
    "--db",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Give each pipeline a copy of this MetaDB, which it uses and fills; the file stays as it "
    "is.  [default: no memory]",
)
@click.option(
    "--transfer",
    default="guided",
    show_default=True,
    help=f"How memory is used: {', '.join(TRANSFERS)}.",
)
@budget_option
@click.option("--seconds", type=float, metavar="S", help="Time limit of a search, in seconds.")
@keep_option
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also write a page with a critical-difference picture.",
)
@click.option("--jobs", default=1, show_default=True, metavar="J", help="Number of processes.")
@seed_option
@no_plugin_option
@json_option
@click.pass_context
def compare(ctx: click.Context, /, source: tuple[str, ...], **options: Any) -> None:
    """Compare pipelines on the problems of SOURCE...: nested scores on the same folds.

    A pipeline is a selector with a learner. The table has means over the problems that every
    pipeline scored: the nested score with Student's 95 % interval, the rank, the number of
    features, the stability of the sets selected in the folds (Kuncheva's index) and the seconds of
    a problem. Nothing is recorded, unless in the copies that --db makes.

    Example: metafs compare demo:digits --selector auto --selector fisher:n_features_to_select=20
    """
    registry = Registry(disabled=options["no_plugin"])
    shared = Settings(**{name: options[name] for name in SHARED})
    pipelines = pipelines_of(options["selector"], options["learner"], shared)
    output = options["output"]
    if output is not None and not output.parent.is_dir():
        raise UsageError(f"there is no folder {output.parent} to write {output.name} into.")
    if options["db"] is not None and not options["db"].exists():
        echo_message(f"there is no {options['db']}: each pipeline begins with an empty memory.")
    stream = sources(source, read_options(options, options["keep"]))
    progress, debug, started = Progress(len(stream) * len(pipelines)), _debug(ctx), monotonic()
    with warnings.catch_warnings():
        if not debug:  # warnings of learners, about convergence for example
            warnings.simplefilter("ignore")
        entries = run(
            stream,
            pipelines,
            registry,
            db=options["db"],
            jobs=options["jobs"],
            listener=progress if progress.is_shown else None,
        )
        done, stopped = _drain(entries, progress)
    found = Comparison([each.name for each in pipelines], done, len(stream))
    if options["as_json"]:
        echo_line(to_json(found.as_json()))
    else:
        echo_table(COLUMNS, [_row(name, each) for name, each in found.summaries.items()])
    if output is not None:
        asked = {**{name: options[name] for name in SHARED}, "db": options["db"]}
        title = f"Pipelines on {' '.join(source)}"
        output.write_text(page(found, title, asked), encoding="utf8")
    _report(found, monotonic() - started, stopped, debug, output)
    if stopped:
        ctx.exit(INTERRUPTED)
    ctx.exit(1 if found.failures else 0)


def _debug(ctx: click.Context) -> bool:
    return bool(ctx.meta["metafs.debug"])


def _drain(entries: Generator[Entry, None, None], progress: Progress) -> tuple[list[Entry], bool]:
    """Collect entries, and return whether the run was interrupted."""
    done: list[Entry] = []
    try:
        for each in entries:
            done.append(each)
            progress.done()
            progress.working_on(f"{each.solution.problem}: {each.pipeline}")
        return done, False
    except KeyboardInterrupt:
        entries.close()
        return done, True
    finally:
        progress.clear()


def _row(name: str, each: Summary) -> tuple[Any, ...]:
    interval = each.score_interval
    return (
        name,
        each.mean_score,
        None if interval is None else f"{interval[0]:.4f} to {interval[1]:.4f}",
        None if each.mean_rank is None else round(each.mean_rank, 2),
        None if each.n_features is None else round(each.n_features, 1),
        None if each.stability is None else round(each.stability, 3),
        None if each.seconds is None else round(each.seconds, 2),
    )


def _report(
    found: Comparison, seconds: float, stopped: bool, debug: bool, output: Path | None
) -> None:
    """Print to stderr what failed, what the ranks tell and where the page is."""
    for each in found.failures:
        name = f"{each.solution.problem} ({each.pipeline})"
        echo_message(one_line(f"failed: {name}: {each.reason}"))
        if debug and each.solution.details:
            echo_message(each.solution.details)
    if stopped:
        n_all = found.n_problems * len(found.names)
        echo_message(f"stopped: {len(found.entries)} of {n_all} are done.")
    echo_message(f"\n{one_line(in_words(found))}")
    see = "" if output is None else f"; see {output}"
    echo_message(one_line(f"{format_seconds(seconds)}{see}"))
