"""A report as one self-contained page: markup, style, script and data in one file.

The page needs no network: its policy allows its own style and script, by their digests, and nothing
else. Without the script the table of problems is still there.
"""

import hashlib
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib import resources
from string import Template
from typing import Any

from metafs.page.markup import NOTHING, STYLE, formatted
from metafs.page.text import json_in_page, shown
from metafs.report.contents import contents
from metafs.report.layout import places
from metafs.report.records import Report, Solved

SCRIPTS = ("reading", "dom", "table", "charts", "maps", "sections", "detail", "page")
"""The parts of the script, in this order, before the last one, `begin`."""
COLUMNS = ("Problem", "Pipeline", "Kept", "Score", "All features", "No skill")


def draw(report: Report, source: str, title: str = "What metafs remembers") -> str:
    """Return the page of a report; `source` names the file that it is about."""
    return page(report, contents(report, places(report.problems), source), title)


def page(
    report: Report,
    data: Mapping[str, Any],
    title: str,
    *,
    live: tuple[str, ...] = (),
    tag: str = "",
) -> str:
    """Return a page about its data.

    `live` names further parts of the script, and `tag` the version of the data for them.
    """
    script = script_of(live)
    style = STYLE + _file("page.css")
    return Template(_file("page.html")).substitute(
        policy=escape(policy(style, script, connects=bool(live))),
        tag=escape(tag),
        title=escape(title),
        about=escape(_about(data)),
        style=style,
        table=_table(report),
        data=json_in_page(data),
        script=script,
    )


@cache
def script_of(live: tuple[str, ...] = ()) -> str:
    """Return the whole script as one function, so that its names are nobody else's."""
    parts = "\n".join(_file(f"{name}.js") for name in (*SCRIPTS, *live, "begin"))
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def policy(style: str, script: str, connects: bool) -> str:
    """Return a policy that lets a browser use this style and this script, and load nothing."""
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src '{_digest(style)}'",
            f"script-src '{_digest(script)}'",
            "connect-src " + ("'self'" if connects else "'none'"),
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _digest(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _file(name: str) -> str:
    return resources.files("metafs.report").joinpath(name).read_text("utf-8")


def _about(data: Mapping[str, Any]) -> str:
    space = "" if data["space"] is None else f", space {data['space']}"
    return f"{data['source']}{space}, as of {data['made']}; metafs {data['version']}"


def _table(report: Report) -> str:
    """Return the table of problems for readers without the script; end tags may be left out."""
    head = "".join(f"<th scope=col>{name}" for name in COLUMNS)
    rows = "\n".join(_row(each) for each in report.problems)
    caption = "<caption class=unseen>Problems</caption>"
    return f"<div class=wide><table>{caption}<thead><tr>{head}<tbody>\n{rows}\n</table></div>"


def _row(each: Solved) -> str:
    values = each.values
    chosen = [each.pipeline.get(name, values[name]) for name in ("selector", "learner")]
    pipeline = ", ".join(str(part) for part in chosen if part) or "not solved"
    numbers = [values[name] for name in ("n_selected", "score", "all_features", "no_skill")]
    cells = [f"<bdi>{escape(shown(pipeline))}</bdi>"]
    cells += [NOTHING if value is None else formatted(value) for value in numbers]
    return f"<tr><th scope=row><bdi>{escape(shown(values['name']))}</bdi>" + "".join(
        f"<td>{cell}" for cell in cells
    )
