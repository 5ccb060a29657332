"""`metafs predict` and `metafs transform`: new rows of a problem that was solved."""

from pathlib import Path

import click
import numpy as np

from metafs.cli.app import Sentences
from metafs.cli.lookup import among_spaces_option
from metafs.cli.models import model_of, selected_layout
from metafs.cli.options import db_option
from metafs.cli.output import echo_csv, echo_json, echo_message
from metafs.data.notes import Notes
from metafs.data.readers.copying import copied
from metafs.data.readers.new_rows import read_rows, refuse_no_columns
from metafs.data.table_output import check_output, is_parquet, write_csv, write_parquet
from metafs.data.typing import Array
from metafs.errors import UsageError

models_option = click.option(
    "--models",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of saved models.  [default: the one the MetaDB remembers]",
)
trust_option = click.option(
    "--trust",
    multiple=True,
    metavar="TYPE",
    help="Type of another package that the saved model may hold; may be repeated.",
)
output_option = click.option(
    "-o",
    "--output",
    default="-",
    metavar="FILE",
    help="File to write, .csv or .parquet; - is csv on standard output.",
)
as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON objects.")
table_argument = click.argument("table", type=click.Path(path_type=Path))


@click.command(cls=Sentences)
@click.argument("problem")
@table_argument
@output_option
@models_option
@trust_option
@among_spaces_option
@db_option
@as_json_option
def predict(
    problem: str,
    table: Path,
    output: str,
    models: Path | None,
    trust: tuple[str, ...],
    space: str | None,
    db: str,
    as_json: bool,
) -> None:
    """Predict the target of PROBLEM for each row of TABLE.

    The model is the one that metafs solve --save-models has saved. Without one it is the linear
    model of the problem that the MetaDB keeps. TABLE is a file of any kind that metafs solve reads;
    its columns are found by name, and it needs no target. What is written has the column prediction
    and, for classes, probability_CLASS for each of them.

    Example: metafs predict "shop north" new.csv -o predicted.csv
    """
    target = _target(output, as_json)
    model = model_of(problem, models, space, db, trust)
    notes = Notes()
    rows = read_rows(table, model.layout, notes)
    columns: dict[str, Array] = {"prediction": model.predict_rows(rows)}
    if model.tells_probabilities:
        found = model.proba_of_rows(rows)
        for label, values in zip(model.classes or (), found.T, strict=True):
            columns[f"probability_{label}"] = values
    elif model.classes is not None:
        echo_message(f"the model of {problem!r} gives no probabilities.")
    _report(table, notes)
    if target is None:
        lines = zip(*(values.tolist() for values in columns.values()), strict=True)
        (echo_json if as_json else echo_csv)(list(columns), lines)
    elif is_parquet(target):
        write_parquet(target, {name: _plain(values) for name, values in columns.items()})
    else:
        lines = zip(*(values.tolist() for values in columns.values()), strict=True)
        write_csv(target, list(columns), lines)


@click.command(cls=Sentences)
@click.argument("problem")
@table_argument
@output_option
@models_option
@among_spaces_option
@db_option
@as_json_option
def transform(
    problem: str,
    table: Path,
    output: str,
    models: Path | None,
    space: str | None,
    db: str,
    as_json: bool,
) -> None:
    """Write the columns of TABLE that were selected for PROBLEM, as they are in TABLE.

    They are the columns that its saved model needs, or those of its best run in the MetaDB.

    Example: metafs transform "shop north" new.csv -o selected.parquet
    """
    target = _target(output, as_json)
    layout = selected_layout(problem, models, space, db)
    refuse_no_columns(layout.names, problem)
    notes = Notes()
    with copied(table, layout, notes) as found:
        _report(table, notes)
        if target is None:
            (echo_json if as_json else echo_csv)(found.names, found.rows())
        elif is_parquet(target):
            found.write_parquet(target)
        else:
            write_csv(target, found.names, found.rows())


def _target(output: str, as_json: bool) -> Path | None:
    """Return the file to write; None for standard output."""
    if output == "-":
        return None
    if as_json:
        raise UsageError("--json prints on standard output: leave out -o, or --json.")
    check_output(Path(output))
    return Path(output)


def _report(table: Path, notes: Notes) -> None:
    for note in notes.texts():
        echo_message(f"note: {table}: {note}.")


def _plain(values: Array) -> Array:
    return values.astype(object) if values.dtype.kind in "US" else np.asarray(values)
