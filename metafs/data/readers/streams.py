"""Stream files: a TOML list of problems, each with its source and how to read it.

    [[problem]]
    source = "churn/acme.csv"          # a path relative to this file, or demo:digits
    target = "left"                    # or a list: one problem for each
    name = "acme"
    meta_features = "features.csv"     # keyed by its first column; or a table feature -> numbers

`space`, `task`, `keep` and `drop` are as on the command line and add to what is given there, and so
are `groups`, `time` and `weight`, columns that tell of rows.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from metafs.data.readers.demo import PREFIX
from metafs.data.readers.files import no_file, shown
from metafs.data.readers.source import ReadOptions
from metafs.errors import UsageError

_OF_ROWS = ("groups", "time", "weight")
_TEXTS = ("source", "name", "space", "task", *_OF_ROWS)
_LISTS = ("target", "keep", "drop")
_KEYS = (*_TEXTS, *_LISTS, "meta_features")

Meta = Path | Mapping[str, Any]


@dataclass(frozen=True)
class Entry:
    """One problem of a stream file: `where` it is listed, its source and how to read it."""

    where: str
    source: str
    options: ReadOptions
    name: str | None = None
    meta_features: Meta | None = None


def read_entries(path: Path, options: ReadOptions) -> list[Entry]:
    """Return the entries of a stream file, paths made relative to where it stands."""
    where = shown(path)
    try:
        document = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise UsageError(f"{where}: is not UTF-8 text; save the file as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        why = str(error).rstrip(".")
        raise UsageError(f"{where}: is not valid TOML: {why}; fix it.") from None
    except OSError as error:
        raise UsageError(f"{where}: cannot be read ({error.strerror}); check the file.") from None
    problems = document.pop("problem", None)
    if document:
        raise UsageError(
            f"{where}: '{next(iter(document))}' is unknown; list the problems under [[problem]]."
        )
    if not isinstance(problems, list) or not problems:
        raise UsageError(f"{where}: lists no problems; write each under [[problem]].")
    return [
        _entry(problem, f"{where}: problem {number}", path.parent, options)
        for number, problem in enumerate(problems, start=1)
    ]


def _entry(problem: Any, where: str, folder: Path, options: ReadOptions) -> Entry:
    if not isinstance(problem, dict):
        raise UsageError(f"{where}: is not a table; write it under [[problem]].")
    for key in problem:
        if key not in _KEYS:
            near = get_close_matches(key, _KEYS, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"use {', '.join(_KEYS)}."
            raise UsageError(f"{where}: the key '{key}' is unknown; {hint}")
    texts = {key: _text(problem[key], key, where) for key in _TEXTS if key in problem}
    lists = {key: _texts(problem[key], key, where) for key in _LISTS if key in problem}
    if "source" not in texts:
        raise UsageError(f'{where}: has no source; add source = "file.csv" or another.')
    source = texts["source"]
    return Entry(
        where=where,
        source=source if source.startswith(PREFIX) else str(folder / source),
        name=texts.get("name"),
        meta_features=_meta(problem.get("meta_features"), where, folder),
        options=replace(
            options,
            targets=lists.get("target", options.targets),
            space=texts.get("space", options.space),
            task=texts.get("task", options.task),
            groups=texts.get("groups", options.groups),
            time=texts.get("time", options.time),
            weight=texts.get("weight", options.weight),
            keep=tuple(dict.fromkeys((*options.keep, *lists.get("keep", ())))),
            drop=tuple(dict.fromkeys((*options.drop, *lists.get("drop", ())))),
        ),
    )


def _text(value: Any, key: str, where: str) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{where}: {key} must be text; put it in quotes.")
    if not value:
        raise UsageError(f"{where}: {key} is empty; write something or leave the line out.")
    return value


def _texts(value: Any, key: str, where: str) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(v, str) for v in values):
        raise UsageError(f"{where}: {key} must be a column's name or a list of names in quotes.")
    return tuple(values)


def _meta(value: Any, where: str, folder: Path) -> Meta | None:
    if value is None or isinstance(value, dict):
        return value
    if not isinstance(value, str):
        raise UsageError(
            f"{where}: meta_features must be a file's path or a table of feature = numbers."
        )
    path = folder / value
    if wrong := no_file(path):
        raise UsageError(f"{where}: for meta_features, {wrong}")
    return path
