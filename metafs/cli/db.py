"""`metafs db`: look after the MetaDB."""

import click

from metafs.cli.app import Sentences
from metafs.cli.options import db_option, json_option
from metafs.cli.output import to_json
from metafs_metadb import MetaDB


class DbCommands(click.Group):
    """The group of commands that look after the file."""

    command_class = Sentences


@click.group(cls=DbCommands)
def db() -> None:
    """Look after the MetaDB."""


@db.command()
@db_option
@json_option
@click.pass_context
def check(ctx: click.Context, db: str, as_json: bool) -> None:
    """Verify row counts, references and signatures; exit 1 if anything is wrong.

    Example: metafs db check
    """
    findings = MetaDB(db).check()
    if as_json:
        click.echo(to_json({"db": db, "clean": not findings, "findings": findings}))
    else:
        for finding in findings:
            click.echo(finding)
        if not findings:
            click.echo(f"{db} is clean.")
    ctx.exit(1 if findings else 0)


@db.command()
@db_option
@json_option
def migrate(db: str, as_json: bool) -> None:
    """Bring a MetaDB from an older metafs to this one's schema.

    Example: metafs db migrate
    """
    applied = MetaDB(db).migrate()
    if as_json:
        click.echo(to_json({"db": db, "applied": applied}))
    elif applied:
        click.echo(f"{db}: applied {', '.join(applied)}.")
    else:
        click.echo(f"{db} is up to date.")
