"""`metafs neighbours`: the problems nearest to one that the MetaDB holds."""

import click

from metafs.cli.app import Sentences
from metafs.cli.lookup import among_spaces_option, problem_named
from metafs.cli.options import db_option, json_option
from metafs.cli.output import echo_json, echo_message, echo_table
from metafs.errors import MetafsError
from metafs.memory import Experience, MetaDB, Neighbour

COLUMNS = ("rank", "problem", "distance", "common_features", "common_selected")


@click.command(cls=Sentences)
@click.argument("name")
@click.option(
    "--distance", default="jsd-features", show_default=True, help="Distance between problems."
)
@click.option(
    "-k",
    "--neighbours",
    "k",
    type=click.IntRange(min=1),
    metavar="K",
    default=5,
    show_default=True,
    help="Number of neighbours.",
)
@among_spaces_option
@db_option
@json_option
def neighbours(name: str, distance: str, k: int, space: str | None, db: str, as_json: bool) -> None:
    """List the solved problems nearest to the problem NAME.

    common_features are the features that both have, common_selected those that the best runs of
    both selected.

    Example: metafs neighbours "digits 3 vs 8"
    """
    metadb = MetaDB(db)
    problem = problem_named(metadb, name, space)
    signature = metadb.signature(problem["problem_id"], distance)
    if signature is None:
        raise MetafsError(_undescribed(name, distance, metadb.distances(problem["problem_id"])))
    found = metadb.search(distance, problem["space"]).nearest(
        *signature, k, exclude_fingerprint=problem["fingerprint"]
    )
    rows = [
        (rank, each.name, each.distance, *both)
        for rank, (each, both) in enumerate(
            zip(found, _in_common(metadb, problem["problem_id"], found), strict=True), start=1
        )
    ]
    if as_json:
        echo_json(COLUMNS, rows)
        return
    if rows:
        echo_table(COLUMNS, rows)
    else:
        echo_message("no other solved problem shares anything with it.")
    if n_forgotten := metadb.n_forgotten_neighbours(problem["problem_id"]):
        echo_message(f"its runs also recalled forgotten problems, {n_forgotten} times.")


def _in_common(
    metadb: MetaDB, problem_id: int, near: list[Neighbour]
) -> list[tuple[int | None, int | None]]:
    """Return how many features each neighbour shares, and how many were selected in both."""
    runs = metadb.experience([problem_id, *(each.problem_id for each in near)])
    features = {key: (set(run.names), _selected(run)) for key, run in runs.items()}
    if problem_id not in features:
        return [(None, None)] * len(near)
    had, selected = features[problem_id]
    nothing: tuple[set[str], set[str]] = set(), set()
    there = [features.get(each.problem_id, nothing) for each in near]
    return [(len(had & theirs), len(selected & their_choice)) for theirs, their_choice in there]


def _selected(run: Experience) -> set[str]:
    return {name for name, chosen in zip(run.names, run.selected, strict=True) if chosen}


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
