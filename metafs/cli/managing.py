"""`metafs db forget`, `exclude`, `include`, `export`, `import` and `merge`."""

import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from metafs.cli.app import Sentences
from metafs.cli.options import db_option, json_option
from metafs.cli.output import echo_line, echo_message, echo_table, to_json
from metafs.data.printable import one_line
from metafs.errors import UsageError
from metafs.memory import MetaDB, Table
from metafs.memory.choosing import Choice, chosen
from metafs.pipeline.display.progress import Progress

F = TypeVar("F", bound=Callable[..., Any])

DATE = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"])
COLUMNS = ("problem_id", "space", "name", "n_runs", "excluded", "created_at", "share")
MOST_SHOWN = 40


def choice_options(command: F) -> F:
    """Add PROBLEM... and the options that choose problems."""
    for add in (
        click.option("--failed", is_flag=True, help="Only problems that were never solved."),
        click.option("--after", type=DATE, metavar="DATE", help="Only those since a date (UTC)."),
        click.option("--before", type=DATE, metavar="DATE", help="Only those before a date (UTC)."),
        click.option("--space", metavar="S", help="Only those of a space; * stands for any text."),
        click.option("--source", metavar="S", help="Only those of a source; * likewise."),
        click.argument("problem", nargs=-1),
    ):
        command = add(command)
    return command


def yes_option(command: F) -> F:
    """Add ``--yes``."""
    return click.option("--yes", is_flag=True, help="Do it, without asking.")(command)


def _choice(
    problem: tuple[str, ...],
    source: str | None,
    space: str | None,
    before: datetime | None,
    after: datetime | None,
    failed: bool,
) -> Choice:
    return Choice(problem, source, space, before, after, failed)


@click.command(cls=Sentences)
@choice_options
@yes_option
@db_option
@json_option
def forget(db: str, as_json: bool, yes: bool, **conditions: Any) -> None:
    """Forget problems with all that was learned of them.

    PROBLEM is a name, in which * stands for any text. Without --yes this shows what would go. The
    file is rewritten, so that nothing of them is left in its bytes.

    Example: metafs db forget "digits 3 vs *" --yes
    """

    def act(metadb: MetaDB, ids: list[int]) -> None:
        metadb.forget(ids)

    _manage("forget", "forgotten", act, db, as_json, yes, _choice(**conditions))


@click.command(cls=Sentences)
@choice_options
@yes_option
@db_option
@json_option
def exclude(db: str, as_json: bool, yes: bool, **conditions: Any) -> None:
    """Let problems take no part in memory; they stay listed.

    Example: metafs db exclude --source "trial/*" --yes
    """

    def act(metadb: MetaDB, ids: list[int]) -> None:
        metadb.set_excluded(ids, True)

    _manage("exclude", "excluded", act, db, as_json, yes, _choice(**conditions))


@click.command(cls=Sentences)
@choice_options
@yes_option
@db_option
@json_option
def include(db: str, as_json: bool, yes: bool, **conditions: Any) -> None:
    """Let excluded problems take part in memory again.

    Example: metafs db include --source "trial/*" --yes
    """

    def act(metadb: MetaDB, ids: list[int]) -> None:
        metadb.set_excluded(ids, False)

    _manage("include", "included", act, db, as_json, yes, _choice(**conditions))


@click.command(cls=Sentences)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@choice_options
@db_option
@json_option
def export(file: Path, db: str, as_json: bool, **conditions: Any) -> None:
    """Write problems to the MetaDB FILE, by default all.

    It holds no rows of your tables, but names, labels and weights: docs/privacy.md says what. To
    a FILE that is there the problems are added that it lacks.

    Example: metafs db export share.duckdb --space words
    """
    metadb, choice = MetaDB(db), _choice(**conditions)
    ids = chosen(metadb, choice).column("problem_id")
    _require_any(ids)
    carried = metadb.export(file, ids)
    if as_json:
        counts = {"problems": carried.problems, "runs": carried.runs, "known": carried.known}
        echo_line(to_json({"db": db, "file": str(file), **counts}))
    else:
        problems, runs = counted(carried.problems, "problem"), counted(carried.runs, "run")
        known = counted(carried.known, "problem")
        echo_line(one_line(f"{file}: {problems} and {runs} added, {known} there already."))


@click.command("import", cls=Sentences)
@click.argument("file", nargs=-1, required=True, type=click.Path(path_type=Path))
@db_option
@json_option
@click.pass_context
def import_(ctx: click.Context, file: tuple[Path, ...], db: str, as_json: bool) -> None:
    """Add the problems of other MetaDBs; what is here already is not added again.

    Example: metafs db import share.duckdb
    """
    ctx.exit(_merge(list(file), db, as_json))


