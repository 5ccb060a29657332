"""`metafs features`: the features that memory knows, or what it expects of unknown ones."""

from dataclasses import astuple, fields
from pathlib import Path

import click

from metafs.cli.app import Sentences
from metafs.cli.lists import echo, limit_option, space_option
from metafs.cli.options import db_option, json_option, no_plugin_option
from metafs.cli.output import echo_message
from metafs.data.checks import listing
from metafs.errors import UsageError
from metafs.memory import MetaDB, Table

MOST_FEATURES = 20


@click.command(cls=Sentences)
@click.option("--problem", metavar="NAME", help="What the best run of this problem selected.")
@click.option(
    "--predict",
    "table",
    type=click.Path(path_type=Path),
    metavar="TABLE",
    help="Rank the features of a table by their meta-features.",
)
@click.option("--regressor", help="How to predict.  [default: forest]")
@space_option
@limit_option
@db_option
@no_plugin_option
@json_option
def features(
    problem: str | None,
    table: Path | None,
    regressor: str | None,
    space: str | None,
    limit: int | None,
    db: str,
    no_plugin: tuple[str, ...],
    as_json: bool,
) -> None:
    """List the features, the most often selected first, or those selected for one problem.

    With --predict, rank features that need not have been measured: the first column of TABLE holds
    their names, the other columns meta-features that the memory knows too. They are ranked by
    their expected quality, which a regressor predicts from the meta-features; uncertainty is its
    standard deviation, and quality the measured quality of the feature itself, if there is one.
    The memory needs at least ten different features with meta-features.

    Example: metafs features --predict candidates.csv --limit 50
    """
    if table is not None:
        if problem is not None:
            raise UsageError("--predict and --problem cannot be combined; choose one.")
        found = _predicted(MetaDB(db), table, regressor, space, limit, no_plugin)
    elif regressor is not None:
        raise UsageError("--regressor needs --predict TABLE.")
    else:
        found = MetaDB(db).features(space, limit, problem=problem)
    space_last = tuple(
        sorted(found.columns, key="space".__eq__)
    )  # a narrow terminal leaves out the last
    echo(found, space_last, as_json, most=MOST_FEATURES if limit is None else None)


def _predicted(
    metadb: MetaDB,
    path: Path,
    regressor: str | None,
    space: str | None,
    limit: int | None,
    no_plugin: tuple[str, ...],
) -> Table:
    """Return the predictions as a table; scikit-learn is loaded only for them."""
    from metafs.data.readers.metafeatures import read_feature_table
    from metafs.memory.prediction import Prediction, predict_features
    from metafs.pipeline.plan import DEFAULT_REGRESSOR
    from metafs.plugin.registry import Registry

    chosen = Registry(disabled=no_plugin).regressors[regressor or DEFAULT_REGRESSOR]
    table = read_feature_table(path)
    found = predict_features(metadb, table, chosen, space=space)
    unused = [name for name in table.names if name not in found.by]
    if unused:
        echo_message(f"not used, because the memory does not know it: {listing(unused)}.")
    columns = tuple(field.name for field in fields(Prediction))
    return Table(columns, [astuple(row) for row in found.features[:limit]])
