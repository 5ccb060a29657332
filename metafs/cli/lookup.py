"""How commands find the one problem that a person names."""

from difflib import get_close_matches
from typing import Any

import click

from metafs.errors import UsageError
from metafs.memory import MetaDB, Table

among_spaces_option = click.option(
    "--space", help="The pool of features to look in, if the name is in several."
)


def problem_named(metadb: MetaDB, name: str, space: str | None) -> dict[str, Any]:
    """Return the latest problem of that name, or say which names come close."""
    problem = metadb.find_problem(name, space)
    if problem is None:
        raise UsageError(_unknown(name, space, str(metadb.path), metadb.problems()))
    return problem


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