@click.command(cls=Sentences)
@click.argument("source", nargs=-1, required=True, type=click.Path(path_type=Path))
@db_option
@json_option
@click.pass_context
def merge(ctx: click.Context, source: tuple[Path, ...], db: str, as_json: bool) -> None:
    """Merge MetaDBs, and all *.duckdb of folders, into one.

    Problems of equal content are one problem, and equal runs one run, so merging again adds
    nothing. The sources stay as they are. One that cannot be read is named, and the others go on.

    Example: metafs db merge shared/ --db all.duckdb
    """
    files: list[Path] = []
    for each in source:
        found = sorted(each.glob("*.duckdb")) if each.is_dir() else [each]
        if not found:
            raise UsageError(f"the folder {each} holds no *.duckdb.")
        files += [file for file in found if not file.name.startswith(".")]
    ctx.exit(_merge(list(dict.fromkeys(files)), db, as_json))


def _manage(
    verb: str,
    done: str,
    act: Callable[[MetaDB, list[int]], None],
    db: str,
    as_json: bool,
    yes: bool,
    choice: Choice,
) -> None:
    """Show which problems are meant, and do it if that is confirmed."""
    if not choice:
        raise UsageError(f"say which problems to {verb}: their names, '*' for all, or an option.")
    metadb = MetaDB(db)
    table = _with_shares(metadb, chosen(metadb, choice))
    ids = table.column("problem_id")
    _require_any(ids)
    if not as_json:
        _echo_preview(table)
        yes = yes or (sys.stdin.isatty() and click.confirm(f"{verb} them?", err=True))
    if yes:
        act(metadb, ids)
    if as_json:
        problems = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
        echo_line(to_json({"db": db, "done": yes, "problems": problems}))
    elif yes:
        echo_message(f"{counted(len(ids), 'problem')} {done}.")
    else:
        echo_message(f"nothing was changed: --yes will {verb} them.")


def _with_shares(metadb: MetaDB, table: Table) -> Table:
    """Add the share of all rows of the memory that each problem has."""
    sizes = metadb.sizes()
    total = max(sum(sizes.values()), 1)
    place = table.columns.index("problem_id")
    rows = [(*row, sizes.get(row[place], 0) / total) for row in table.rows]
    return Table((*table.columns, "share"), rows)


def _echo_preview(table: Table) -> None:
    n = len(table.rows)
    if not echo_table(*table.only(COLUMNS), most=MOST_SHOWN):
        echo_message(f"the first {MOST_SHOWN} of {n:,}: --json shows all.")
    share = sum(table.column("share"))
    n_runs = sum(table.column("n_runs"))
    echo_message(f"{counted(n, 'problem')} with {counted(n_runs, 'run')}, {share:.1%} of memory.")


def _require_any(ids: list[int]) -> None:
    if not ids:
        raise UsageError("no problem meets all of these conditions: see `metafs problems`.")


def _merge(files: list[Path], db: str, as_json: bool) -> int:
    """Merge files and say what came of it; return the exit code."""
    progress = Progress(len(files), "files")
    merged = []
    progress.working_on("")
    for each in MetaDB(db).merge(files):
        merged.append(each)
        progress.done()
        if each.error is not None:
            progress.clear()
            echo_message(one_line(f"{each.error}: it is left out."))
        progress.working_on(str(each.path))
    progress.clear()
    errors = [each for each in merged if each.error is not None]
    problems = sum(each.carried.problems for each in merged)
    runs = sum(each.carried.runs for each in merged)
    if as_json:
        rows = [
            {"file": str(each.path), "error": each.error, **vars(each.carried)} for each in merged
        ]
        echo_line(to_json({"db": db, "problems": problems, "runs": runs, "files": rows}))
    elif merged and not problems and not runs and not errors:
        echo_line(one_line(f"{db}: nothing new in {counted(len(merged), 'file')}."))
    else:
        left_out = f", {len(errors)} left out" if errors else ""
        echo_line(
            one_line(
                f"{db}: {counted(problems, 'problem')} and {counted(runs, 'run')} added from "
                f"{counted(len(merged), 'file')}{left_out}."
            )
        )
    return 1 if errors else 0


def counted(n: int, what: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> counted(1, "run"), counted(2000, "run")
    ('1 run', '2,000 runs')
    """
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"
