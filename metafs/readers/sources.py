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

from metafs.checks import listing
from metafs.errors import ProblemError, UsageError
from metafs.problem import Problem
from metafs.readers import arrays, metafeatures, tables
from metafs.readers.demo import DEMOS, PREFIX
from metafs.readers.files import KINDS, TABLES, kind_of, stem_of
from metafs.readers.source import ReadOptions, Source
from metafs.readers.streams import Entry, Meta, read_entries
from metafs.target import TASKS


def sources(
    names: Sequence[str | PathLike[str]], options: ReadOptions | None = None
) -> list[Source]:
    """Return a source for every problem that these files, folders, streams and demos hold."""
    options = options or ReadOptions()
    _check(options)
    return [source for name in names for source in _expand(fspath(name), options)]


def _check(options: ReadOptions) -> None:
    if options.task not in TASKS:
        raise UsageError(f"The task '{options.task}' is unknown; choose one of {', '.join(TASKS)}.")
    for role, columns in (("kept", options.keep), ("a target", options.targets)):
        for name in columns:
            if name in options.drop:
                raise UsageError(f"The column '{name}' is both {role} and dropped; choose one.")
    for name in options.keep:
        if name in options.targets:
            raise UsageError(f"The column '{name}' is both a target and kept; choose one.")


def _expand(name: str, options: ReadOptions, *, in_stream: bool = False) -> Iterator[Source]:
    path = Path(name)
    if name.startswith(PREFIX):
        yield from _demo(name)(options)
    elif path.is_dir():
        yield from _folder(path, options)
    elif not path.exists():
        raise UsageError(f"There is no file or folder '{name}'; check the path.")
    elif kind_of(path) != "stream":
        yield from _file(path, options)
    elif in_stream:
        raise UsageError(f"{name}: a stream file cannot be the source of another; list it itself.")
    else:
        for entry in read_entries(path, options):
            yield from _entry(entry)


def _demo(name: str) -> Callable[[ReadOptions], list[Source]]:
    if name not in DEMOS:
        near = get_close_matches(name, DEMOS, n=3, cutoff=0.4)
        hint = f"did you mean {listing(near)}?" if near else f"there is {listing([*DEMOS])}."
        raise UsageError(f"There is no demo '{name}'; {hint}")
    return DEMOS[name]


def _folder(folder: Path, options: ReadOptions) -> Iterator[Source]:
    files = [
        path
        for path in sorted(folder.iterdir())
        if path.is_file()
        and not path.name.startswith(".")
        and kind_of(path) not in (None, "stream")
    ]
    if not files:
        raise UsageError(
            f"The folder '{folder}' holds no problems; put files of these kinds directly into it: "
            f"{_suffixes()}."
        )
    for path in files:
        yield from _file(path, options)


def _file(path: Path, options: ReadOptions) -> Iterator[Source]:
    kind = kind_of(path)
    if kind is None:
        raise UsageError(
            f"'{path}' has a suffix that no reader understands; those understood are {_suffixes()}."
        )
    stem = stem_of(path)
    if kind not in TABLES:
        name = arrays.stored_name(path) or stem if kind == "npz" else stem
        yield Source(
            name, str(path), partial(arrays.READERS[kind], path, name, options), options.keep
        )
        return
    if not options.targets:
        raise UsageError(_without_target(path))
    for target in dict.fromkeys(options.targets):
        name = stem if len(options.targets) == 1 else f"{stem}:{target}"
        reader = partial(tables.read_problem, path, name, target, options)
        yield Source(name, str(path), reader, options.keep)


def _entry(entry: Entry) -> Iterator[Source]:
    """Expand one entry of a stream; its name goes before what tells several problems apart."""
    try:
        _check(entry.options)
        expanded = list(_expand(entry.source, entry.options, in_stream=True))
    except UsageError as error:
        raise UsageError(f"{entry.where}: {error}") from None
    for source in expanded:
        name = source.name
        if entry.name is not None:
            stem, colon, target = source.name.rpartition(":")
            name = entry.name
            if len(expanded) > 1:
                name += f":{target if colon and stem else source.name}"
        reader = partial(_read_entry, source, name, entry.meta_features)
        yield replace(source, name=name, reader=reader)


def _read_entry(source: Source, name: str, meta_features: Meta | None) -> Problem:
    problem = replace(source.read(), name=name)
    if meta_features is None:
        return problem
    return metafeatures.attach(problem, meta_features)


def _without_target(path: Path) -> str:
    try:
        columns = tables.column_names(path)
    except ProblemError as error:
        return str(error)
    return f"{path}: say with --target which column to predict; its columns are {listing(columns)}."


def _suffixes() -> str:
    return ", ".join(KINDS)
