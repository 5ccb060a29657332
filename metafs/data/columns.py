"""From a raw column to float64: one rule for every table, frame and array of objects.

Numbers stay as they are, booleans are the numbers 0 and 1, dates are seconds since the epoch.
Text is read for what it says: numbers, true/false or ISO dates where every value is one, else
categories, coded 0..K-1 in the order of their sorted labels. NaN stands for missing. Because
the rule looks at content alone, a table means the same in whatever format it was stored.

Assumptions, for instance that n/a means missing and that 1,5 is a number, are noted with the
column. An error names column and row, never what the cell holds, because errors are passed on.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np

from metafs.data.checks import dropping, well_formed
from metafs.data.notes import COMMAS, MARKERS
from metafs.data.typing import Array
from metafs.errors import ProblemError

MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?")

ALSO_MISSING = ("n/a", "#n/a", "n.a.", "<na>", "null", "nan")
"""Missing too, in any case, but worth a note."""
MISSING_NUMBERS = ("na", "none", "-", "--", ".", "missing", "unknown")
"""Missing, in any case, where all other values of a column are numbers."""

_MISSING = frozenset(MISSING)
_ALSO_MISSING = frozenset(ALSO_MISSING)
_MISSING_NUMBERS = frozenset(MISSING_NUMBERS)
BOOLEANS = {"false": 0.0, "true": 1.0}
ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?")
# Meant as a number, though not written as one: 1,5 or 1,234.5 or 1'000.
_NUMBER_LIKE = re.compile(r"\s*[-+]?(\d+,\d+|\d{1,3}([,' ]\d{3})+([.,]\d+)?)\s*")
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d*,\d+([eE][-+]?\d+)?\s*")
_THOUSANDS = re.compile(r"\s*[-+]?[1-9]\d{0,2},\d{3}\s*")  # could be decimals as well
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, eq=False)
class Column:
    """A column as float64; `labels` name the codes of a categorical one."""

    values: Array
    labels: tuple[str, ...] | None = None
    assumed: tuple[str, ...] = ()
    """Constants of `metafs.data.notes`."""


def number_text(value: float) -> str:
    """Write a number in the one way that equal numbers share: 3, 3.0 and True are "3", "3", "1".

    >>> number_text(3.0), number_text(-0.0), number_text(0.5)
    ('3', '0', '0.5')
    """
    value = float(value)
    return str(int(value)) if value.is_integer() else repr(value)


def text_number(text: str) -> float | None:
    """Read a number, or None where the text is not one."""
    try:
        return float(text)
    except ValueError:
        return None


def convert(raw: Array, *, name: str, where: str, mixed: bool = False) -> Column:
    """Apply the rule to one raw column, which may be masked.

    Text among numbers is an error that names the row; with `mixed` (a target) it makes labels.
    """
    missing = np.ma.getmaskarray(raw) if isinstance(raw, np.ma.MaskedArray) else None
    data = np.asarray(raw)
    if data.ndim != 1:
        raise nested(name, where)
    if data.dtype.kind in "biuf":
        values = data.astype(np.float64)
    elif data.dtype.kind in "mM":
        unit = "datetime64[us]" if data.dtype.kind == "M" else "timedelta64[us]"
        values = data.astype(unit).astype(np.int64) / 1e6
        values[np.isnat(data)] = np.nan
    elif data.dtype.kind in "OUST":
        return _convert_objects(data, missing, name, where, mixed)
    else:
        raise not_plain(data[:1].tolist()[0] if len(data) else data.dtype, name, where)
    if missing is not None:
        values[missing] = np.nan
    return Column(values)


def nested(name: str, where: str) -> ProblemError:
    """Say that a column holds something other than one plain value a row."""
    return ProblemError(
        f"{where}: column '{name}' holds lists or other nested values, but a feature is one number "
        f"or text a row; spread it over several columns or leave it out with {dropping(name)}."
    )


def not_plain(value: Any, name: str, where: str) -> ProblemError:
    """Say that a column holds values which are neither numbers, text nor dates."""
    if isinstance(value, Iterable):
        return nested(name, where)
    return ProblemError(
        f"{where}: column '{name}' holds values of the kind '{type(value).__name__}', which are "
        f"no numbers, text or dates; convert them or leave the column out with {dropping(name)}."
    )


def _convert_objects(
    data: Array, missing: Array | None, name: str, where: str, mixed: bool
) -> Column:
    # Every step after this loop works on distinct values, of which there are mostly few.
    code_of: dict[Any, int] = {}
    try:
        codes = [code_of.setdefault(value, len(code_of)) for value in data.tolist()]
    except TypeError:
        raise nested(name, where) from None
    texts = [text_of(value, name, where) for value in code_of]
    _refuse_nul(texts, codes, name, where)
    assumed = []
    if marked := _markers(texts):
        texts = [None if text in marked else text for text in texts]
        assumed.append(MARKERS)
    distinct = sorted({text for text in texts if text is not None})
    position = {text: code for code, text in enumerate(distinct)}
    by_code = np.array([-1 if t is None else position[t] for t in texts], dtype=np.int64)
    rows = by_code[codes] if codes else np.empty(0, dtype=np.int64)
    if missing is not None:
        rows[missing] = -1
    numbers = _with_decimal_commas(distinct)
    if numbers is not None:
        assumed.append(COMMAS)
    else:
        numbers = _meaning(distinct, rows, name, where, mixed)
    # The last place is what the code -1 of a missing value picks.
    if numbers is None:
        values = np.append(np.arange(len(distinct), dtype=np.float64), np.nan)[rows]
        return Column(values, tuple(distinct), tuple(assumed))
    return Column(np.append(numbers, np.nan)[rows], None, tuple(assumed))


def _markers(texts: Sequence[str | None]) -> set[str]:
    """Return the texts that are assumed to stand for a missing value."""
    present = {text for text in texts if text is not None}
    lower = {text: text.strip().lower() for text in present}
    marked = {text for text in present if lower[text] in _ALSO_MISSING}
    if any(lower[text] in _MISSING_NUMBERS for text in present):
        numeric = [text for text in present - marked if lower[text] not in _MISSING_NUMBERS]
        if numeric and all(_number_like(text) for text in numeric):
            marked |= {text for text in present if lower[text] in _MISSING_NUMBERS}
    return marked


def _number_like(text: str) -> bool:
    return text_number(text) is not None or _DECIMAL_COMMA.fullmatch(text) is not None


def _with_decimal_commas(distinct: Sequence[str]) -> Array | None:
    """Return numbers written with decimal commas, or None if these texts are not all such.

    A comma before exactly three digits may separate thousands, and so may a point next to commas.
    """
    with_comma = [text for text in distinct if "," in text]
    if not with_comma or any("." in text for text in distinct):
        return None
    if not all(_number_like(text) for text in distinct):
        return None
    if all(_THOUSANDS.fullmatch(text) for text in with_comma):
        return None
    return np.array([float(text.replace(",", ".")) for text in distinct])


def _refuse_nul(texts: Sequence[str | None], codes: Sequence[int], name: str, where: str) -> None:
    for code, text in enumerate(texts):
        if text is not None and "\0" in text:
            raise ProblemError(
                f"{where}: column '{name}' has a NUL character in row {codes.index(code) + 1}, as "
                "a binary or UTF-16 file would; save it as UTF-8 text."
            )


def _meaning(
    distinct: Sequence[str], rows: Array, name: str, where: str, mixed: bool
) -> Array | None:
    """Return the number that each distinct text stands for, or None: the texts are labels."""
    numbers = [text_number(text) for text in distinct]
    if None not in numbers:
        return np.array(numbers, dtype=np.float64)
    booleans = [BOOLEANS.get(text.strip().lower()) for text in distinct]
    if None not in booleans:
        return np.array(booleans, dtype=np.float64)
    if ISO_DATE.fullmatch(distinct[0]):
        seconds = [_seconds(text) for text in distinct]
        if None not in seconds:
            return np.array(seconds, dtype=np.float64)
    present = rows[rows >= 0]
    is_text = np.array([number is None for number in numbers])
    is_meant = ~is_text | np.array([bool(_NUMBER_LIKE.fullmatch(text)) for text in distinct])
    if not mixed and 2 * is_meant[present].sum() >= len(present):
        row = int(np.flatnonzero((rows >= 0) & is_text[rows])[0])
        raise ProblemError(
            f"{where}: text in a numeric column: '{name}' holds text in row {row + 1}, or a number "
            f"with separators; fix the value or leave the column out with {dropping(name)}."
        )
    return None


def text_of(value: Any, name: str, where: str) -> str | None:
    """Return the text that a value of a column stands for, or None if it is missing."""
    if isinstance(value, str):
        return None if value.strip() in _MISSING else well_formed(value)
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, bool | int | float | Decimal | np.number | np.bool_):
        number = float(value)
        return None if number != number else number_text(number) if np.isfinite(number) else "inf"
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return number_text(value.total_seconds())
    if isinstance(value, bytes):
        return text_of(value.decode("utf-8", "replace"), name, where)
    raise not_plain(value, name, where)


def _seconds(text: str) -> float | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(microseconds=1) / 1e6


def frame_names(frame: Any) -> list[str]:
    """Return the names of a frame's columns as text, even where they repeat."""
    try:
        return [str(name) for name in nw.from_native(frame, eager_only=True).columns]
    except nw.exceptions.DuplicateError:
        return [str(name) for name in getattr(frame, "column_names", frame.columns)]


def frame_columns(frame: Any) -> Iterator[tuple[str, Array]]:
    """Yield name and raw values of each column of a pandas, polars or other eager frame."""
    for series in nw.from_native(frame, eager_only=True).iter_columns():
        yield str(series.name), series_values(series)


def series_values(series: Any) -> Array:
    """Return the raw values of a series as an array that `convert` understands."""
    series = nw.from_native(series, series_only=True)
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        values: Array = series.cast(nw.Float64).to_numpy()
        return values
    objects = np.empty(len(series), dtype=object)
    objects[:] = series.to_list()
    return objects
