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
from headway.cli import forms
from headway.errors import HeadwayError
from headway.jit import kernels
from headway.platform import Platform
from headway.policies.catalogue import POLICIES
from headway.workload import Workload
from instances import SPECS, busy

FIELDS = ("start", "end", "why", "killed", "promise")
Arrays = dict[str, npt.NDArray[np.int64]]
PREEMPTING = (
    "ujfb(swap=30)",
    "ujfb(preempt=kill, victims=smallest)",
    "ujfb(swap=30, idle=lent, overrun=finish)",
    "ujfb(swap=30, regular=dbf)",
)


def random_log(number: int, widest: int, seed: int) -> Workload:
    """Jobs drawn at random, with ties, jobs of no length, and all columns that any policy asks for."""
    draw = np.random.default_rng(seed)
    run, submit = draw.integers(0, 40, number), np.sort(draw.integers(0, number * 4, number))
    asked = run + draw.integers(-4, 30, number)
    return Workload.from_arrays(
        unit="s", submit=submit, procs=draw.integers(1, widest + 1, number), runtime=run,
        walltime=np.maximum(asked, 1), urgent=draw.random(number) < 0.1, swap=draw.integers(0, 3, number),
        deadline=np.where(draw.random(number) < 0.5, submit + draw.integers(50, 900, number), -1),
        file=draw.integers(0, 4, number), file_gb=draw.integers(1, 3, 4)[draw.integers(0, 1, number)] * 1.0,
        user=draw.integers(0, 4, number), labels={"file": list("abcd"), "user": list("efgh")},
    )  # fmt: skip


def machines() -> dict[str, tuple[Workload, Platform]]:
    """A random log and a machine of each kind: those that are built for, and one with a deep queue."""
    kinds = ("counted", "failing", "nodes", "grid", "site")
    made = dict(zip(kinds, (machine for _, machine in forms.situations()), strict=False))
    found = {kind: (random_log(50, 4, seed), made[kind]) for seed, kind in enumerate(kinds)}
    return found | {"crowded": (busy(60, 24, load=1.8, seed=3), Platform.procs(24))}


MACHINES = {"counted": 200, "failing": 100, "nodes": 200, "grid": 30, "site": 200, "crowded": 200}
"""Machines, and how many forms of policies run there at least; the others are refused."""


def schedules(machine: str) -> Arrays:
    """Every column of every policy's schedules on one machine, by name; empty where a policy is refused."""
    log, platform = machines()[machine]
    parts = forms.parts_of(list(POLICIES), whole=False)
    columns: Arrays = {}
    for spec in sorted({*SPECS, *PREEMPTING}.union(*map(forms.specs_of, parts))):
        try:
            made = headway.simulate(log, platform, spec)
        except HeadwayError:
            columns[f"{spec} is refused"] = np.empty(0, np.int64)
            continue
        given = {name: getattr(made, name) for name in FIELDS}
        columns |= {f"{spec} {name}": np.asarray(each) for name, each in given.items() if each is not None}
    return columns


PROGRAM = """
import numpy, sys
from headway.jit import kernels
import test_engine_interpreted
assert kernels.INTERPRETED
numpy.savez(sys.argv[1], **test_engine_interpreted.schedules(sys.argv[2]))
"""


@pytest.mark.skipif(kernels.INTERPRETED, reason="kernels run interpreted here already")
@pytest.mark.parametrize("machine", MACHINES)
def test_compiled_and_interpreted_runs_agree(tmp_path: Path, machine: str) -> None:
    path = tmp_path / "interpreted.npz"
    folders = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": folders}
    command = [sys.executable, "-c", PROGRAM, str(path), machine]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with np.load(path, allow_pickle=False) as stored:
        interpreted = {name: stored[name] for name in stored.files}
    compiled = schedules(machine)
    assert sorted(compiled) == sorted(interpreted)
    assert sum(name.endswith(" start") for name in compiled) >= MACHINES[machine]
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


@pytest.mark.usefixtures("nothing_kept")
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
