"""Names that tell the problems of one request apart.

A problem is called after its file. Where that makes two of a kind, the suffix tells files of one
folder apart, and the nearest folders tell those of different folders apart.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count
from os.path import abspath
from pathlib import Path

from metafs.data.readers.files import stem_of
from metafs.data.readers.source import Source


def distinct(sources: Sequence[Source]) -> list[Source]:
    """Return the sources, those renamed whose files give several of them the same name."""
    origins: dict[str, set[str]] = {}
    for source in sources:
        origins.setdefault(source.name, set()).add(source.origin)
    names = {name: distinct_names(files) for name, files in origins.items() if len(files) > 1}
    return [
        replace(source, name=names[source.name][source.origin] + source.name[len(source.stem) :])
        if source.stem and source.name in names
        else source
        for source in sources
    ]


def distinct_names(files: Iterable[str]) -> dict[str, str]:
    """Return the shortest names that differ for files of the same stem.

    >>> sorted(distinct_names(["a/train.csv", "b/train.csv"]).values())
    ['a/train', 'b/train']
    >>> sorted(distinct_names(["a/bad.arff", "a/bad.json"]).values())
    ['bad.arff', 'bad.json']
    """
    paths = {file: Path(abspath(file)) for file in files}
    n_files = Counter(path.parent for path in set(paths.values()))
    names = {}
    for n_folders in count():
        for file, path in paths.items():
            alone = n_files[path.parent] == 1
            nearest = path.parent.parts[max(0, len(path.parent.parts) - n_folders) :]
            names[file] = "/".join((*nearest, stem_of(path) if alone else path.name))
        if len(set(names.values())) == len(set(paths.values())):
            break
    return names
