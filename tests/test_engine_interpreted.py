"""Kernels give the same schedules compiled and interpreted; the private option that makes them fast acts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
import pytest

import headway
from headway.jit import kernels
from headway.workload import Workload
from headway.workload.models import lublin
from instances import SPECS, busy

FIELDS = ("start", "end", "why", "killed", "promise")
Arrays = dict[str, npt.NDArray[np.int64]]
PREEMPTING = (
    "ujfb(swap=30)",
    "ujfb(preempt=kill, victims=smallest)",
    "ujfb(swap=30, idle=lent, overrun=finish)",
    "ujfb(swap=30, regular=dbf)",
)


def workloads() -> list[tuple[Workload, int]]:
    """A machine with too much to do, full of ties and jobs of no length; and days as the model has them."""
    return [(busy(60, 24, load=1.8, seed=3), 24), (lublin(jobs=60, procs=64, seed=4), 64)]


def schedules() -> Arrays:
    """Every column of every policy's schedule of both workloads, by name."""
    columns: Arrays = {}
    for number, (log, procs) in enumerate(workloads()):
        for spec in (*SPECS, *PREEMPTING):
            made = headway.simulate(log, procs, spec)
            columns |= {f"{number} {spec} {name}": np.asarray(getattr(made, name)) for name in FIELDS}
    return columns


PROGRAM = """
import numpy, sys
from headway.jit import kernels
import test_engine_interpreted
assert kernels.INTERPRETED
numpy.savez(sys.argv[1], **test_engine_interpreted.schedules())
"""


def test_compiled_and_interpreted_runs_agree(tmp_path: Path) -> None:
    if kernels.INTERPRETED:
        pytest.skip("kernels run interpreted here already")
    path = tmp_path / "interpreted.npz"
    folders = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": folders}
    command = [sys.executable, "-c", PROGRAM, str(path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    compiled, interpreted = schedules(), np.load(path)
    assert sorted(compiled) == sorted(interpreted.files)
    assert len(compiled) == 2 * len((*SPECS, *PREEMPTING)) * len(FIELDS)
    for name, column in compiled.items():
        different = np.flatnonzero(column != interpreted[name])
        assert len(different) == 0, f"{name} differs first at row {different[0]}"


class Pair(NamedTuple):
    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]


def add(pair: Pair, i: int) -> int:
    return int(pair.first[i] + pair.second[i])


def reference_counts(wrap: Callable[..., Callable[..., int]]) -> int:
    """How often the compiled form of a loop over a called helper counts references to its arrays."""
    helper = wrap(add)

    def total(pair: Pair) -> int:
        found = 0
        for i in range(len(pair.first)):
            found += helper(Pair(pair.second, pair.first), i)
        return found

    compiled = wrap(total)
    pair = Pair(np.arange(5), np.arange(5))
    assert compiled(pair) == 20
    (text,) = compiled.inspect_llvm().values()  # type: ignore[attr-defined]
    return sum("call" in line and "NRT_" in line for line in text.splitlines())


@pytest.mark.skipif(kernels.INTERPRETED, reason="nothing is compiled")
def test_kernels_count_no_references() -> None:
    options = kernels.entry(add).targetoptions  # type: ignore[attr-defined]
    assert options["_nrt"] is False
    assert reference_counts(numba.njit) > 0, "plain compiling no longer counts references: drop the option"
    assert reference_counts(numba.jit(**options)) == 0


@kernels.by_address
class House(NamedTuple):
    number: npt.NDArray[np.int64]
    pair: Pair
    weights: npt.NDArray[np.float64]


@pytest.mark.skipif(kernels.INTERPRETED, reason="nothing is compiled")
def test_tables_are_passed_on_by_one_address() -> None:
    helper = kernels.routine(add)

    def total(house: House, more: int) -> float:
        house.number[0] += more
        return float(helper(house.pair, house.number[0]) * house.weights.shape[0])

    compiled = kernels.entry(total)
    for n in (5, 7):  # each call has tables of its own
        house = House(np.zeros(1, np.int64), Pair(np.arange(n), np.arange(n) * 10), np.zeros(n))
        assert compiled(house, 2) == 22 * n
        assert compiled(house, 1) == 33 * n
        assert house.number[0] == 3
    (text,) = compiled.inspect_llvm().values()  # type: ignore[attr-defined]
    heads = [line for line in text.splitlines() if line.startswith("define") and "cpython" not in line]
    # Where the result and an error go, then the two arguments; or only what is needed of that.
    assert heads and all(head.count(" %.") <= 4 for head in heads), heads


@pytest.mark.skipif(kernels.INTERPRETED, reason="nothing is compiled")
@pytest.mark.parametrize("wrap", [kernels.entry, kernels.kernel, kernels.routine])
def test_kernels_cannot_allocate(wrap: Callable[..., Callable[..., int]]) -> None:
    def allocates(n: int) -> int:
        return len(np.zeros(n))

    with pytest.raises(numba.NumbaError, match="zeros"):
        wrap(allocates)(3)


@pytest.mark.skipif(kernels.INTERPRETED, reason="nothing is compiled")
def test_types_of_an_operator_are_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.core.types import functions

    asked: list[str] = []
    failures: Any = getattr(functions, "_ResolutionFailures")  # noqa: B009  (made whenever types are worked out)

    def noted(context: object, operator: object, *others: Any, **more: Any) -> Any:
        asked.append(str(operator))
        return failures(context, operator, *others, **more)

    monkeypatch.setattr(functions, "_ResolutionFailures", noted)
    helper: Callable[[int, int], int] = kernels.kernel(lambda a, b: a * b - (a << b))
    again: Callable[[int, int], int] = kernels.kernel(lambda a, b: (a << b) - a * b)

    def both(a: int, b: int) -> int:
        return int(helper(a, b) + again(a, b))

    assert kernels.entry(both)(5, 2) == 0
    for operator in ("mul", "lshift", "sub"):
        assert sum(operator in each for each in asked) <= 1, "kernels work the same types out again"
