"""Arrays in files: npz, dense or CSR, and svmlight.

An npz holds a dense `X`, or the CSR parts `data`, `indices`, `indptr`, `shape`; the target `y`,
or one of another name that is asked for; and optionally `feature_names`, `meta_features`,
`meta_feature_names` and `name`. `groups`, `time` and `sample_weight`, or arrays of other names that
are asked for, tell of rows. Other arrays are left alone. No pickle is ever loaded.
"""

import math
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.datasets import load_svmlight_file

from metafs.data.checks import check_name_count, check_width, listing
from metafs.data.limits import check_table_bytes
from metafs.data.problem import Problem
from metafs.data.readers.files import no_file, not_utf8, refuse_empty, shown, unreadable
from metafs.data.readers.source import ReadOptions, feature_positions
from metafs.data.row_values import OF_ROWS, OPTIONS
from metafs.data.typing import Array
from metafs.errors import ProblemError

_CSR_PARTS = ("data", "indices", "indptr", "shape")
_BROKEN = (
    OSError,
    ValueError,
    EOFError,
    KeyError,
    NotImplementedError,  # zipfile's word for a compression it does not know
    zipfile.BadZipFile,
    zlib.error,
)
_LONGEST_NAME = 2**16
_USED = ("X", "feature_names", "meta_features", "meta_feature_names", *_CSR_PARTS)


def stored_name(path: Path) -> str | None:
    """Return the name that an npz gives its problem, if it is readable and has one."""
    if no_file(path):
        return None
    try:
        if not zipfile.is_zipfile(path):
            return None
        with np.load(path, allow_pickle=False) as file:
            if "name" not in file or _promised(file, "name")[0] > _LONGEST_NAME:
                return None
            return str(file["name"]) if file["name"].ndim == 0 else None
    except _BROKEN:
        return None


def read_npz(path: Path, name: str, target: str, options: ReadOptions) -> Problem:
    """Read a problem from an npz file."""
    where = shown(path)
    array_of = dict(zip(OF_ROWS, OF_ROWS, strict=True)) | options.of_rows
    arrays = _load(path, where, target, tuple(array_of.values()))
    X = arrays["X"] if "X" in arrays else _csr(arrays, where)
    names = arrays.get("feature_names")
    return _problem(
        X,
        arrays[target],
        None if names is None else [_text(feature) for feature in names.ravel().tolist()],
        where=where,
        name=name,
        target=target,
        options=options,
        meta_features=arrays.get("meta_features"),
        meta_feature_names=[
            _text(meta) for meta in arrays.get("meta_feature_names", np.array([])).ravel().tolist()
        ],
        of_rows={field: arrays[array] for field, array in array_of.items() if array in arrays},
    )


def read_svmlight(path: Path, name: str, target: str, options: ReadOptions) -> Problem:
    """Read a problem from a file in svmlight (libsvm) format."""
    where = shown(path)
    if target != "y":
        raise ProblemError(
            f"{where}: there is no target '{target}', for svmlight has only one, 'y'; leave "
            "--target out or say --target y."
        )
    refuse_empty(path, where)
    try:
        X, y = load_svmlight_file(str(path))
    except (ValueError, OSError, EOFError, OverflowError):
        raise not_utf8(path, where) or unreadable(where, "it is not svmlight") from None
    return _problem(csr_array(X), y, None, where=where, name=name, target=target, options=options)


def read_bare_npz(path: Path) -> tuple[Any, list[str] | None]:
    """Read only the rows of an npz file, and the names of its columns if it has them."""
    where = shown(path)
    arrays = _load(path, where, None)
    X = arrays["X"] if "X" in arrays else _csr(arrays, where)
    check_width(X, where)
    if "feature_names" not in arrays:
        return X, None
    names = [_text(feature) for feature in arrays["feature_names"].ravel().tolist()]
    check_name_count(names, X.shape[1], where)
    return X, names


def read_bare_svmlight(path: Path) -> Any:
    """Read only the rows of a file in svmlight (libsvm) format."""
    where = shown(path)
    refuse_empty(path, where)
    try:
        return csr_array(load_svmlight_file(str(path))[0])
    except (ValueError, OSError, EOFError, OverflowError):
        raise not_utf8(path, where) or unreadable(where, "it is not svmlight") from None


READERS = {"npz": read_npz, "svmlight": read_svmlight}


