"""Keep the models of a stream: each in a file of a folder, which the MetaDB remembers."""

from dataclasses import replace
from pathlib import Path

from metafs.data.checks import listing
from metafs.data.problem import Problem
from metafs.errors import MetafsError
from metafs.memory.memory import Memory
from metafs.pipeline.models import model_file
from metafs.pipeline.models.folder import file_name
from metafs.pipeline.solution import Solution


def has_model(folder: Path, problem: Problem) -> bool:
    """Tell whether the folder holds a model of a problem of that name."""
    return (folder / file_name(problem.name, problem.space)).is_file()


def keep_model(found: Solution, problem: Problem, folder: Path, memory: Memory | None) -> Solution:
    """Save the model of a solution; where that is impossible, say so in a note.

    The problem is solved and recorded whatever becomes of its model.
    """
    if found.model is None:
        return found
    name = file_name(problem.name, problem.space)
    try:
        foreign = model_file.save(
            found.model, folder / name, score=found.score, scoring=found.scoring
        )
    except (MetafsError, OSError) as error:
        why = getattr(error, "strerror", None) or str(error)
        return replace(found, notes=(*found.notes, f"its model is not saved: {why.rstrip('.')}"))
    if memory is not None:
        memory.remember_model(problem, str(folder), name)
    if foreign:
        note = f"to load its model, trust {listing(foreign)} with --trust"
        return replace(found, notes=(*found.notes, note))
    return found
