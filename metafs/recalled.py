"""What the MetaDB remembers of near problems, in the form that a transfer asks for."""

from collections.abc import Mapping, Sequence

from metafs.transfer import Experience
from metafs_metadb import Experience as BestRun
from metafs_metadb import Neighbour


def experiences(
    neighbours: Sequence[Neighbour], remembered: Mapping[int, BestRun]
) -> list[Experience]:
    """Return what is remembered of each neighbour, those left out of which nothing is."""
    return [
        Experience(
            near.name,
            best.source,
            near.distance,
            best.names,
            best.q,
            best.quality,
            best.selected,
        )
        for near in neighbours
        if (best := remembered.get(near.problem_id))
    ]
