"""Tables for notebooks: what was found, as HTML in which every value is escaped.

The look is the notebook's own, in its light and dark themes; nothing is loaded.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from metafs.data.printable import one_line
from metafs.pipeline.solution import Solution

MOST_FEATURES = 30
MOST_NOTES = 10
LEFT, RIGHT = "text-align: left", "text-align: right"
STREAM_COLUMNS = ("problem", "status", "features", "score", "all", "none", "learner", "near")


def cell(value: Any) -> str:
    """Return a value for people, escaped.

    Examples
    --------
    >>> cell("<b>"), cell(0.5), cell(None)
    ('&lt;b&gt;', '0.500', '')
    """
    if value is None:
        return ""
    return escape(f"{value:.3f}" if isinstance(value, float) else one_line(str(value)))


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table, numbers to the right.

    Examples
    --------
    >>> table(["name"], [["<i>"]]).count("&lt;i&gt;")
    1
    """
    head = "".join(f'<th scope="col" style="{LEFT}">{cell(each)}</th>' for each in columns)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="{RIGHT if isinstance(each, int | float) else LEFT}">{cell(each)}</td>'
            for each in row
        )
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def facts(rows: Mapping[str, Any]) -> str:
    """Return what is known, one fact a row; what is None is left out."""
    body = "".join(
        f'<tr><th scope="row" style="{LEFT}">{cell(name)}</th>'
        f'<td style="{LEFT}">{cell(value)}</td></tr>'
        for name, value in rows.items()
        if value is not None
    )
    return f"<table><tbody>{body}</tbody></table>"


def listed(names: Sequence[str]) -> str | None:
    """Return names in one text, the first of many; None if there are none.

    Examples
    --------
    >>> listed(["a", "b"]), listed([])
    ('a, b', None)
    """
    more = len(names) - MOST_FEATURES
    text = ", ".join(names[:MOST_FEATURES])
    return (f"{text} and {more} more" if more > 0 else text) or None


def near(neighbours: Sequence[tuple[str, float]]) -> str | None:
    """Return the nearest problems with their distances, in one text."""
    return ", ".join(f"{name} ({distance:.2f})" for name, distance in neighbours) or None


def in_words(pipeline: Mapping[str, Any] | None) -> str | None:
    """Return a pipeline in one text.

    Examples
    --------
    >>> in_words({"selector": "fisher", "size": 5, "learner": "forest"})
    'selector fisher, size 5, learner forest'
    """
    if pipeline is None:
        return None
    return ", ".join(f"{name} {value}" for name, value in pipeline.items() if value is not None)


def solution_html(solution: Solution) -> str:
    """Return what is known of one problem."""
    return f"<p><b>{cell(solution.problem)}</b>: {cell(solution.status)}</p>" + facts(
        {
            "error": solution.error,
            "selected": f"{solution.n_selected} of {solution.n_features} features",
            "features": listed(solution.features),
            "pipeline": in_words(solution.pipeline),
            f"score ({solution.scoring})": solution.score,
            "all features": solution.all_features,
            "no skill": solution.no_skill,
            "fitness": solution.fitness,
            "evaluations": solution.n_evaluations,
            "near": near(solution.neighbours),
            "memory": solution.belief,
            **{f"note {n}": note for n, note in enumerate(solution.notes, start=1)},
        }
    )


def stream_html(solutions: Sequence[Solution]) -> str:
    """Return the table of a stream, and why problems failed."""
    rows = [
        (
            each.problem,
            each.status,
            None if each.status == "failed" else each.n_selected,
            each.score,
            each.all_features,
            each.no_skill,
            each.learner,
            near(each.neighbours[:2]),
        )
        for each in solutions
    ]
    used = [
        j
        for j, name in enumerate(STREAM_COLUMNS)
        if j < 4 or any(row[j] is not None for row in rows)
    ]
    lines = [f"{each.problem}: {each.error}" for each in solutions if each.error is not None]
    lines += list(dict.fromkeys(f"note: {note}" for each in solutions for note in each.notes))
    if len(lines) > MOST_NOTES:
        lines[MOST_NOTES:] = [f"and {len(lines) - MOST_NOTES} more"]
    return table(
        [STREAM_COLUMNS[j] for j in used], [[row[j] for j in used] for row in rows]
    ) + "".join(f"<p>{cell(each)}</p>" for each in lines)
