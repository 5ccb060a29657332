"""Data frames in memory, read as tables are: the target is a column, the others are features."""

from functools import partial
from typing import Any

from metafs.data.checks import listing, unknown_column
from metafs.data.columns import frame_columns, frame_names
from metafs.data.matrix import matrix_of_columns
from metafs.data.notes import Notes
from metafs.data.problem import Problem
from metafs.data.readers.source import ReadOptions, Source, feature_positions
from metafs.errors import UsageError


def frame_sources(frame: Any, name: str, options: ReadOptions) -> list[Source]:
    """Return a source for each target of a pandas, polars or other eager frame."""
    names = frame_names(frame)
    if not options.targets:
        raise UsageError(
            f"{name}: say with target which column to predict; its columns are {listing(names)}."
        )
    for role, column in options.wanted:
        if column not in names:
            raise UsageError(unknown_column(name, column, names, role=role))
    called = {
        target: f"{name}:{target}" if len(options.targets) > 1 else name
        for target in options.targets
    }
    return [
        Source(own, name, partial(read_frame, frame, own, target, options), options.keep)
        for target, own in called.items()
    ]


def read_frame(frame: Any, name: str, target: str, options: ReadOptions) -> Problem:
    """Make one column of a frame the target of a problem."""
    names, notes = frame_names(frame), Notes()
    positions = feature_positions(names, target=target, options=options, where=name)
    features = [names[j] for j in positions]
    raw = dict(frame_columns(frame))
    columns = ((feature, raw[feature]) for feature in features)
    X, categories = matrix_of_columns(columns, len(features), len(frame), name, notes)
    return Problem.of_matrix(
        X,
        raw[target],
        features,
        categories=categories,
        name=name,
        space=options.space or "default",
        source="",
        target=target,
        task=options.task,
        of_rows={field: (column, raw[column]) for field, column in options.of_rows.items()},
        notes=notes,
        leave_out="constant",
        keep=options.keep,
    )
