"""The same kernels on a GPU: many simulations at once, one a thread.

Nothing is written twice: the engine's step and a policy's hook are taken as they are and compiled for the GPU
by numba-cuda, over tables whose last axis is the simulation. So a schedule is the same, job for job.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from headway.jit import kernels

SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")
"""Whether numba-cuda only plays a GPU, in Python; kernels must then run as plain Python, too."""
INSTALL = "install it with: pip install 'headway[cuda]'"


@cache
def why_not() -> str:
    """Why nothing can run on a GPU here, in a sentence; empty where it can."""
    if kernels.INTERPRETED and not SIMULATED:
        return "kernels run as plain Python (NUMBA_DISABLE_JIT), so none runs on a GPU"
    if find_spec("numba_cuda") is None:
        return f"numba-cuda is not installed; {INSTALL}"
    try:
        cuda = import_module("numba.cuda")
        if cuda.is_available():
            return ""
        error = cuda.cuda_error()
    except Exception as failed:  # a driver that does not fit, a library that is missing
        error = failed
    said = str(error).strip().splitlines()
    return f"no GPU can be used here{f': {said[-1].strip()}' if said else ''}"
