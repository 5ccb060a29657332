"""A program as a sentence: "spam if (viagra or free) and not meeting: 41 of 45 rows, 3 errors".

The program holds for 41 of the 45 rows of the class, and for 3 rows of other classes.
"""

from typing import Any

import numpy as np

from metafs.data.checks import counted
from metafs.data.typing import Array
from metafs.plugin.programs import written
from metafs_moses.serial import Serial


def sentence(label: Any, program: Serial, holds: Array, wanted: Array) -> str:
    """Write what a program says of a class, and of how many rows that is true.

    >>> holds, wanted = np.array([True, True, False]), np.array([True, False, False])
    >>> sentence("spam", {"feature": "free", "is": 1}, holds, wanted)
    'spam if free: 1 of 1 row, 1 error'
    """
    text = written(program)
    when = f"if {text}" if text else "always" if "and" in program else "never"
    n_right = int(np.count_nonzero(holds & wanted))
    n_wrong = int(np.count_nonzero(holds & ~wanted))
    rows, errors = counted(int(np.count_nonzero(wanted)), "row"), counted(n_wrong, "error")
    return f"{label} {when}: {n_right} of {rows}, {errors}"
