"""The file of a model: a line that names the format, a hash, and an archive that fits the hash."""

import json
import os
import zipfile
from contextlib import suppress
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from metafs.data.checks import well_formed
from metafs.errors import MetafsError, UsageError, describe

FORMAT = 1

MAGIC = b"metafs model "

_DIGEST = 64

_MOST_BYTES = 2**32
"""A file that unpacks to more is none of ours."""


class ModelFileError(MetafsError):
    """A file of a model cannot be used; the message says why."""


def write_archive(path: Path, content: bytes) -> None:
    """Write a file under another name and put it in place when it is whole."""
    with NamedTemporaryFile(dir=path.parent, prefix=".saving-", delete=False) as draft:
        try:
            draft.write(MAGIC + b"%d\n" % FORMAT)
            draft.write(sha256(content).hexdigest().encode() + b"\n")
            draft.write(content)
            draft.flush()
            os.fsync(draft.fileno())
            os.chmod(draft.name, 0o666 & ~_umask())
            os.replace(draft.name, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(draft.name)
            raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read_archive(path: Path) -> bytes:
    """Return the archive in a file, once it is known to be what was written."""
    try:
        if not path.is_file():
            raise ModelFileError(f"{shown(path)}: there is no such file; check the path.")
        content = path.read_bytes()
    except OSError as error:
        raise ModelFileError(
            f"{shown(path)}: cannot be read ({error.strerror or error}); check the file."
        ) from None
    line, newline, rest = content.partition(b"\n")
    if not line.startswith(MAGIC) or not newline or len(line) > len(MAGIC) + 9:
        raise ModelFileError(
            f"{shown(path)}: is no model of metafs, or damaged; save the model again with "
            "`metafs solve --save-models`."
        )
    number = line[len(MAGIC) :]
    if number != b"%d" % FORMAT:
        why = "was saved by a newer metafs" if number.isdigit() else "is damaged"
        raise ModelFileError(
            f"{shown(path)}: {why}; upgrade metafs, or save the model again with "
            "`metafs solve --save-models`."
        )
    digest, packed = rest[:_DIGEST], rest[_DIGEST + 1 :]
    whole = rest[_DIGEST : _DIGEST + 1] == b"\n" and digest == sha256(packed).hexdigest().encode()
    if not whole:
        raise ModelFileError(
            f"{shown(path)}: is damaged or cut short; put a copy back, or save the model again "
            "with `metafs solve --save-models`."
        )
    return packed


def read_header(path: Path, packed: bytes) -> dict[str, Any]:
    """Return the description of a model from its archive."""
    try:
        with zipfile.ZipFile(BytesIO(packed)) as archive:
            if sum(each.file_size for each in archive.infolist()) > _MOST_BYTES:
                raise ValueError("it unpacks to more than 4 GB")
            header = json.loads(archive.read("model.json"))
        if not isinstance(header, dict):
            raise ValueError("its description is none")
        return header
    except Exception as error:  # a whole file, but not one that we wrote
        raise not_ours(path, describe(error)) from error


def not_ours(path: Path, why: str) -> ModelFileError:
    """Return the error for a whole file that metafs has not written."""
    return ModelFileError(
        f"{shown(path)}: is not a model that metafs can load ({why}); save it again with "
        "`metafs solve --save-models`."
    )


def shown(path: Path) -> str:
    """Return a path as messages show it."""
    return well_formed(str(path))


def make_folder(folder: Path) -> Path:
    """Make a folder for models and return its whole path."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=folder, prefix=".saving-"):
            pass
    except OSError as error:
        raise UsageError(
            f"models cannot be saved in {shown(folder)} ({error.strerror or error}): give "
            "another folder."
        ) from None
    return folder.resolve()
