"""How commands find the model of a problem: saved in a file, or linear from the MetaDB."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from metafs.cli.lookup import problem_named
from metafs.cli.output import echo_message
from metafs.data.column_form import ColumnForm
from metafs.data.layout import Layout
from metafs.errors import UsageError
from metafs.memory import MetaDB
from metafs.pipeline.models.folder import find
from metafs.pipeline.models.model import FittedModel
from metafs.pipeline.models.model_file import load, load_layout
from metafs.pipeline.models.remembered import remembered_model, share_kept


def model_of(
    problem: str, models: Path | None, space: str | None, db: str, trusted: Sequence[str] = ()
) -> FittedModel:
    """Return the saved model of a problem, or the linear one that the MetaDB keeps."""
    if models is not None:
        return load(find(models, problem, space), trusted=trusted)
    metadb = MetaDB(db)
    found = problem_named(metadb, problem, space)
    path = _remembered_file(metadb, found["problem_id"])
    if path is not None and path.is_file():
        return load(path, trusted=trusted)
    stored = metadb.linear_model(found["problem_id"])
    if stored is None:
        raise UsageError(
            f"{problem!r} has no saved model{_gone(path)}, and {db} keeps no linear one of it: "
            "solve it with `metafs solve --save-models DIR`."
        )
    model = remembered_model(stored, problem=problem, target=found["target"], space=found["space"])
    echo_message(
        f"{problem!r} has no saved model{_gone(path)}: predicting with its linear model on all "
        f"features, of which {db} keeps {share_kept(stored):.1%} of the norm of the weights."
    )
    return model


def selected_layout(problem: str, models: Path | None, space: str | None, db: str) -> Layout:
    """Return the columns that the saved model of a problem needs, or its best run selected."""
    if models is not None:
        return load_layout(find(models, problem, space))
    metadb = MetaDB(db)
    found = problem_named(metadb, problem, space)
    path = _remembered_file(metadb, found["problem_id"])
    if path is not None and path.is_file():
        return load_layout(path)
    run = metadb.stored_run(found["problem_id"])
    if run is None:
        raise UsageError(f"{db} has no solved run of {problem!r}: see `metafs runs`.")
    names = [run.names[j] for j in np.flatnonzero(run.selected).tolist()]
    return Layout(tuple(ColumnForm(name) for name in sorted(names)), (), 0)


def _remembered_file(metadb: MetaDB, problem_id: int) -> Path | None:
    saved = metadb.saved_model(problem_id)
    return None if saved is None else Path(saved.folder, saved.file)


def _gone(path: Path | None) -> str:
    return "" if path is None else f" ({path} is not there)"
