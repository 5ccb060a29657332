"""Columns that a request names must be in at least one of its tables.

A mistyped target would otherwise fail every table of a folder; it is wrong usage, reported once
before anything is solved. A column that only some tables lack fails only those.
"""

import zipfile
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from pathlib import Path

from metafs.data.checks import listing, unknown_column
from metafs.data.notes import Notes
from metafs.data.readers import delimited, tables
from metafs.data.readers.encodings import read_as_utf8
from metafs.data.readers.files import TABLES, kind_of, no_file, shown
from metafs.data.readers.source import ReadOptions
from metafs.errors import ProblemError, UsageError


def check_wanted(paths: Sequence[Path], options: ReadOptions) -> None:
    """Refuse columns that are asked for and that none of these files has."""
    for role, name in options.wanted:
        _check(name, role, paths)


def _check(name: str, role: str, paths: Sequence[Path]) -> None:
    seen: dict[str, None] = {}
    readable = []
    for path in paths:
        try:
            columns = _columns(path, role)
        except ProblemError:
            continue  # reported when it is read
        if columns is None or name in columns:
            return
        readable.append(path)
        seen |= dict.fromkeys(columns)
    if len(readable) == 1:
        if kind_of(readable[0]) not in TABLES:
            return  # its reader lists the arrays
        if kind_of(readable[0]) in ("csv", "tsv"):
            try:
                delimited.refuse_headless(list(seen), shown(readable[0]))
            except ProblemError as error:
                raise UsageError(str(error)) from None
        raise UsageError(unknown_column(shown(readable[0]), name, list(seen), role=role))
    if readable:
        near = get_close_matches(name, seen, n=3)
        hint = f"did you mean {listing(near)}?" if near else f"they have {listing(list(seen))}."
        raise UsageError(
            f"none of the {len(readable)} tables has a column '{name}' ({role}); {hint}"
        )


def _columns(path: Path, role: str) -> Collection[str] | None:
    """Return the columns of a file as far as its header has them; None if it has none."""
    if wrong := no_file(path):
        raise ProblemError(wrong)
    kind = kind_of(path)
    if kind in TABLES:
        return column_names(path)
    if role != "the target":
        return None
    if kind == "svmlight":
        return ("y",)
    try:
        with zipfile.ZipFile(path) as file:
            return {member.removesuffix(".npy") for member in file.namelist()}
    except (OSError, zipfile.BadZipFile):
        raise ProblemError(f"{shown(path)}: is not an npz file.") from None


def column_names(path: Path) -> tuple[str, ...]:
    """Return the names of a table's columns, whatever its encoding."""
    where = shown(path)
    return read_as_utf8(path, where, lambda copy: tables.column_names(copy, where), Notes())
