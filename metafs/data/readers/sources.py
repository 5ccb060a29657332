"""From what the user names to the list of problems to read: files, folders, streams, demos.

Nothing but headers is read here, so the length of a stream is known at once. What is wrong with
the request as a whole is a `UsageError`; what is wrong with one problem waits until it is read.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from metafs.data.checks import listing
from metafs.data.problem import Problem
from metafs.data.readers import arrays, metafeatures, tables
from metafs.data.readers.demo import DEMOS, PREFIX
from metafs.data.readers.files import KINDS, TABLES, kind_of, no_file, shown, stem_of
from metafs.data.readers.frames import frame_sources
from metafs.data.readers.naming import distinct
from metafs.data.readers.source import ReadOptions, Source
from metafs.data.readers.streams import Entry, Meta, read_entries
from metafs.data.readers.wanted import check_wanted, column_names
from metafs.data.row_values import OPTIONS
from metafs.data.target import check_task
from metafs.errors import ProblemError, UsageError


def sources(
    names: Sequence[str | PathLike[str]], options: ReadOptions | None = None
) -> list[Source]:
    """Return a source for every problem that these files, folders, streams and demos hold."""
    options = options or ReadOptions()
    _check(options)
    given = [fspath(name) for name in names]
    found = [source for name in given for source in _expand(name, options)]
    files = [_files(name) for name in given]
    if all(files):
        check_wanted([path for each in files for path in each], options)
    return distinct(_described(found, options))


def sources_of_frames(frames: Sequence[Any], options: ReadOptions) -> list[Source]:
    """Return a source for every target of these data frames."""
    _check(options)
    found = []
    for number, frame in enumerate(frames, start=1):
        name = "frame" if len(frames) == 1 else f"frame {number}"
        found += frame_sources(frame, name, options)
    return _described(found, options)


def _described(found: list[Source], options: ReadOptions) -> list[Source]:
    """Return the sources with the features described that do not describe them themselves."""
    if options.meta_features is None:
        return found
    described = partial(_read_described, table=_feature_table(options.meta_features))
    return [replace(source, reader=partial(described, source)) for source in found]


def _check(options: ReadOptions) -> None:
    check_task(options.task)
    for role, columns in (("kept", options.keep), ("a target", options.targets)):
        for name in columns:
            if name in options.drop:
                raise UsageError(f"the column '{name}' is both {role} and dropped; choose one.")
    for name in options.keep:
        if name in options.targets:
            raise UsageError(f"the column '{name}' is both a target and kept; choose one.")
    for field, name in options.of_rows.items():
        for role, columns in (
            ("a target", options.targets),
            ("kept", options.keep),
            ("dropped", options.drop),
        ):
            if name in columns:
                raise UsageError(
                    f"the column '{name}' is both {role} and given with {OPTIONS[field]}; choose "
                    "one."
                )


def _expand(name: str, options: ReadOptions, *, in_stream: bool = False) -> Iterator[Source]:
    if not name:
        raise UsageError("the name of a file or folder is empty; write . for this folder.")
    if name.startswith(PREFIX):
        for field, column in options.of_rows.items():
            raise UsageError(
                f"{name} has no column '{column}' (for {OPTIONS[field]}); leave it out."
            )
        yield from _demo(name)(options)
        return
    path = Path(name)
    if wrong := no_file(path, or_folder=True):
        raise UsageError(wrong)
    if path.is_dir():
        yield from _folder(path, options)
    elif kind_of(path) != "stream":
        yield from _file(path, options)
    elif in_stream:
        raise UsageError(
            f"{shown(path)}: a stream file cannot be the source of another; list it itself."
        )
    else:
        for entry in read_entries(path, options):
            yield from _entry(entry)


def _demo(name: str) -> Callable[[ReadOptions], list[Source]]:
    if name not in DEMOS:
        near = get_close_matches(name, DEMOS, n=3, cutoff=0.4)
        hint = f"did you mean {listing(near)}?" if near else f"there is {listing([*DEMOS])}."
        raise UsageError(f"there is no demo '{name}'; {hint}")
    return DEMOS[name]


def _files(name: str) -> list[Path]:
    """Return the files that a name stands for; none for a demo or a stream."""
    path = Path(name)
    if name.startswith(PREFIX) or kind_of(path) == "stream":
        return []
    return _files_in(path) if path.is_dir() else [path]


def _files_in(folder: Path) -> list[Path]:
    return [
        path
        for path in sorted(folder.iterdir())
        if not path.is_dir()
        and not path.name.startswith(".")
        and kind_of(path) not in (None, "stream")
    ]


def _folder(folder: Path, options: ReadOptions) -> Iterator[Source]:
    files = _files_in(folder)
    if not files:
        raise UsageError(
            f"{shown(folder)}: the folder holds no problems; put files of these kinds directly "
            f"into it: {_suffixes()}."
        )
    for path in files:
        yield from _file(path, options)


def _file(path: Path, options: ReadOptions) -> Iterator[Source]:
    kind = kind_of(path)
    if kind is None:
        raise UsageError(
            f"{shown(path)}: no reader understands this suffix; those understood are {_suffixes()}."
        )
    if kind in TABLES and not options.targets:
        raise UsageError(_without_target(path))
    read = tables.read_problem if kind in TABLES else arrays.READERS[kind]
    stem = stem_of(path)
    given = arrays.stored_name(path) if kind == "npz" else None
    targets = dict.fromkeys(options.targets or ("y",))
    for target in targets:
        name = (given or stem) + (f":{target}" if len(targets) > 1 else "")
        reader = partial(read, path, name, target, options)
        yield Source(name, str(path), reader, options.keep, "" if given else stem)


def _entry(entry: Entry) -> Iterator[Source]:
    """Expand one entry of a stream; its name goes before what tells several problems apart."""
    try:
        _check(entry.options)
        expanded = list(_expand(entry.source, entry.options, in_stream=True))
        if len(files := _files(entry.source)) > 1:
            check_wanted(files, entry.options)
        if entry.name is not None:
            expanded = distinct(expanded)
    except UsageError as error:
        raise UsageError(f"{entry.where}: {error}") from None
    for source in expanded:
        if entry.name is not None:
            source = replace(source, name=_name_in(entry.name, source, len(expanded)), stem="")
        if entry.meta_features is not None:
            source = replace(source, reader=partial(_read_with, source, entry.meta_features))
        yield source


def _name_in(given: str, source: Source, n_sources: int) -> str:
    if n_sources == 1:
        return given
    stem, colon, target = source.name.rpartition(":")
    return f"{given}:{target if colon and stem else source.name}"


def _read_with(source: Source, meta_features: Meta) -> Problem:
    return metafeatures.attach(source.read(), meta_features)


def _feature_table(path: Path) -> metafeatures.FeatureTable:
    """Read the table for all problems once; what is wrong with it is wrong with the request."""
    try:
        return metafeatures.read_feature_table(path)
    except ProblemError as error:
        raise UsageError(str(error)) from None


def _read_described(source: Source, table: metafeatures.FeatureTable) -> Problem:
    """Read a problem, and describe its features unless it does so itself."""
    problem = source.read()
    if problem.meta_features is not None:
        return problem
    return metafeatures.attach(problem, table)


def _without_target(path: Path) -> str:
    where = shown(path)
    try:
        columns = column_names(path)
    except ProblemError as error:
        return str(error)
    return (
        f"{where}: say with --target which column to predict; its columns are {listing(columns)}."
    )


def _suffixes() -> str:
    return ", ".join(KINDS)
