"""Places of problems on a map: near problems, as their runs found them, lie close together.

Drawing with forces takes time with the square of the number of problems. So of a large graph the
best connected problems are placed first, the others where their neighbours are, and then all of
them give way to each other for a few steps.
"""

import math
from collections.abc import Mapping, Sequence

import networkx as nx
import numpy as np

from metafs.report.records import Solved

SIDE = 1000
"""Places are whole numbers from 0 to SIDE."""
SEED = 0
CORE = 300
"""So many problems are placed from nothing."""
STEPS, LAST_STEPS = 80, 6
JITTER = 0.04
FEW = 0.05
"""A share of new problems so small that a large map need not give way to them."""
Place = tuple[int, int]
Places = dict[int, tuple[float, float]]


def places(
    problems: Sequence[Solved], before: Mapping[int, Place] | None = None
) -> dict[int, Place]:
    """Return where problems with neighbours lie, by problem_id; the same memory, the same places.

    With `before`, places on an earlier map, problems that were there stay near them.
    """
    graph = _graph(problems)
    if not graph:
        return {}
    start = {key: (x / SIDE, y / SIDE) for key, (x, y) in (before or {}).items() if key in graph}
    if not start:
        core = sorted(graph, key=lambda key: (-graph.degree(key), key))[:CORE]
        start = _forced(graph.subgraph(core), None, STEPS)
    few = before and len(graph) - len(start) < FEW * len(graph)
    start = _beside(graph, start)
    if (len(graph) > CORE and not few) or (before and len(graph) <= CORE):
        start = _forced(graph, start, LAST_STEPS)
    return _scaled(start)


def _graph(problems: Sequence[Solved]) -> nx.Graph:
    graph = nx.Graph()
    shown = {each.values["problem_id"] for each in problems}
    for each in problems:
        own = each.values["problem_id"]
        for other, distance in each.neighbours:
            if other in shown and other != own:
                weight = 1.0 / (0.05 + max(distance, 0.0))
                if weight > graph.get_edge_data(own, other, {"weight": 0.0})["weight"]:
                    graph.add_edge(own, other, weight=weight)
    return graph


def _forced(graph: nx.Graph, start: Places | None, steps: int) -> Places:
    k = 2.0 / math.sqrt(len(graph))
    found = nx.spring_layout(graph, k=k, pos=start, iterations=steps, seed=SEED)
    return {key: (float(x), float(y)) for key, (x, y) in found.items()}


def _beside(graph: nx.Graph, known: Places) -> Places:
    """Place the other problems beside their neighbours, as soon as one of these has a place."""
    random = np.random.default_rng(SEED)
    found = dict(known)
    waiting = [key for key in graph if key not in found]
    while waiting:
        ready = [key for key in waiting if any(near in found for near in graph[key])]
        for key in ready:
            middle = np.mean([found[near] for near in graph[key] if near in found], axis=0)
            x, y = middle + JITTER * random.standard_normal(2)
            found[key] = float(x), float(y)
        for key in [] if ready else waiting:  # connected to nothing that has a place
            x, y = random.random(2)
            found[key] = float(x), float(y)
        waiting = [key for key in waiting if key not in found]
    return found


def _scaled(found: Places) -> dict[int, Place]:
    """Stretch both directions to the whole side."""
    low = [min(place[axis] for place in found.values()) for axis in (0, 1)]
    width = [max(place[axis] for place in found.values()) - low[axis] or 1.0 for axis in (0, 1)]
    return {
        key: (
            round(SIDE * (place[0] - low[0]) / width[0]),
            round(SIDE * (place[1] - low[1]) / width[1]),
        )
        for key, place in found.items()
    }
