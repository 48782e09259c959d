"""Tables of a user's compiled policy, which it keeps between passes: whole numbers and others, by rows.

A function of the jobs' columns and the number of processors makes them before the run. The hook finds them in
``state.memory``; rows are best named by an ``IntEnum``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from headway.engine.tables import NO_MEMORY, Table
from headway.errors import PolicyError
from headway.jit.kernels import by_address


@by_address
class OwnTables(NamedTuple):
    """What ``state.memory`` is."""

    integers: Table
    """[row, place]"""
    floats: npt.NDArray[np.float64]
    """[row, place]"""


Maker = Callable[[Mapping[str, npt.NDArray[Any]], int], Any]


def made(maker: Maker | None, columns: Mapping[str, npt.NDArray[Any]], procs: int, where: str) -> Any:
    """The tables of a policy, or the engine's empty memory where it has none."""
    if maker is None:
        return NO_MEMORY
    try:
        integers, floats = maker({name: column.copy() for name, column in columns.items()}, procs)
        whole, real = (np.atleast_2d(np.array(table)) for table in (integers, floats))
    except (TypeError, ValueError) as error:
        raise PolicyError(
            f"{where}: tables gives two tables, whole numbers and floats ([row, place]; np.zeros((0, 0)) for "
            f"none), and did not: {error}"
        ) from None
    if whole.dtype.kind not in "iub" and whole.size:
        raise PolicyError(
            f"{where}: the first of its tables holds {whole.dtype}, and must hold whole numbers"
        )
    return OwnTables(
        np.ascontiguousarray(whole, np.int64).reshape(whole.shape[:2]),
        np.ascontiguousarray(real, np.float64).reshape(real.shape[:2]),
    )


def prototype(has_tables: bool) -> Any:
    """A memory with nothing in it, of the kind that a hook is compiled for."""
    return OwnTables(np.zeros((0, 0), np.int64), np.zeros((0, 0))) if has_tables else NO_MEMORY
