"""What the plots of an experiment have in common: panels, colours, lines and words."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from typing import Any

from metafs.errors import UsageError
from metafs.experiment.arms import COLD, RANKED
from metafs.experiment.series import Series

COLOURS = {
    COLD: "#777777",
    RANKED: "#E69F00",
    "paper": "#0072B2",
    "guided": "#009E73",
    "learned": "#CC79A7",
}
OTHER_COLOURS = ("#CC79A7", "#D55E00", "#56B4E9")
"""All told apart by people who do not see red or green."""
ITERATION = "iteration: problems met before"
CROWDED = 2000
"""So many points are drawn as one picture, or the page would grow too large."""
Rows = list[tuple[Any, ...]]


@dataclass(frozen=True, eq=False)
class Drawing:
    """A plot with all that is said about it, and the same as a table."""

    name: str
    title: str
    caption: str
    figure: Any
    columns: tuple[str, ...]
    rows: Rows

    @property
    def alt(self) -> str:
        """What stands for the plot where it cannot be seen."""
        return f"Plot: {self.title}. The table below it holds its values."

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
        self.figure.savefig(held, format=kind, dpi=120, metadata=metadata)
        return held.getvalue()


def require_matplotlib() -> Any:
    """Return matplotlib's Figure, or say how to install it."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError(
            "the page needs matplotlib: install it with pip install 'metafs[report]', "
            "or leave the page out with --no-page."
        ) from None
    return Figure


def panels(
    n: int, sharey: bool = False, width: float = 4.6, height: float = 4.0
) -> tuple[Any, Any]:
    """Return a figure with panels side by side."""
    figure = require_matplotlib()(figsize=(max(8.0, width * n), height), layout="constrained")
    return figure, figure.subplots(1, n, sharey=sharey, squeeze=False)[0]


def logarithmic(axis: Any) -> None:
    """Make an axis logarithmic, with plain numbers at 1, 2 and 5."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def draw(panel: Any, series: Series, label: str, colour: str | None = None) -> None:
    """Draw points and their running mean."""
    colour, known = colour or arm_colour(series.arm), series.known
    crowded = len(known.value) > CROWDED
    panel.plot(
        known.position, known.value, ".", markersize=4, alpha=0.3, color=colour, rasterized=crowded
    )
    panel.plot(*series.trend(), color=colour, linewidth=1.8, label=label)


def label_axes(panel: Any, what: str, ncols: int = 2) -> None:
    """Say what both axes and all lines show."""
    panel.set_xlabel(ITERATION)
    panel.set_ylabel(what)
    panel.legend(
        fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=ncols, frameon=False
    )


def arm_colour(arm: str) -> str:
    """Return the colour of an arm, the same in every plot."""
    return COLOURS.get(arm) or OTHER_COLOURS[len(arm) % len(OTHER_COLOURS)]


def by_quarters(found: Sequence[Series]) -> Rows:
    """Return a row for each series: its means over the quarters of the stream."""
    return [(each.label, *each.quarters()) for each in found]


def said(value: Any) -> str:
    """Return a value for people: three digits of a number, or all before the point.

    Examples
    --------
    >>> said(0.12345), said(8591.3), said(None), said("cold")
    ('0.123', '8591', 'unknown', 'cold')
    """
    if value is None:
        return "unknown"
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
