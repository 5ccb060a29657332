"""Tables for people, JSON and CSV for programs, and messages; none of them can steer a terminal.

Data goes where `stdout_for_data` found standard output; whatever else is printed meanwhile, by a
plugin say, goes to stderr. Every text that a command prints passes through `printable`, because
names, cells and error messages may hold escape sequences that a terminal would obey.
"""

import csv
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import chain, count, islice
from typing import Any
from uuid import UUID

import click

from metafs.cli.table import Column, Table, echo, width_of
from metafs.data.printable import one_line, printable_lines

STDOUT = "metafs.stdout"
MESSAGE_STYLES = {"failed": "red", "metafs": "red", "note": "yellow"}
"""By the first word of a message."""


@contextmanager
def stdout_for_data(context: click.Context) -> Iterator[None]:
    """Let nothing but our data reach stdout while a command runs."""
    context.meta[STDOUT] = sys.stdout
    with redirect_stdout(sys.stderr):
        yield


def data() -> Any:
    """Return the stream of our data."""
    context = click.get_current_context(silent=True)
    return sys.stdout if context is None else context.meta.get(STDOUT, sys.stdout)


def echo_line(text: str = "") -> None:
    """Print a line of data, or several."""
    click.echo(printable_lines(text), file=data())


def echo_sentences(text: str) -> None:
    """Print a line of data that a terminal wraps between words."""
    echo(data(), text, wraps=True)


def echo_message(text: str) -> None:
    """Print a message on stderr; a terminal shows failures and notes in colour."""
    if sys.stderr is None or not sys.stderr.isatty():
        click.echo(printable_lines(text), err=True)
        return
    for line in text.split("\n"):
        kind = line.partition(":")[0]
        echo(sys.stderr, line, MESSAGE_STYLES.get(kind, ""), wraps=True)


def echo_table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], most: int | None = None
) -> bool:
    """Print a table: numbers to the right, nothing for null; `metafs.cli.table` says how it fits.

    Returns whether that was all; after `most` rows it asks for one more and prints no more.
    """
    remaining = iter(rows)
    rows = list(islice(remaining, most))
    header = [_cell(name) for name in columns]
    cells = [[_cell(value) for value in row] for row in rows]
    table = Table(
        data(),
        [
            Column(
                header[i],
                width_of([line[i] for line in [header, *cells]]),
                right=all(isinstance(row[i], (int, float, Decimal, type(None))) for row in rows),
            )
            for i in range(len(columns))
        ],
    )
    table.echo_header()
    for row in cells:
        table.echo_row(row)
    if table.left_out:
        echo_message(
            f"too narrow for {', '.join(table.left_out)}: widen the terminal, or pipe to a file."
        )
    return next(remaining, None) is None


def echo_json(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print an array of objects, one a line, each as it comes."""
    names = unique(columns)
    before, after, stream = "[\n", "[]\n", data()
    for row in rows:
        stream.write(before + to_json(dict(zip(names, row, strict=True))))
        before, after = ",\n", "\n]\n"
    stream.write(after)
    stream.flush()


def echo_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print comma-separated values with a header, each as it comes.

    A file or a program gets every character; a terminal gets those that it can show.
    """
    stream = data()
    writer = csv.writer(stream, lineterminator="\n")
    for row in chain([columns], rows):
        if stream.isatty():
            row = [one_line(each) if isinstance(each, str) else each for each in row]
        writer.writerow(row)
    stream.flush()


def unique(names: Iterable[str]) -> list[str]:
    """Return the names, numbered where one comes again.

    Examples
    --------
    >>> unique(["a", "b", "a", "a"])
    ['a', 'b', 'a_1', 'a_2']
    """
    found: list[str] = []
    for name in names:
        numbered = chain([name], (f"{name}_{n}" for n in count(1)))
        found.append(next(each for each in numbered if each not in found))
    return found


def to_json(value: Any) -> str:
    r"""Return one line of strict JSON: NaN and infinities are null.

    Characters that a terminal might obey are escaped, so that nothing is lost.

    Examples
    --------
    >>> print(to_json({"é": "\x9b31m"}))
    {"é": "\u009b31m"}
    """
    text = json.dumps(_finite(value), default=_jsonable, allow_nan=False, ensure_ascii=False)
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in text)


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
    return one_line(str(value))
