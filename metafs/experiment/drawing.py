"""What the plots of an experiment share: panels, colours, lines and labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from typing import Any

from metafs.errors import UsageError
from metafs.experiment.arms import COLD, RANKED
from metafs.experiment.series import Series


@dataclass(frozen=True)
class Look:
    """The style of a line; styles can be distinguished without seeing red or green."""

    colour: str
    line: str = "-"
    width: float = 1.8


LOOKS = {
    COLD: Look("#999999", width=4.0),
    RANKED: Look("#E69F00"),
    "paper": Look("#0072B2", "--"),
    "guided": Look("#009E73", "-."),
}
"""The style of each arm in every plot. Cold is wide and drawn first, to show under others."""
OTHER_LOOKS = (Look("#D55E00", ":", 2.2), Look("#56B4E9"))
ITERATION = "number of problems solved before"
WIDTH, HEIGHT = 9.2, 4.0
"""Inches of a whole plot, and of a row of its panels; one width keeps the font size the same."""
STEPS = (1, 2, 5, 10)
CROWDED = 2000
"""More points than this are drawn as a bitmap, to keep the page small."""
Rows = list[tuple[Any, ...]]


@dataclass(frozen=True, eq=False)
class Drawing:
    """A plot with title and caption, and its numbers as a table."""

    name: str
    title: str
    caption: str
    figure: Any
    columns: tuple[str, ...]
    rows: Rows

    @property
    def alt(self) -> str:
        """The alternative text of the plot."""
        return f"Plot: {self.title}. Its numbers are in the table below."

    @cached_property
    def svg(self) -> bytes:
        """The plot as SVG; the same plot gives the same bytes."""
        from matplotlib import rc_context

        with rc_context({"svg.hashsalt": self.name}):
            return self._saved("svg", {"Date": None})

    @cached_property
    def png(self) -> bytes:
        """The plot as PNG."""
        return self._saved("png", {"Software": None})

    def _saved(self, kind: str, metadata: dict[str, None]) -> bytes:
        held = BytesIO()
        see_through = kind == "svg"  # the page's own background, light or dark
        self.figure.savefig(held, format=kind, dpi=120, metadata=metadata, transparent=see_through)
        return held.getvalue()


def require_matplotlib() -> Any:
    """Return matplotlib's Figure, or say how to install it."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError(
            "the page needs matplotlib: install it with pip install 'metafs-automl[report]', "
            "or leave the page out with --no-page."
        ) from None
    return Figure


def panels(
    n: int, sharey: bool = False, across: int = 2, height: float = HEIGHT
) -> tuple[Any, Sequence[Any]]:
    """Return a figure with panels side by side, in rows of `across`."""
    across = min(n, across)
    n_rows = -(-n // across)
    figure = require_matplotlib()(figsize=(WIDTH, height * n_rows), layout="constrained")
    found = figure.subplots(n_rows, across, sharey=sharey, squeeze=False).ravel()
    for empty in found[n:]:
        empty.remove()
    return figure, found[:n]


def logarithmic(axis: Any) -> None:
    """Make an axis logarithmic, with plain numbers at as many ticks as it has room for.

    Call it after everything is drawn, because it uses the view limits.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    low, high = axis.get_view_interval()
    room = 100 if axis.axis_name == "x" else 10_000  # horizontal labels need more room
    if high < 4 * low:
        axis.set_major_locator(MaxNLocator(5, steps=STEPS))
    else:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < room * low else (1.0,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def whole_numbers(axis: Any) -> None:
    """Put ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator("auto", steps=STEPS, integer=True))


def draw(panel: Any, series: Series, label: str, how: Look | None = None) -> None:
    """Draw points and their running mean."""
    how, known = how or LOOKS[series.arm], series.known
    crowded = len(known.value) > CROWDED
    panel.plot(
        known.position,
        known.value,
        ".",
        markersize=7,
        markeredgewidth=0,
        alpha=0.2 if crowded else 0.5,
        color=how.colour,
        rasterized=crowded,
    )
    panel.plot(
        *series.trend(), how.line, color=how.colour, linewidth=how.width, label=label, zorder=3
    )


def label_axes(panel: Any, what: str, ncols: int = 2) -> None:
    """Label both axes and all lines."""
    whole_numbers(panel.xaxis)
    panel.set_xlabel(ITERATION)
    panel.set_ylabel(what)
    panel.legend(
        fontsize=8,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.16),
        ncols=ncols,
        frameon=False,
        handlelength=3.0,
        columnspacing=1.2,
    )


def by_quarters(found: Sequence[Series]) -> Rows:
    """Return a row for each series: its means over the quarters of the stream."""
    return [(each.label, *each.quarters()) for each in found]
