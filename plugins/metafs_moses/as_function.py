"""A program as a function of the columns that it looks at, for the quality of these."""

import numpy as np

from metafs.data.typing import Array
from metafs.stats.function_quality import Function
from metafs_moses.literals import Literals
from metafs_moses.packed import holds
from metafs_moses.program import Program, literals_of, size


def as_function(program: Program, literals: Literals, fitness: float) -> Function:
    """Return a program as a function of the columns that it looks at."""
    columns = np.array(
        sorted({literals.columns[code >> 1] for code in literals_of(program)}), dtype=np.int64
    )
    place = {column: index for index, column in enumerate(columns.tolist())}

    def outputs(table: Array) -> Array:
        return holds(program, moved, table)

    moved = Literals(
        tuple((place.get(column, 0), threshold) for column, threshold in literals.cuts),
        literals.with_missing,
    )
    return Function(columns, fitness, size(program), outputs)
