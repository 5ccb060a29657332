"""A model in a file, in a format that runs no code when it is loaded.

A file is a line that names the format, the SHA-256 of all that follows, and a zip archive with

    model.json        what the model is of, the columns it needs, and the versions that wrote it
    estimator.skops   the fitted scikit-learn estimator, in the format of skops

Nothing of the archive is looked at before its hash is checked, so a damaged file is refused for
being damaged, whatever the damage would have done. What is inside is then built from named types
only (`metafs.pipeline.models.trusted_types`).
"""

import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

import sklearn

from metafs.data.checks import listing, well_formed
from metafs.data.column_form import ColumnForm
from metafs.data.layout import Layout
from metafs.errors import MetafsError, describe
from metafs.pipeline.models.archive import (
    FORMAT,
    ModelFileError,
    not_ours,
    read_archive,
    read_header,
    shown,
    write_archive,
)
from metafs.pipeline.models.model import FittedModel
from metafs.pipeline.models.trusted_types import TRUSTED
from metafs.version import __version__


@dataclass(frozen=True)
class About:
    """What a file says of its model before the model is loaded."""

    problem: str
    space: str | None
    target: str
    features: tuple[str, ...]
    metafs: str
    scikit_learn: str
    saved_at: str
    score: float | None = None
    scoring: str | None = None


def save(
    model: FittedModel, path: Path, *, score: float | None = None, scoring: str | None = None
) -> tuple[str, ...]:
    """Write a model to a file, whole or not at all.

    Returns
    -------
    tuple of str
        The types that whoever loads the file has to trust by name, because they are not ours.

    Raises
    ------
    ModelFileError
        The model holds something that cannot be written so that loading it runs no code.
    """
    import skops.io

    with catch_warnings():
        simplefilter("ignore")
        try:
            estimator = skops.io.dumps(model.complete().estimator, compression=zipfile.ZIP_DEFLATED)
            unknown = skops.io.get_untrusted_types(data=estimator)
        except MetafsError:
            raise
        except Exception as error:  # of whatever a third-party estimator holds
            raise ModelFileError(
                f"the model of {model.problem!r} cannot be saved: {describe(error)}."
            ) from error
    about = {
        "format": FORMAT,
        "metafs": __version__,
        "scikit_learn": sklearn.__version__,
        "saved_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "problem": well_formed(model.problem),
        "space": model.space,
        "target": model.target,
        "classes": None if model.classes is None else list(model.classes),
        "score": score,
        "scoring": scoring,
        "columns": [form.as_json() for form in model.layout.forms],
        "positions": list(model.layout.positions),
        "n_given": model.layout.n_given,
    }
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", json.dumps(about))
        archive.writestr("estimator.skops", estimator)
    write_archive(path, packed.getvalue())
    return tuple(name for name in unknown if name not in TRUSTED)


def about(path: Path) -> About:
    """Return what a file says of its model, or refuse a file that is not whole."""
    return _about(path, read_header(path, read_archive(path)))


def load(path: Path, *, trusted: Sequence[str] = ()) -> FittedModel:
    """Return the model in a file.

    Parameters
    ----------
    path : Path
    trusted : sequence of str
        Types of other packages that the file may hold, as ``package.module.Type``. Their code is
        imported, so trust only what is installed because you want it.

    Raises
    ------
    ModelFileError
        The file is damaged, of another version, or holds types that are not trusted.
    """
    packed = read_archive(path)
    header = read_header(path, packed)
    _refuse_version(path, header)
    try:
        estimator = _estimator(path, packed, (*TRUSTED, *trusted))
        layout, classes = _layout(header), header["classes"]
        return FittedModel(
            str(header["problem"]),
            layout,
            None if classes is None else tuple(map(str, classes)),
            str(header["target"]),
            header["space"],
            estimator_=estimator,
        )
    except MetafsError:
        raise
    except Exception as error:  # a whole file, but not one that we wrote
        raise not_ours(path, describe(error)) from error


def load_layout(path: Path) -> Layout:
    """Return the columns that the model in a file needs, whatever version has saved it."""
    header = read_header(path, read_archive(path))
    try:
        return _layout(header)
    except Exception as error:  # a whole file, but not one that we wrote
        raise not_ours(path, describe(error)) from error


def _layout(header: dict[str, Any]) -> Layout:
    return Layout(
        tuple(ColumnForm.of_json(each) for each in header["columns"]),
        tuple(map(int, header["positions"])),
        int(header["n_given"]),
    )


def _estimator(path: Path, packed: bytes, trusted: Sequence[str]) -> Any:
    import skops.io

    with zipfile.ZipFile(BytesIO(packed)) as archive:
        estimator = archive.read("estimator.skops")
    with catch_warnings():
        simplefilter("ignore")
        unknown = [
            name for name in skops.io.get_untrusted_types(data=estimator) if name not in trusted
        ]
        if unknown:
            options = " ".join(f"--trust {name}" for name in unknown)
            raise ModelFileError(
                f"{shown(path)}: holds {listing(unknown)}, which metafs does not know to be "
                f"harmless: if you do, and have the package, give {options}."
            )
        return skops.io.loads(estimator, trusted=list(trusted))


def _about(path: Path, header: dict[str, Any]) -> About:
    try:
        return About(
            str(header["problem"]),
            header["space"],
            str(header["target"]),
            tuple(str(each["name"]) for each in header["columns"]),
            str(header["metafs"]),
            str(header["scikit_learn"]),
            str(header["saved_at"]),
            header["score"],
            header["scoring"],
        )
    except (KeyError, TypeError) as error:
        raise not_ours(path, describe(error)) from error


def _refuse_version(path: Path, header: dict[str, Any]) -> None:
    """Refuse a model of another version: estimators of one need not work in another."""
    found = _about(path, header)
    for name, theirs, ours in (
        ("metafs", found.metafs, __version__),
        ("scikit-learn", found.scikit_learn, sklearn.__version__),
    ):
        if _release(theirs) != _release(ours):
            raise ModelFileError(
                f"{shown(path)}: was saved with {name} {theirs}, and this is {ours}, which need "
                f"not understand it: install {name} {theirs}, or save the model again with "
                "`metafs solve --save-models`."
            )


def _release(version: str) -> list[str]:
    """Return the parts of a version that tell whether a model of one works in another.

    >>> _release("1.9.1"), _release("0.1.0.dev3")
    (['1', '9'], ['0', '1'])
    """
    return version.split(".")[:2]
