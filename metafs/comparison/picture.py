"""The critical-difference picture of Demsar (2006), drawn as SVG.

The axis holds the mean ranks, the best at the left. A bar joins pipelines that do not differ by
Nemenyi's test, and the critical difference is drawn above.
"""

from collections.abc import Sequence
from html import escape

from metafs.comparison.ranks import RankTest

LEFT, WIDTH, TOP, ROW = 285, 400, 62, 22
LONGEST_NAME = 30
GAP = 9
"""Between the bars of two groups."""


def picture(names: Sequence[str], test: RankTest) -> str:
    """Return the picture as an SVG element in the colour of the text around it."""
    ranks, k = test.mean_ranks, len(names)
    order = sorted(range(k), key=lambda place: ranks[place])
    begin = TOP + 12 + GAP * len(test.groups)  # of the names, below the bars
    half = (k + 1) // 2
    height = begin + ROW * half + 12

    def x(rank: float) -> float:
        return LEFT + WIDTH * (rank - 1) / (k - 1)

    parts = [_line(x(1), TOP, x(k), TOP)]
    for tick in range(1, k + 1):
        parts += [_line(x(tick), TOP - 6, x(tick), TOP), _text(x(tick), TOP - 10, str(tick))]
    reach = min(test.critical_difference, k - 1)
    more = "" if reach == test.critical_difference else ", more than the axis"
    parts += [
        _line(x(1), 30, x(1 + reach), 30, 2),
        _line(x(1), 25, x(1), 35),
        _line(x(1 + reach), 25, x(1 + reach), 35),
        _text(x(1), 18, f"critical difference {test.critical_difference:.2f}{more}", "start"),
    ]
    for number, group in enumerate(test.groups):
        y = TOP + GAP * (number + 1)
        parts.append(_line(x(ranks[group[0]]) - 4, y, x(ranks[group[-1]]) + 4, y, 4))
    for place, each in enumerate(order):
        on_left = place < half
        y = begin + ROW * (place if on_left else k - 1 - place) + 6
        end, anchor = (LEFT - 12, "end") if on_left else (LEFT + WIDTH + 12, "start")
        parts.append(
            f'<polyline points="{x(ranks[each]):.1f},{TOP} {x(ranks[each]):.1f},{y} {end},{y}" '
            'fill="none" stroke="currentColor"/>'
        )
        label = f"{ranks[each]:.2f} {_short(names[each])}"
        if on_left:
            label = f"{_short(names[each])} {ranks[each]:.2f}"
        parts.append(_text(end + (-4 if on_left else 4), y + 4, label, anchor))
    ranks_shown = "; ".join(f"{names[each]} {ranks[each]:.2f}" for each in order)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" '
        f'viewBox="0 0 {2 * LEFT + WIDTH} {height}" '
        'style="width: 100%; min-width: 40rem; font: 13px system-ui, sans-serif">'
        f"<title>Mean ranks: {escape(ranks_shown)}. "
        f"Critical difference: {test.critical_difference:.2f}.</title>"
        f"{''.join(parts)}</svg>"
    )


def _line(x1: float, y1: float, x2: float, y2: float, width: int = 1) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1}" x2="{x2:.1f}" y2="{y2}" '
        f'stroke="currentColor" stroke-width="{width}"/>'
    )


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return (
        f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}" fill="currentColor">'
        f"{escape(text)}</text>"
    )


def _short(name: str) -> str:
    """Leave out the middle of a long name: pipelines of one selector differ in what follows."""
    half = LONGEST_NAME // 2
    return name if len(name) <= LONGEST_NAME else f"{name[: half - 1]}…{name[-half:]}"
