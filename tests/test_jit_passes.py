"""What is left out when this package's kernels are compiled is left out there, and nowhere else."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from headway.jit import kernels

pytestmark = [
    pytest.mark.skipif(not kernels.TUNED, reason="nothing is compiled, or numba is left as it is"),
    pytest.mark.usefixtures("nothing_kept"),
]
if kernels.TUNED:
    import numba
    from numba import extending as numba_extending
    from numba.core import compiler_machinery, types

    from headway.jit import tuning as jit_passes

    extending: Any = numba_extending
    registered: Any = getattr(compiler_machinery, "_pass_registry")  # noqa: B009
    KIND = kernels.type_of(np.arange(3)), numba.int64


def read(table: npt.NDArray[np.int64], i: int) -> Any:
    return table[i]


def squares(table: npt.NDArray[np.int64], i: int) -> int:
    def square(n: int) -> int:
        return n * n

    return square(int(table[i])) + square(i)


def as_ours(function: Any) -> Any:
    """A function as if it were one of this package's."""
    made = kernels.calling(function)
    made.__module__ = "headway.jit"
    return made


def passes_run(monkeypatch: pytest.MonkeyPatch, function: Any) -> set[str]:
    """The names of the passes that run over a kernel."""
    done: set[str] = set()
    with monkeypatch.context() as patch:
        for kind in registered._registry:
            if "run_pass" not in vars(kind):
                continue

            def noted(self: Any, state: Any, run: Any = kind.run_pass) -> Any:
                if (known := state.get("func_id")) is not None and known.func_name == function.__name__:
                    done.add(self.name())
                return run(self, state)

            patch.setattr(kind, "run_pass", noted)
        kernels.kernel(function).compile(KIND)
    return done


def names() -> set[str]:
    return {registered.get(kind).pass_inst.name() for kind in registered._registry}


def test_every_pass_that_is_left_out_is_one_of_numbas() -> None:
    assert {*jit_passes.NEEDLESS, jit_passes.CLOSURES} <= names()


def test_passes_are_left_out_in_our_kernels_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    spared = {*jit_passes.NEEDLESS, jit_passes.CLOSURES}
    ours, users = passes_run(monkeypatch, as_ours(read)), passes_run(monkeypatch, kernels.calling(read))
    assert spared <= users, "numba no longer runs them by itself: drop them"
    assert ours == users - spared


def test_a_kernel_with_a_function_inside_has_it_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    made = as_ours(squares)
    assert jit_passes.CLOSURES in passes_run(monkeypatch, made)
    inner = kernels.kernel(made)
    assert kernels.entry(lambda table, i: inner(table, i))(np.arange(5), 3) == squares(np.arange(5), 3) == 18


@pytest.mark.parametrize("fails", [False, True])
def test_no_garbage_is_collected_while_a_kernel_is_compiled(fails: bool) -> None:
    collecting: list[bool] = []

    def seen(context: Any, number: Any) -> Any:
        collecting.append(gc.isenabled())
        if fails:
            raise numba.TypingError("no such number")

        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return args[0]

        return types.int64(types.int64), emit

    see = extending.intrinsic(seen)
    inner: Any = kernels.kernel(lambda n: see(n))
    whole: Any = kernels.entry(lambda n: inner(n) + 1)
    assert gc.isenabled()
    if fails:
        with pytest.raises(numba.TypingError, match="no such number"):
            whole(1)
    else:
        assert whole(1) == 2
    assert collecting and not any(collecting)
    assert gc.isenabled()
    gc.disable()
    try:
        another: Any = kernels.unkept(lambda n: n + 2, nogil=True, _nrt=False)
        assert another(1) == 3
        assert not gc.isenabled(), "who does not want it collected is not asked"
    finally:
        gc.enable()
