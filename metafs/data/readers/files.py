"""Which files are supported, how they are opened, and the errors for those that cannot be."""

import errno
import gzip
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from metafs.data.checks import well_formed
from metafs.data.limits import check_table_bytes, max_table_bytes
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


class NotUtf8(ProblemError):
    """A text file has bytes that are not UTF-8."""


TABLES = ("csv", "tsv", "parquet", "json", "arff")
_COMPRESSIBLE = ("csv", "tsv", "json", "arff", "svmlight")
_SPECIAL = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
BROKEN = (OSError, EOFError, zlib.error)
"""What reading a file that is not whole, or not what its name says, raises."""
_DEFLATE = 1032
"""How many bytes one byte of deflated data can stand for."""


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


def no_file(path: Path, *, or_folder: bool = False) -> str | None:
    """Say why there is nothing to read at a path, without opening it; None: there is a file.

    Opening a pipe would wait for a program to write into it.
    """
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
    except FileNotFoundError:
        if path.is_symlink():
            target = shown(Path(os.readlink(path)))
            return f"'{shown(path)}' is a link to '{target}', which is not there; fix the link."
        wanted = "file or folder" if or_folder else "file"
        return f"there is no {wanted} '{shown(path)}'; check the path."
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno == errno.ELOOP:
            return f"'{shown(path)}' is a link that leads back to itself; fix the link."
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        return f"'{shown(path)}' cannot be read ({why}); check the path."
    if kind in _SPECIAL:
        return f"'{shown(path)}' is {_SPECIAL[kind]}, not a file; write the table to a file first."
    if kind == stat.S_IFDIR and not or_folder:
        return f"'{shown(path)}' is a folder, not a file; name a file in it."
    return None


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
    except BROKEN as error:
        raise unreadable(where, str(error)) from None


def refuse_empty(path: Path, where: str) -> None:
    """Refuse what is no file, a file without any content, and one that unpacks to too much."""
    if wrong := no_file(path):
        raise ProblemError(f"{where}: {wrong}")
    _refuse_large(path, where)
    with open_or_say(path, where) as file:
        try:
            if not file.read(1):
                raise ProblemError(f"{where}: the file is empty; write the table again.")
        except BROKEN as error:
            raise unreadable(where, str(error)) from None


def _refuse_large(path: Path, where: str) -> None:
    """Refuse a compressed text beyond the limit of size; it is unpacked to count, but not kept."""
    limit = max_table_bytes()
    if path.suffix.lower() != ".gz" or path.stat().st_size * _DEFLATE <= limit:
        return
    size = 0
    with open_or_say(path, where) as file:
        try:
            while size <= limit and (part := file.read(2**20)):
                size += len(part)
        except BROKEN:
            return  # its reader reports what is wrong
    check_table_bytes(size, "its text, unpacked,", where, at_least=True)


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
                    return NotUtf8(
                        f"{where}: line {number} is not UTF-8 text; save the file as UTF-8."
                    )
    except BROKEN:
        return None
    return None


def unreadable(where: str, why: str) -> ProblemError:
    """Say that a file cannot be read, with the first line of the reason."""
    first = (why.strip().splitlines() or ["unknown reason"])[0].rstrip(". ")
    return ProblemError(f"{where}: cannot be read ({first}); check the file or write it again.")
