"""How a column of a table became numbers, and the same for new values of it.

A problem's columns are read by what they hold (`metafs.data.columns`). New rows may hold something
else: only some of the categories, only whole numbers, no decimal comma. So they are read by what
the column held before: a number stays a number, a label keeps its code, and a value that cannot be
read so is an error that names column and row, never what the cell holds.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from metafs.data.checks import well_formed
from metafs.data.columns import (
    ALSO_MISSING,
    BOOLEANS,
    ISO_DATE,
    MISSING_NUMBERS,
    convert,
    text_number,
    text_of,
)
from metafs.data.typing import Array
from metafs.errors import ProblemError

SMALLEST_DATE = 1e7
"""Columns whose values all lie nearer to 0 hold no dates, as seconds since 1970."""


@dataclass(frozen=True)
class ColumnForm:
    """What one column held when its problem was read."""

    name: str
    labels: tuple[str, ...] | None = None
    """The labels of the codes 0..K-1 of a categorical column; None for numbers."""
    decimal_commas: bool = False
    low: float | None = None
    high: float | None = None
    """The range of a column of numbers; None if that is not known."""

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)

    @classmethod
    def of_json(cls, values: dict[str, Any]) -> Self:
        """Return the form that was written as plain values."""
        labels = values["labels"]
        return cls(
            str(values["name"]),
            None if labels is None else tuple(map(str, labels)),
            bool(values["decimal_commas"]),
            *(None if values[end] is None else float(values[end]) for end in ("low", "high")),
        )

    def numbers(self, raw: Array, where: str) -> Array:
        """Return new raw values, masked or not, as the numbers that a model has learnt from."""
        if self.labels is None:
            found = self._amounts(raw, where)
        else:
            found = self._codes(raw, self.labels, where)
        found[np.isinf(found)] = np.nan
        return found

    def _amounts(self, raw: Array, where: str) -> Array:
        data = np.asarray(raw)
        if data.dtype.kind in "biuf":
            return convert(raw, name=self.name, where=where).values.astype(np.float64)
        if data.dtype.kind in "mM":
            self._refuse_kind(data.dtype.kind == "M", False, where)
            return convert(raw, name=self.name, where=where).values
        texts = self._texts(raw, where)
        present = [text for text in texts if text is not None]
        if present:
            self._refuse_kind(
                all(ISO_DATE.fullmatch(text) for text in present),
                all(text.strip().lower() in BOOLEANS for text in present),
                where,
            )
        values = np.array(texts, dtype=object)
        try:
            column = convert(values, name=self.name, where=where, mixed=True)
        except ProblemError:
            column = None
        if column is None or column.labels is not None:
            row = next((i for i, text in enumerate(texts) if not _is_number(text)), 0)
            raise ProblemError(
                f"{where}: column '{self.name}' holds text in row {row + 1}, but it held numbers "
                "when the model learnt it; fix the value or leave the cell empty."
            )
        return column.values

    def _texts(self, raw: Array, where: str) -> list[str | None]:
        """Return values as text, numbers with a point; None where one is missing."""
        missing = (*ALSO_MISSING, *MISSING_NUMBERS)
        found: list[str | None] = []
        for value in _plain(raw):
            text = text_of(value, self.name, where)
            if text is not None and text.strip().lower() in missing:
                text = None
            if text is not None and self.decimal_commas and "." not in text:
                text = text.replace(",", ".")
            found.append(text)
        return found

    def _refuse_kind(self, dates: bool, booleans: bool, where: str) -> None:
        """Refuse dates and truth values where there were other numbers."""
        if self.low is None or self.high is None:
            return
        found = ""
        if dates and max(abs(self.low), abs(self.high)) < SMALLEST_DATE:
            found = "dates"
        elif booleans and not 0 <= self.low <= self.high <= 1:
            found = "true and false"
        if found:
            raise ProblemError(
                f"{where}: column '{self.name}' holds {found}, but it held numbers when the model "
                "learnt it; give the column that the model knows."
            )

    def _codes(self, raw: Array, labels: Sequence[str], where: str) -> Array:
        """Return codes of labels; K for a category that the model has not seen."""
        code = {label: float(place) for place, label in enumerate(labels)}
        of_number = _by_number(labels)
        unseen, found, known, numeric = float(len(labels)), [], False, True
        for value in _plain(raw):
            text = text_of(value, self.name, where)
            if text is None or (text not in code and text.strip().lower() in ALSO_MISSING):
                found.append(np.nan)
                continue
            number = text_number(text)
            place = code.get(text)
            if place is None and number is not None:
                place = of_number.get(number)
            known |= place is not None
            numeric &= number is not None
            found.append(unseen if place is None else place)
        if found and not known and numeric and not of_number and not np.isnan(found).all():
            raise ProblemError(
                f"{where}: column '{self.name}' holds numbers, but it held categories when the "
                "model learnt it; give the column that the model knows."
            )
        return np.array(found, dtype=np.float64)


def _plain(raw: Array) -> list[Any]:
    """Return the values of a raw column as Python has them, None where one is masked."""
    if isinstance(raw, np.ma.MaskedArray):
        return [
            None if masked else each
            for each, masked in zip(
                raw.data.tolist(), np.ma.getmaskarray(raw).tolist(), strict=True
            )
        ]
    data = np.asarray(raw)
    if data.dtype.kind in "mM":
        data = data.astype("datetime64[us]" if data.dtype.kind == "M" else "timedelta64[us]")
    return [well_formed(each) if isinstance(each, str) else each for each in data.tolist()]


def _by_number(labels: Sequence[str]) -> dict[float, float]:
    """Return the codes of labels that are numbers, of each number that only one label writes."""
    found: dict[float, list[float]] = {}
    for place, label in enumerate(labels):
        number = text_number(label)
        if number is not None and number == number:
            found.setdefault(number, []).append(float(place))
    return {number: places[0] for number, places in found.items() if len(places) == 1}


def _is_number(text: str | None) -> bool:
    return text is None or text_number(text) is not None
