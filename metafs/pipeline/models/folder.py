"""A folder of models: which file holds the model of which problem.

The name of a file begins with what of the problem's name any file system can hold, for people; a
hash of the whole name and one of the space follow, so that no two problems share a file, and the
file of a problem is found without opening any other.
"""

import re
import unicodedata
from difflib import get_close_matches
from hashlib import blake2b
from pathlib import Path

from metafs.data.checks import listing, well_formed
from metafs.errors import UsageError
from metafs.pipeline.models.archive import ModelFileError
from metafs.pipeline.models.model_file import About, about

SUFFIX = ".metafs"
_LONGEST = 60
_MOST_READ = 2000


def file_name(problem: str, space: str | None) -> str:
    """Return the name of the file for the model of a problem.

    Examples
    --------
    >>> file_name("digits 3 vs 8", "digits")
    'digits_3_vs_8-2556f5fd8aa4dc2b-780519d7.metafs'
    """
    readable = unicodedata.normalize("NFKD", problem).encode("ascii", "ignore").decode()
    readable = re.sub(r"[^A-Za-z0-9.]+", "_", readable).strip("._")[:_LONGEST] or "problem"
    return f"{readable}-{_hash(problem, 8)}-{_hash(space or '', 4)}{SUFFIX}"


def find(folder: Path, problem: str, space: str | None) -> Path:
    """Return the file with the model of a problem, or say which names come close.

    Without a `space` it may be in any, as long as it is in one only.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder {_shown(folder)}: check --models.")
    if space is not None:
        named = folder / file_name(problem, space)
        found = [named] if named.is_file() else []
    else:
        found = sorted(folder.glob(f"*-{_hash(problem, 8)}-*{SUFFIX}"))
    if len(found) > 1:
        spaces = [str(about(each).space) for each in found]
        known = " or ".join(f"--space {each}" for each in spaces)
        raise UsageError(
            f"{_shown(folder)} has models of {problem!r} in several spaces: give {known}."
        )
    if found:
        return found[0]
    near = get_close_matches(problem, [each.problem for each in contents(folder)], n=3, cutoff=0.4)
    hint = f"did you mean {listing(near)}?" if near else "`metafs solve --save-models` saves them."
    within = "" if space is None else f" in space {space!r}"
    raise UsageError(f"{_shown(folder)} has no model of {problem!r}{within}: {hint}")


def contents(folder: Path) -> list[About]:
    """Return what the models of a folder are of; files that cannot be read are left out."""
    found = []
    for path in sorted(folder.glob(f"*{SUFFIX}"))[:_MOST_READ]:
        try:
            found.append(about(path))
        except ModelFileError:
            continue
    return found


def _hash(text: str, n_bytes: int) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=n_bytes).hexdigest()


def _shown(path: Path) -> str:
    return well_formed(str(path))
