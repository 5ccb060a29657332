"""`metafs neighbours`: the problems nearest to one that the MetaDB holds."""

from difflib import get_close_matches

import click

from metafs.cli.app import Sentences
from metafs.cli.options import db_option, json_option
from metafs.cli.output import echo_json, echo_table
from metafs.errors import MetafsError, UsageError
from metafs_metadb import MetaDB, Table

COLUMNS = ("rank", "problem", "distance")


@click.command(cls=Sentences)
@click.argument("name")
@click.option("--distance", default="jsd-features", show_default=True, help="How to compare.")
@click.option(
    "-k",
    "--neighbours",
    "k",
    type=click.IntRange(min=1),
    metavar="K",
    default=5,
    show_default=True,
    help="How many.",
)
@click.option("--space", help="The pool of features to look in, if the name is in several.")
@db_option
@json_option
def neighbours(name: str, distance: str, k: int, space: str | None, db: str, as_json: bool) -> None:
    """List the solved problems nearest to the problem NAME.

    Example: metafs neighbours "digits 3 vs 8"
    """
    metadb = MetaDB(db)
    problem = metadb.find_problem(name, space)
    if problem is None:
        raise UsageError(_unknown(name, space, db, metadb.problems()))
    signature = metadb.signature(problem["problem_id"], distance)
    if signature is None:
        raise MetafsError(_undescribed(name, distance, metadb.distances(problem["problem_id"])))
    found = metadb.search(distance, problem["space"]).nearest(
        *signature, k, exclude_fingerprint=problem["fingerprint"]
    )
    rows = [(rank, each.name, each.distance) for rank, each in enumerate(found, start=1)]
    if as_json:
        echo_json(COLUMNS, rows)
        return
    echo_table(COLUMNS, rows)
    if not rows:
        click.echo("no other solved problem shares anything with it.", err=True)


def _unknown(name: str, space: str | None, db: str, problems: Table) -> str:
    """Say that no problem has that name in that space, and which ones come close."""
    spaces_of: dict[str, list[str]] = {}
    for near, its_space in problems.only(["name", "space"]).rows:
        spaces_of.setdefault(near, []).append(its_space)
    if name in spaces_of:
        known = " or ".join(f"--space {each}" for each in sorted(set(spaces_of[name])))
        return f"{db} holds no problem named {name!r} in space {space!r}: give {known}."
    near = get_close_matches(name, spaces_of, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "see `metafs problems`."
    return f"{db} holds no problem named {name!r}: {hint}"


def _undescribed(name: str, distance: str, known: list[str]) -> str:
    """Say that a problem has no signature of that distance, and of which ones it has."""
    if known:
        return (
            f"{name!r} was never described by {distance!r}, only by "
            f"{' and '.join(map(repr, known))}: give --distance {known[0]}."
        )
    return (
        f"{name!r} was never described by {distance!r} nor any other distance: solve it with "
        f"--distance {distance}, in a space of its own if its columns have no names."
    )
