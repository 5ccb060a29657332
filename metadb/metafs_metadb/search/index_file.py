"""Arrays kept in one file: written whole or not at all, mapped instead of read, and checked.

A file begins with a magic word, the length and the checksum of its header, and the header itself:
JSON that says what the arrays are about, and for each array its type, shape, place and checksum.
A draft is renamed into place, so no reader sees half a file; a process that has mapped an older one
keeps it. What is missing, damaged, cut off or of another machine's byte order is no file at all.
"""

import json
import os
import sys
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metafs_metadb.files.draft import draft_of

MAGIC = b"metafs arrays 1\n"
PREAMBLE = len(MAGIC) + 16
PAGE = 4096  # arrays begin at whole pages
CHUNK = 1 << 22


@dataclass(frozen=True, eq=False)
class IndexFile:
    """What a file holds: a few plain values about its arrays, and the arrays by name."""

    about: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]


def checksum(part: bytes | memoryview) -> int:
    """Return the sum of all 64-bit words, modulo 2^64: quick, and no lost page goes unnoticed.

    Examples
    --------
    >>> checksum(bytes([1, 0, 0, 0, 0, 0, 0, 0]) * 3) == checksum(bytes(24))
    False
    """
    whole = len(part) // 8 * 8
    words = int(np.add.reduce(np.frombuffer(part[:whole], np.uint64))) if whole else 0
    return (words + int.from_bytes(part[whole:], sys.byteorder)) % 2**64


def write(path: Path, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Write arrays to a file, replacing what is there; return whether that was possible."""
    try:
        path.parent.mkdir(exist_ok=True)
        with draft_of(path) as draft:
            with draft.open("wb") as file:
                _write(file, about, arrays)
            os.replace(draft, path)
    except OSError:  # a folder that is read-only or full: we do without
        return False
    return True


def _write(file: Any, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    entries = {
        name: {
            "dtype": array.dtype.str,
            "shape": array.shape,
            "sum": checksum(array.reshape(-1).view(np.uint8).data),
        }
        for name, array in contiguous.items()
    }
    header = json.dumps({"about": dict(about), "order": sys.byteorder, "arrays": entries}).encode()
    file.write(MAGIC + len(header).to_bytes(8, "little"))
    file.write(zlib.crc32(header).to_bytes(8, "little") + header)
    for array in contiguous.values():
        file.seek(-(-file.tell() // PAGE) * PAGE)
        file.write(array.data)
    file.truncate(-(-file.tell() // PAGE) * PAGE)  # so that an empty last array has a place


def read(path: Path, *, private: bool = False) -> IndexFile | None:
    """Map the arrays of a file, or return None if there is none that is sound.

    Changes to `private` arrays stay in this process.
    """
    try:
        with path.open("rb") as file:
            header, begin = _header(file)
            if header["order"] != sys.byteorder:
                return None
            mapped = np.memmap(file, np.uint8, mode="c" if private else "r")
            arrays = {}
            for name, entry in header["arrays"].items():
                begin = -(-begin // PAGE) * PAGE
                dtype, shape = np.dtype(entry["dtype"]), tuple(entry["shape"])
                end = begin + dtype.itemsize * int(np.prod(shape, dtype=np.int64))
                if end > len(mapped) or _checksum_of(file, begin, end) != entry["sum"]:
                    return None
                arrays[name] = np.asarray(mapped[begin:end]).view(dtype).reshape(shape)
                begin = end
            return IndexFile(header["about"], arrays)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _header(file: Any) -> tuple[dict[str, Any], int]:
    preamble = file.read(PREAMBLE)
    length = int.from_bytes(preamble[len(MAGIC) : -8], "little")
    size = os.fstat(file.fileno()).st_size
    if len(preamble) < PREAMBLE or preamble[: len(MAGIC)] != MAGIC or length > size:
        raise ValueError("not a file of ours")
    header = file.read(length)
    if zlib.crc32(header) != int.from_bytes(preamble[-8:], "little"):
        raise ValueError("a damaged header")
    return dict(json.loads(header)), PREAMBLE + length


def _checksum_of(file: Any, begin: int, end: int) -> int:
    """Return the checksum of a part of a file; read by and by, so that memory stays small."""
    file.seek(begin)
    total = 0
    while begin < end:
        part = file.read(min(CHUNK, end - begin))
        if not part:
            raise ValueError("a file cut off")
        total += checksum(part)
        begin += len(part)
    return total % 2**64
