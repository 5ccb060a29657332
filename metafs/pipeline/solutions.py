"""The solutions of a whole stream, in a list that notebooks show as a table."""

from metafs.pipeline.display.html import stream_html
from metafs.pipeline.solution import Solution


class Solutions(list[Solution]):
    """A list of solutions; a notebook shows it as a table.

    `metafs.solve` yields solutions one by one, as they are found; this holds them all.

    Examples
    --------
    >>> solved = Solutions([Solution("shop 17", "solved", ("age", "city"), score=0.8)])
    >>> "shop 17" in solved._repr_html_()
    True
    """

    def _repr_html_(self) -> str:
        return stream_html(self)
