"""Texts that are not UTF-8: read all the same, with a note, where it is plain what they are.

DuckDB reads UTF-8 only, under a name in UTF-8. A text that begins with the mark of UTF-16 is that;
other lines that are not UTF-8 are taken for Windows-1252, the superset of Latin-1, unless they hold
control characters or codes without a meaning, as a binary file would.
"""

import codecs
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from metafs.data.checks import well_formed
from metafs.data.notes import ENCODING, Notes
from metafs.data.readers.files import BROKEN, NotUtf8, open_or_say, shown

T = TypeVar("T")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CONTROL = frozenset(range(32)) - frozenset(b"\t\n\r\f")


def read_as_utf8(path: Path, where: str, read: Callable[[Path], T], notes: Notes) -> T:
    """Read a text file, translated to UTF-8 first if it turns out to be something else."""
    with utf8_name(path) as readable:
        try:
            return read(readable)
        except NotUtf8:
            found = _translated(path, where)
            if found is None:
                raise
    content, encoding = found
    notes.columns.clear()  # what was noted before the reading failed will be noted again
    notes.add(ENCODING, encoding)
    with TemporaryDirectory() as folder:
        name = well_formed(path.name)
        copy = Path(folder, name[:-3] if name.lower().endswith(".gz") else name)
        copy.write_text(content, encoding="utf-8", newline="")
        return read(copy)


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


def _translated(path: Path, where: str) -> tuple[str, str] | None:
    """Return the text of a file and the name of its encoding, or None if that is not plain."""
    try:
        with open_or_say(path, where) as file:
            raw = file.read()
    except BROKEN:
        return None
    try:
        if raw.startswith(_UTF16):
            return raw.decode("utf-16"), "UTF-16"
        return "".join(map(_line, raw.splitlines(keepends=True))), "Latin-1 (Windows-1252)"
    except UnicodeDecodeError:
        return None


def _line(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        if _CONTROL.intersection(line):
            raise
        return line.decode("cp1252")
