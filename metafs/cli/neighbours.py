"""`metafs neighbours`: the problems nearest to one that the MetaDB holds."""

from difflib import get_close_matches

import click

from metafs.cli.app import Sentences, db_option, json_option
from metafs.cli.output import echo_rows
from metafs.errors import MetafsError, UsageError
from metafs_metadb import MetaDB

COLUMNS = ("rank", "problem", "distance")


@click.command(cls=Sentences)
@click.argument("name")
@click.option("--distance", default="jsd-features", show_default=True, help="How to compare.")
@click.option("-k", "--neighbours", "k", default=5, show_default=True, help="How many.")
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
        known = [
            str(row[metadb.problems().columns.index("name")]) for row in metadb.problems().rows
        ]
        near = get_close_matches(name, known, n=3, cutoff=0.4)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "see `metafs problems`."
        raise UsageError(f"{db} holds no problem named {name!r}: {hint}")
    signature = metadb.signature(problem["problem_id"], distance)
    if signature is None:
        raise MetafsError(
            f"{name!r} was never described by {distance!r}: solve it with --distance {distance}, "
            "in a space of its own if its columns have no names."
        )
    keys, p = signature
    found = metadb.neighbours(
        keys,
        p,
        distance=distance,
        space=problem["space"],
        k=k,
        exclude_fingerprint=problem["fingerprint"],
    )
    rows = [(rank, each.name, each.distance) for rank, each in enumerate(found, start=1)]
    echo_rows(COLUMNS, rows, as_json=as_json)
    if not rows and not as_json:
        click.echo("no other solved problem shares anything with it.", err=True)
