"""The linear model of a problem as something that predicts: its columns, weights and intercepts.

`weights` writes and reads what other problems learn from it; here is what it needs on top.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

INSERT_COLUMNS = """
insert into reference_column (run_id, feature_id, word, centre, factor, label_0, label_1)
select
    $run_id, feature_id, word, centre, if(isnan(factor), null, factor), nullif(label_0, ''),
    nullif(label_1, '')
from incoming_column
"""

HEAD = """
select
    m.run_id, m.preparation, m.n_labels, m.classes, m.outputs, m.intercepts, m.slope, m.rest_norms
from reference_model m
where m.problem_id = $problem_id
limit 1
"""

COLUMNS = """
select
    s.feature_id, f.name, s.document_frequency, c.word, c.centre, c.factor, c.label_0, c.label_1
from selection s
join feature f using (feature_id)
left join reference_column c on c.run_id = s.run_id and c.feature_id = s.feature_id
where s.run_id = $run_id
order by s.feature_id
"""

WEIGHTS = "select feature_id, output, weight from weight where run_id = $run_id"


@dataclass(frozen=True, eq=False)
class LinearRows:
    """What a reference model needs to predict besides its weights.

    `places` are those of the columns in `SelectionRows.names`; the others are aligned with it.
    """

    classes: Sequence[str] | None
    intercepts: Sequence[float]
    slope: float
    places: ArrayLike
    words: ArrayLike
    centre: ArrayLike
    factor: ArrayLike
    """NaN for a word without a weight."""
    labels: Sequence[tuple[str, str] | None]


@dataclass(frozen=True, eq=False)
class StoredLinear:
    """The reference model of a problem, with all columns that it was fitted to."""

    preparation: str
    n_labels: int
    classes: tuple[str, ...] | None
    intercepts: Floats | None
    """None if an older metafs has recorded the model, without what predicting needs."""
    slope: float
    rest_norms: Floats
    names: tuple[str, ...]
    document_frequency: Floats
    words: NDArray[np.bool_]
    centre: Floats
    factor: Floats
    """NaN for a column without a weight."""
    labels: tuple[tuple[str, str] | None, ...]
    weights: Floats
    """(n_outputs, n_features)"""


def write(
    con: duckdb.DuckDBPyConnection,
    run_id: int,
    feature_ids: NDArray[np.int64],
    rows: LinearRows,
    tally: dict[str, int],
) -> None:
    """Write the columns of a reference model."""
    places = np.asarray(rows.places, np.int64)
    if not len(places):
        return
    labels = [each or ("", "") for each in rows.labels]
    columns: dict[str, NDArray[Any]] = {
        "feature_id": feature_ids[places],
        "word": np.asarray(rows.words, bool),
        "centre": np.asarray(rows.centre, np.float64),
        "factor": np.asarray(rows.factor, np.float64),
        "label_0": np.array([low for low, _ in labels], dtype=object),
        "label_1": np.array([high for _, high in labels], dtype=object),
    }
    con.register("incoming_column", columns)
    con.execute(INSERT_COLUMNS, {"run_id": run_id})
    tally["reference_column"] = len(places)


def read(con: duckdb.DuckDBPyConnection, problem_id: int) -> StoredLinear | None:
    """Return the reference model of a problem, or None if it has none."""
    heads = con.execute(HEAD, {"problem_id": problem_id}).fetchall()
    if not heads:
        return None
    run_id, preparation, n_labels, classes, outputs, intercepts, slope, rest_norms = heads[0]
    which = {"run_id": run_id}
    rows = con.execute(COLUMNS, which).fetchall()
    place = {row[0]: j for j, row in enumerate(rows)}
    weights = np.zeros((len(outputs), len(rows)))
    output_of = {output: k for k, output in enumerate(outputs)}
    for feature_id, output, weight in con.execute(WEIGHTS, which).fetchall():
        weights[output_of[output], place[feature_id]] = weight

    def doubles(column: int) -> Floats:
        return np.array([np.nan if row[column] is None else row[column] for row in rows], float)

    return StoredLinear(
        preparation=preparation,
        n_labels=n_labels,
        classes=None if classes is None else tuple(classes),
        intercepts=None if intercepts is None else np.asarray(intercepts, np.float64),
        slope=1.0 if slope is None else float(slope),
        rest_norms=np.asarray(rest_norms, np.float64),
        names=tuple(row[1] for row in rows),
        document_frequency=doubles(2),
        words=np.array([bool(row[3]) for row in rows], dtype=bool),
        centre=doubles(4),
        factor=doubles(5),
        labels=tuple(None if row[7] is None else (row[6] or "", row[7]) for row in rows),
        weights=weights,
    )
