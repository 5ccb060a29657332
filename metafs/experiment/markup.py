"""The HTML of an experiment's page: frame, style, headings, tables and collapsible parts."""

from collections.abc import Collection, Iterable, Sequence
from html import escape
from typing import Any

from metafs.experiment.drawing import formatted

STYLE = """
:root { color-scheme: light dark; --line: #bbb; --soft: #595959; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { line-height: 1.2; overflow-wrap: anywhere; } h2 { margin-top: 2.5rem; }
nav { font-size: 0.9rem; } nav a { white-space: nowrap; }
table { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.7rem 0.2rem 0; text-align: right; border-bottom: 1px solid var(--line); }
th { vertical-align: bottom; } thead th { white-space: nowrap; }
td { vertical-align: top; white-space: nowrap; }
tbody th { vertical-align: top; font-weight: normal; overflow-wrap: anywhere; }
tbody th { min-width: 9rem; max-width: 28rem; }
th:first-child { text-align: left; position: sticky; left: 0; background: Canvas; }
th.word, td.word { text-align: left; }
small { display: block; color: var(--soft); font-size: 0.75rem; }
.wide { overflow-x: auto; }
figure { margin: 0; } figure img { width: 100%; min-width: 40rem; height: auto; }
figcaption, .soft { color: var(--soft); font-size: 0.9rem; }
details { margin: 0.4rem 0; } details[open] { margin-bottom: 1.2rem; }
summary { cursor: pointer; font-size: 0.9rem; }
dt { font-weight: bold; } dd { margin: 0 0 0.3rem 1.5rem; }
.warning { border-left: 4px solid #d55e00; padding-left: 0.8rem; }
.warning { max-height: 14rem; overflow: auto; }
@media (prefers-color-scheme: dark) {
  :root { --line: #555; --soft: #aaa; }
  figure img { filter: invert(0.92) hue-rotate(180deg); }
}
@media (max-width: 40rem) { tbody th { max-width: 9rem; } }
"""
NOTHING = "&ndash;"


class Lines(tuple[Any, ...]):
    """A cell of a table with small lines beneath its first line."""


def document(title: str, parts: Iterable[str]) -> str:
    """Return a self-contained page."""
    return (
        "<!doctype html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
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
