"""Arrays of numbers, by what they hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
"""Times in µs, job numbers, rows and codes."""
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
"""Which rows are meant."""
