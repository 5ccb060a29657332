"""The HTML that pages share: frame, headings, tables and collapsible parts."""

from collections.abc import Collection, Iterable, Sequence
from html import escape
from importlib import resources
from typing import Any

STYLE = resources.files("metafs.page").joinpath("base.css").read_text("utf-8")
"""Colours, letters, tables and focus; both pages begin with it."""
NOTHING = "&ndash;"


class Lines(tuple[Any, ...]):
    """A cell of a table with small lines beneath its first line."""


def document(title: str, parts: Iterable[str], style: str = "") -> str:
    """Return a self-contained page; `style` comes after the common one."""
    return (
        "<!doctype html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
        f"<title>{escape(title)}</title>\n<style>{STYLE}{style}</style>\n</head>\n<body>\n"
        + "<main>\n"
        + "\n".join(parts)
        + "\n</main>\n</body>\n</html>\n"
    )


def heading(name: str, title: str) -> str:
    """Return the heading of a section, with an anchor for links."""
    return f"<h2 id='{escape(name)}'>{escape(title)}</h2>"


def soft(text: str) -> str:
    """Return a paragraph of explanation."""
    return f"<p class='soft'>{escape(text)}</p>"


def folded(summary: str, *parts: str) -> str:
    """Return a collapsible part with a summary."""
    return "\n".join(
        [f"<details><summary>{escape(summary)}</summary>", *parts, "</details>"],
    )


def table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], words: Collection[str] = ()
) -> str:
    """Return a table; the first cell of each row is its heading.

    Columns named in `words` hold text and begin at the left, as the first does.
    """
    kinds = [" class='word'" if name in words else "" for name in columns]
    head = "".join(
        f"<th scope='col'{kind}>{escape(name)}</th>"
        for name, kind in zip(columns, kinds, strict=True)
    )
    body = "\n".join(
        f"<tr><th scope='row'>{_cell(row[0])}</th>"
        + "".join(
            f"<td{kind}>{_cell(value)}</td>" for value, kind in zip(row[1:], kinds[1:], strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f"<div class='wide'><table>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def _cell(value: Any) -> str:
    if isinstance(value, Lines):
        first, *rest = (_cell(each) for each in value)
        return first + "".join(f"<small>{each}</small>" for each in rest)
    return NOTHING if value is None else escape(formatted(value))


def formatted(value: Any) -> str:
    """Return a value as text: three significant digits, or all digits before the point.

    Examples
    --------
    >>> [formatted(value) for value in (0.12345, 2.4, 8591.3, 3.0, None, "cold")]
    ['0.123', '2.40', '8591', '3', 'unknown', 'cold']
    """
    if value is None:
        return "unknown"
    if not isinstance(value, float):
        return str(value)
    whole = abs(value) >= 100 or abs(value - round(value, 0)) < 1e-9
    return f"{value:.0f}" if whole else f"{value:#.3g}".rstrip(".")
