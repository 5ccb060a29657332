"""Tables for people, JSON and CSV for programs."""

import csv
import json
import sys
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import click

MAX_CELL = 60


def echo_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table: numbers to the right, long texts shortened, nothing for null."""
    rows = list(rows)
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max([len(name), *(len(row[i]) for row in cells)]) for i, name in enumerate(columns)]
    numeric = [
        all(isinstance(row[i], (int, float, Decimal, type(None))) for row in rows)
        for i in range(len(columns))
    ]
    for line in [list(columns), ["-" * width for width in widths], *cells]:
        parts = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        ]
        click.echo("  ".join(parts).rstrip())


def echo_json(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print an array of objects, one a line."""
    objects = [dict(zip(columns, row, strict=True)) for row in rows]
    lines = ",\n".join(to_json(each) for each in objects)
    click.echo(f"[\n{lines}\n]" if objects else "[]")


def echo_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print comma-separated values with a header."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)


def echo_rows(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, as_json: bool) -> None:
    """Print a list, as a table or as JSON."""
    (echo_json if as_json else echo_table)(columns, rows)


def to_json(value: Any) -> str:
    """Return one line of strict JSON: NaN and infinities are null."""
    return json.dumps(_finite(value), default=_jsonable, allow_nan=False, ensure_ascii=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not (float("-inf") < value < float("inf")):
        return None
    if isinstance(value, dict):
        return {str(key): _finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    return value


def _jsonable(value: Any) -> Any:
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, (timedelta, UUID)):
        return str(value)
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    return str(value)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    text = " ".join(str(value).split())
    return text if len(text) <= MAX_CELL else text[: MAX_CELL - 1] + "…"
