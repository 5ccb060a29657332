"""Places of problems on a map: near problems, as their runs found them, lie close together."""

import math
from collections.abc import Mapping, Sequence

import networkx as nx

from metafs.report.records import Solved

SIDE = 1000
"""Places are whole numbers from 0 to SIDE."""
SEED = 0
Place = tuple[int, int]


def places(
    problems: Sequence[Solved], before: Mapping[int, Place] | None = None
) -> dict[int, Place]:
    """Return where problems with neighbours lie, by problem_id; the same memory, the same places.

    With `before`, places of an earlier map, from which this one differs as little as it can.
    """
    graph = nx.Graph()
    shown = {each.values["problem_id"] for each in problems}
    for each in problems:
        own = each.values["problem_id"]
        for other, distance in each.neighbours:
            if other in shown and other != own:
                weight = 1.0 / (0.05 + max(distance, 0.0))
                if weight > graph.get_edge_data(own, other, {"weight": 0.0})["weight"]:
                    graph.add_edge(own, other, weight=weight)
    if not graph:
        return {}
    known = {key: place for key, place in (before or {}).items() if key in graph}
    found = nx.spring_layout(
        graph,
        k=2.0 / math.sqrt(len(graph)),
        pos={key: (x / SIDE, y / SIDE) for key, (x, y) in known.items()} or None,
        iterations=20 if 2 * len(known) > len(graph) else 80,
        seed=SEED,
        method="force",
    )
    return _scaled(found)


def _scaled(found: Mapping[int, Sequence[float]]) -> dict[int, Place]:
    """Stretch both directions to the whole side."""
    low = [min(place[axis] for place in found.values()) for axis in (0, 1)]
    width = [max(place[axis] for place in found.values()) - low[axis] or 1.0 for axis in (0, 1)]

    def scaled(place: Sequence[float], axis: int) -> int:
        return round(SIDE * float((place[axis] - low[axis]) / width[axis]))

    return {key: (scaled(place, 0), scaled(place, 1)) for key, place in found.items()}
