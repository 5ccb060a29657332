"""`metafs db`: look after the MetaDB."""

import click

from metafs.cli import managing
from metafs.cli.app import Sentences
from metafs.cli.options import db_option, json_option
from metafs.cli.output import echo_line, to_json
from metafs.memory import MetaDB


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
        echo_line(to_json({"db": db, "clean": not findings, "findings": findings}))
    else:
        for finding in findings:
            echo_line(finding)
        if not findings:
            echo_line(f"{db} is clean.")
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
        echo_line(to_json({"db": db, "applied": applied}))
    elif applied:
        echo_line(f"{db}: applied {', '.join(applied)}.")
    else:
        echo_line(f"{db} is up to date.")


@db.command()
@db_option
@json_option
@click.pass_context
def fold(ctx: click.Context, db: str, as_json: bool) -> None:
    """Fold the log into the file, so that the file can be copied by itself.

    A MetaDB is the file and, while there is one, its log FILE.wal: copy both.

    Example: metafs db fold
    """
    folded = MetaDB(db).fold()
    if as_json:
        echo_line(to_json({"db": db, "folded": folded}))
    elif folded:
        echo_line(f"{db} is one file.")
    else:
        echo_line(f"{db} keeps its log: the disk is full or another process uses the file.")
    ctx.exit(0 if folded else 1)


for command in (
    managing.forget,
    managing.exclude,
    managing.include,
    managing.export,
    managing.import_,
    managing.merge,
):
    db.add_command(command)
