"""Which files are understood, how they are opened, and what is said of those that cannot be."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, cast

from metafs.data.checks import well_formed
from metafs.errors import ProblemError

KINDS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".arff": "arff",
    ".npz": "npz",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".svm": "svmlight",
    ".toml": "stream",
}
TABLES = ("csv", "tsv", "parquet", "json", "arff")
_COMPRESSIBLE = ("csv", "tsv", "json", "arff", "svmlight")


def kind_of(path: Path) -> str | None:
    """Return what kind of file this is by its suffix, or None where no reader understands it.

    >>> kind_of(Path("a.CSV")), kind_of(Path("b.jsonl.gz")), kind_of(Path("c.txt"))
    ('csv', 'json', None)
    """
    if path.suffix.lower() == ".gz":
        kind = KINDS.get(Path(path.stem).suffix.lower())
        return kind if kind in _COMPRESSIBLE else None
    return KINDS.get(path.suffix.lower())


def stem_of(path: Path) -> str:
    """Return the file's name without its suffixes.

    >>> stem_of(Path("data/b.v2.jsonl.gz"))
    'b.v2'
    """
    return Path(path.stem).stem if path.suffix.lower() == ".gz" else path.stem


def shown(path: Path) -> str:
    """Return the path as text that can be printed and stored, whatever its bytes."""
    return well_formed(str(path))


@contextmanager
def utf8_name(path: Path) -> Iterator[Path]:
    """Lend the file under a name in UTF-8, which DuckDB insists on: its own, or that of a link."""
    if shown(path.absolute()) == str(path.absolute()):
        yield path
        return
    with TemporaryDirectory() as folder:
        link = Path(folder, well_formed(path.name))
        link.symlink_to(path.absolute())
        yield link


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file, compressed or not, for reading bytes."""
    return cast(IO[bytes], gzip.open(path)) if path.suffix.lower() == ".gz" else path.open("rb")


@contextmanager
def open_text(path: Path, where: str) -> Iterator[IO[str]]:
    """Open a text file, compressed or not; what is not UTF-8 becomes a sentence."""
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
            yield cast(IO[str], file)
    except UnicodeDecodeError:
        raise not_utf8(path, where) or unreadable(where, "its text is broken") from None
    except (OSError, EOFError) as error:
        raise unreadable(where, str(error)) from None


def refuse_empty(path: Path, where: str) -> None:
    """Refuse a file without any content."""
    with open_or_say(path, where) as file:
        try:
            if not file.read(1):
                raise ProblemError(f"{where}: the file is empty; write the table again.")
        except (OSError, EOFError) as error:
            raise unreadable(where, str(error)) from None


def open_or_say(path: Path, where: str) -> IO[bytes]:
    """Open a file for reading bytes, or say why it cannot be opened."""
    try:
        return open_bytes(path)
    except OSError as error:
        raise unreadable(where, error.strerror or str(error)) from None


def not_utf8(path: Path, where: str) -> ProblemError | None:
    """Say in which line a file stops being UTF-8, or return None where it is UTF-8 throughout."""
    try:
        with open_bytes(path) as file:
            for number, line in enumerate(file, start=1):
                try:
                    line.decode("utf-8")
                except UnicodeDecodeError:
                    return ProblemError(
                        f"{where}: line {number} is not UTF-8 text; save the file as UTF-8."
                    )
    except (OSError, EOFError):
        return None
    return None


def unreadable(where: str, why: str) -> ProblemError:
    """Say that a file cannot be read, with the first line of the reason."""
    first = (why.strip().splitlines() or ["unknown reason"])[0].rstrip(". ")
    return ProblemError(f"{where}: cannot be read ({first}); check the file or write it again.")
