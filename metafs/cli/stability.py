"""`metafs stability`: how much a selector's results agree when the rows change slightly."""

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import click
import numpy as np

from metafs.cli.app import Sentences
from metafs.cli.options import (
    db_option,
    json_lines_option,
    no_plugin_option,
    problem_options,
    read_options,
    seed_option,
    selector_options,
)
from metafs.cli.output import echo_line, echo_message, echo_table, to_json
from metafs.data.parameters import named_value
from metafs.data.printable import one_line
from metafs.data.problem import Problem
from metafs.data.readers import Source, sources
from metafs.memory import MetaDB, MetaDBError
from metafs.pipeline.display.progress import Progress
from metafs.pipeline.engines.opening import require_engine
from metafs.pipeline.fitting.plugin_errors import naming_plugin
from metafs.pipeline.recording import failure
from metafs.pipeline.settings import Settings
from metafs.pipeline.solution import Solution
from metafs.plugin.registry import Registry
from metafs.stability import Resampling, Stability, stability_of

INDICES = ("jensen_shannon", "by_chance", "jaccard", "kuncheva")


@click.command(cls=Sentences)
@problem_options
@selector_options
@click.option(
    "--resamples",
    type=click.IntRange(min=2),
    default=20,
    show_default=True,
    metavar="N",
    help="How often to select.",
)
@click.option(
    "--share", default=0.9, show_default=True, metavar="X", help="Share of rows in each resample."
)
@click.option("--bootstrap", is_flag=True, help="Draw rows with replacement.")
@click.option(
    "--top",
    type=click.IntRange(min=1),
    metavar="K",
    help="Compare the first K features.  [default: whole rankings, and the selected sets]",
)
@click.option("--record", is_flag=True, help="Record the indices in the MetaDB.")
@db_option
@click.option("--jobs", default=1, show_default=True, metavar="J", help="Processes.")
@seed_option
@no_plugin_option
@json_lines_option
@click.pass_context
def stability(ctx: click.Context, /, source: tuple[str, ...], **options: Any) -> None:
    """Measure the stability of a selector on each problem of SOURCE...

    The selector is applied to many resamples of the rows; 1 means that all results are equal.
    Jensen-Shannon compares rankings, and by_chance is its value for random rankings, which depends
    on --resamples and --top. Jaccard and Kuncheva compare sets, and Kuncheva is 0 for chance. A
    selector may give the same rankings but sets of different sizes: with --top K all indices
    compare the first K features. --json also gives the selection frequency of each feature.
    Results are recorded only with --record.

    Example: metafs stability customers/ --target churned --selector relieff --top 10
    """
    registry = Registry(disabled=options["no_plugin"])
    selector, params = options["selector"], dict(map(named_value, options["param"]))
    Settings(selector=selector, params=params).resolve(registry)
    Resampling(options["share"], options["bootstrap"])
    require_engine("local", options["jobs"])
    stream = sources(source, read_options(options))
    db = MetaDB(options["db"]) if options["record"] else None
    if db is not None:
        db.ensure()
    measure = partial(
        stability_of,
        selector,
        params=params,
        registry=registry,
        n_resamples=options["resamples"],
        share=options["share"],
        bootstrap=options["bootstrap"],
        top=options["top"],
        random_state=options["seed"],
        n_jobs=options["jobs"],
        db=db,
    )
    debug = ctx.meta["metafs.debug"]
    with warnings.catch_warnings():
        if not debug:  # warnings of selectors, about convergence for example
            warnings.simplefilter("ignore")
        all_well = _drain(stream, selector, measure, options["as_json"], debug)
    if db is not None:
        echo_message(f"recorded in {options['db']}, table stability")
    ctx.exit(0 if all_well else 1)


def _drain(
    stream: Sequence[Source],
    selector: str,
    measure: Callable[[Problem], Stability],
    as_json: bool,
    debug: bool,
) -> bool:
    """Print the indices of each problem, and return whether none failed."""
    progress, rows, failed = Progress(len(stream)), [], 0
    try:
        for each in stream:
            progress.working_on(each.name)
            found = _measured(each, selector, measure)
            progress.clear()
            progress.done()
            if as_json:
                echo_line(to_json(_as_json(each.name, selector, found)))
            elif isinstance(found, dict):
                rows.append((each.name, selector, *(found[index] for index in INDICES)))
            if isinstance(found, Solution):
                failed += 1
                echo_message(one_line(f"failed: {found.problem}: {found.error}"))
                if debug and found.details:
                    echo_message(found.details)
    finally:  # also after Ctrl-C
        progress.clear()
        if not as_json:
            echo_table(("problem", "selector", *INDICES), rows)
    return failed == 0


def _measured(
    readable: Source, selector: str, measure: Callable[[Problem], Stability]
) -> dict[str, Any] | Solution:
    """Read a problem and measure the selector's stability on it, or return the failure."""
    try:
        problem = readable.read()
        with naming_plugin("selector", selector, problem):
            found = measure(problem)
    except MetaDBError:
        raise  # the result cannot be recorded
    except Exception as error:
        return failure(error, readable.name)
    shares = found.share_selected
    often = [j for j in np.argsort(-shares, kind="stable") if shares[j] > 0]
    return {index: getattr(found, index) for index in INDICES} | {
        "share_selected": {problem.feature_names[j]: float(shares[j]) for j in often}
    }


def _as_json(problem: str, selector: str, found: dict[str, Any] | Solution) -> dict[str, Any]:
    """Return the JSON object of a problem, always with the same keys."""
    nothing = dict.fromkeys((*INDICES, "share_selected"))
    return {
        "problem": problem,
        "status": "failed" if isinstance(found, Solution) else "measured",
        "selector": selector,
        **(nothing if isinstance(found, Solution) else found),
        "error": found.error if isinstance(found, Solution) else None,
    }
