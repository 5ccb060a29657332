"""`metafs report`: one page about a memory."""

import os
from pathlib import Path

import click

from metafs.cli.app import Sentences
from metafs.cli.options import db_option
from metafs.cli.output import data, echo_message
from metafs.data.printable import one_line
from metafs.errors import MetafsError
from metafs.memory import MetaDB
from metafs.report import draw
from metafs.report import report as report_of

STDOUT = "-"


@click.command(cls=Sentences)
@click.option(
    "-o",
    "--output",
    default="report.html",
    show_default=True,
    metavar="FILE",
    help="Where the page goes; - for standard output.",
)
@click.option("--space", help="Only this pool of features.")
@db_option
def report(output: str, space: str | None, db: str) -> None:
    """Draw a page about the memory: problems, scores, features, neighbours, what memory gained.

    The page is one file that needs no network. It is drawn from a copy, so it can be made while
    `metafs solve` runs. Names of problems and features are in it; no rows of their tables are.

    Example: metafs report -o report.html
    """
    found = report_of(MetaDB(db), space)
    if not found.problems:
        where = "" if space is None else f" in space {space!r}"
        raise MetafsError(f"{db} holds no problem{where}: run `metafs solve` first.")
    page = draw(found, Path(db).name)
    if output == STDOUT:
        data().write(page)
        return
    path = Path(output)
    if not path.parent.is_dir():
        raise MetafsError(f"cannot write {path}: there is no folder {path.parent}.")
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(page, encoding="utf-8")
        draft.replace(path)  # a reader who has the old page open keeps it whole
    finally:
        draft.unlink(missing_ok=True)
    echo_message(one_line(f"{path}: {len(page.encode()) / 1000:,.0f} kB"))