def _problem(
    X: Any,
    y: Array,
    names: Sequence[str] | None,
    *,
    where: str,
    name: str,
    target: str,
    options: ReadOptions,
    meta_features: Array | None = None,
    meta_feature_names: Sequence[str] = (),
    of_rows: Mapping[str, Array] | None = None,
) -> Problem:
    check_width(X, where)
    own_names = names if names is not None else [f"x{j}" for j in range(X.shape[1])]
    check_name_count(own_names, X.shape[1], where)
    of_rows = {
        **(of_rows or {}),
        **_columns_of_rows(X, own_names, of_rows or {}, options, where),
    }
    kept = feature_positions(own_names, target=None, options=options, where=where)
    if len(kept) < len(own_names):
        X = X[:, kept]
        if meta_features is not None and len(meta_features) == len(own_names):
            meta_features = meta_features[kept]
    return Problem.of(
        X,
        y,
        name=name,
        space=options.space if names is None else options.space or "default",
        feature_names=names and [own_names[j] for j in kept],
        target=target,
        task=options.task,
        source=where,
        meta_features=meta_features,
        meta_feature_names=meta_feature_names,
        groups=of_rows.get("groups"),
        time=of_rows.get("time"),
        sample_weight=of_rows.get("sample_weight"),
    )


def _columns_of_rows(
    X: Any, names: Sequence[str], arrays: Mapping[str, Array], options: ReadOptions, where: str
) -> dict[str, Array]:
    """Return the columns of X that tell of rows, where no array of that name does."""
    found = {}
    for field, name in options.of_rows.items():
        if field in arrays:
            continue
        if name not in names:
            raise ProblemError(
                f"{where}: holds no array and no feature '{name}' (for {OPTIONS[field]}); add it "
                "or choose another."
            )
        column = X[:, [names.index(name)]]
        found[field] = np.asarray(column.toarray() if issparse(column) else column).ravel()
    return found


def _load(path: Path, where: str, target: str | None, more: Sequence[str] = ()) -> dict[str, Array]:
    refuse_empty(path, where)
    if not zipfile.is_zipfile(path):
        raise unreadable(where, "it is not an npz file, or cut short; use numpy.savez")
    try:
        with np.load(path, allow_pickle=False) as file:
            if target is not None and target not in file:
                held = listing(list(file)) or "nothing"
                raise ProblemError(
                    f"{where}: holds no target '{target}', only {held}; add the array or choose "
                    "another with --target."
                )
            wanted = (*_USED, *more) if target is None else (*_USED, *more, target)
            used = [key for key in dict.fromkeys(wanted) if key in file]
            _refuse_large(file, used, where)
            return {key: _array(file, key, where) for key in used}
    except ProblemError:  # a ValueError too, but one that already is a sentence
        raise
    except _BROKEN as error:
        raise unreadable(where, str(error)) from None


def _refuse_large(file: Any, keys: Sequence[str], where: str) -> None:
    """Refuse arrays by the size that their headers state, before any is read."""
    promised = {key: _promised(file, key) for key in keys}
    n_bytes = sum(max(size, 8 * n_values) for size, n_values, _ in promised.values())
    check_table_bytes(n_bytes, "its arrays", where)
    for key, (size, _, held) in promised.items():
        if size > held:
            raise unreadable(where, f"the array '{key}' is cut short")


def _promised(file: Any, key: str) -> tuple[int, int, int]:
    """Return the bytes and values of an array by its header, and the bytes that the file holds."""
    member = key if key in file.zip.namelist() else f"{key}.npy"
    with file.zip.open(member) as stream:
        version = np.lib.format.read_magic(stream)
        read_header = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        shape, _, dtype = read_header(stream)
    held = file.zip.getinfo(member).file_size
    if dtype.hasobject:
        return 0, 0, held  # refused when it is loaded
    n_values = math.prod(shape)
    return n_values * dtype.itemsize, n_values, held


def _array(file: Any, key: str, where: str) -> Array:
    try:
        array: Array = file[key]
    except ValueError as error:
        if "allow_pickle" in str(error):
            raise ProblemError(
                f"{where}: the array '{key}' holds Python objects, which are never loaded; "
                "save it as numbers or text."
            ) from None
        raise
    return array


def _csr(arrays: Mapping[str, Array], where: str) -> csr_array:
    lacking = [part for part in _CSR_PARTS if part not in arrays]
    if lacking:
        raise ProblemError(
            f"{where}: holds neither X nor the CSR parts {', '.join(_CSR_PARTS)}, only "
            f"{_names(arrays)}; add them."
        )
    data, indices, indptr, shape = (arrays[part] for part in _CSR_PARTS)
    try:
        csr = csr_array(
            (data.astype(np.float64), indices.astype(np.int64), indptr.astype(np.int64)),
            shape=tuple(int(length) for length in shape),
        )
        csr.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        raise unreadable(where, f"its CSR parts do not fit together: {error}") from None
    return csr


def _names(arrays: Mapping[str, Array]) -> str:
    return ", ".join(f"'{key}'" for key in arrays) or "nothing known"


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
