"""`metafs problems`, `runs` and `features`: what the MetaDB holds."""

import click

from metafs.cli.app import Sentences, db_option, json_option
from metafs.cli.output import echo_rows
from metafs_metadb import MetaDB

space_option = click.option("--space", help="Only this pool of features.")


@click.command(cls=Sentences)
@space_option
@db_option
@json_option
def problems(space: str | None, db: str, as_json: bool) -> None:
    """List the problems that were met.

    Example: metafs problems --json
    """
    table = MetaDB(db).problems(space)
    echo_rows(table.columns, table.rows, as_json=as_json)


@click.command(cls=Sentences)
@click.option("--problem", metavar="NAME", help="Only runs of this problem.")
@click.option("--status", type=click.Choice(["solved", "failed"]), help="Only these.")
@click.option("--selector", metavar="NAME", help="Only runs of this selector.")
@click.option("--limit", type=int, metavar="N", help="At most so many.")
@db_option
@json_option
def runs(
    problem: str | None,
    status: str | None,
    selector: str | None,
    limit: int | None,
    db: str,
    as_json: bool,
) -> None:
    """List the runs: what was selected how, and how well it did.

    Example: metafs runs --status failed
    """
    table = MetaDB(db).runs(problem=problem, status=status, selector=selector, limit=limit)
    echo_rows(table.columns, table.rows, as_json=as_json)


@click.command(cls=Sentences)
@space_option
@click.option("--limit", type=int, metavar="N", help="At most so many.")
@db_option
@json_option
def features(space: str | None, limit: int | None, db: str, as_json: bool) -> None:
    """List the features, the most often selected first.

    Example: metafs features --limit 10
    """
    table = MetaDB(db).features(space, limit)
    echo_rows(table.columns, table.rows, as_json=as_json)
