"""The few types that every module shares."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Array = NDArray[Any]
Matrix = NDArray[np.float64] | csr_array
