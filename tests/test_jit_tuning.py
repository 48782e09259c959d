"""Each thing that we ask of numba beyond its options still acts, compared with numba left as it is."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

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
    from llvmlite import binding as llvm
    from llvmlite.binding.module import ModuleRef
    from numba.core import errors, postproc, types
    from numba.core.codegen import JITCodeLibrary
    from numba.np import arrayobj

    from headway.jit import tuning as jit_tuning

    arrays: Any = arrayobj

Wrap = Callable[..., Any]


def read(table: npt.NDArray[np.int64], i: int) -> Any:
    return table[i]


def compiled(wrap: Wrap) -> tuple[Any, Any]:
    """A helper, and what Python calls: it uses the helper with two constants and a variable."""
    helper = wrap(read)

    def total(table: npt.NDArray[np.int64], i: int) -> int:
        return int(helper(table, i) + helper(table, 3) + helper(table, 4))

    whole = kernels.entry(total) if wrap is kernels.kernel else wrap(total)
    assert whole(np.arange(5), 2) == 9
    return helper, whole


@pytest.fixture(scope="module")
def ours() -> tuple[Any, Any]:
    return compiled(kernels.kernel)


@pytest.fixture(scope="module")
def plain() -> tuple[Any, Any]:
    return compiled(numba.njit)


def code_of(helper: Any) -> str:
    """The code of a helper before it is joined to others."""
    made = next(iter(helper.overloads.values()))
    return str(made.library.get_llvm_str())


def test_no_index_of_a_kernel_is_asked_whether_it_is_negative(
    ours: tuple[Any, Any], plain: tuple[Any, Any]
) -> None:
    assert "icmp slt" in code_of(plain[0]), "plain compiling no longer asks: drop count_from_the_front"
    assert "icmp slt" not in code_of(ours[0])


def test_a_kernel_stays_as_written_and_what_python_calls_is_optimised(ours: tuple[Any, Any]) -> None:
    def is_raw(function: Any) -> bool:
        (made,) = function.overloads.values()
        return getattr(made.library, "_is_raw", False)

    assert is_raw(ours[0]) and not is_raw(ours[1])
    assert "mul i64 %arg.i, 1" in code_of(ours[0]), "the helper's code was optimised for itself"
    (text,) = ours[1].inspect_llvm().values()
    calls = [line for line in text.splitlines() if " call " in line and "4read" in line]
    assert "mul i64 %arg.i, 1" not in text and calls == [], "the helper was not joined to its caller"


def test_a_kernel_is_compiled_once_for_all_numbers(ours: tuple[Any, Any], plain: tuple[Any, Any]) -> None:
    assert len(plain[0].signatures) > 1, "plain compiling knows no constants: drop for_any_number"
    assert len(ours[0].signatures) == 1


def test_arrays_are_read_where_they_are(ours: tuple[Any, Any]) -> None:
    kind = kernels.type_of(np.arange(5))
    assert arrays.make_array(kind) is arrays.make_array(kind)
    assert "alloca" not in code_of(ours[0])

    whole = numba.njit(lambda table: table[1:])  # code that is not ours goes on as before
    assert whole(np.arange(5)).tolist() == [1, 2, 3, 4]


def test_nobody_asks_where_the_variables_of_kernels_die(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    insert_deletions: Any = getattr(postproc.PostProcessor, "_insert_var_dels")  # noqa: B009

    def noted_deletions(*given: Any, **more: Any) -> Any:
        done.append("deletions")
        return insert_deletions(*given, **more)

    monkeypatch.setattr(postproc.PostProcessor, "_insert_var_dels", noted_deletions)
    argument = kernels.type_of(np.arange(5)), numba.int64
    kernels.kernel(read).compile(argument)  # type: ignore[attr-defined]
    assert done == []
    numba.njit(read).compile(argument)
    assert set(done) == {"deletions"}


def test_numba_writes_its_errors_without_colours() -> None:
    assert getattr(errors, "termcolor")().errmsg("wrong") == "wrong"  # noqa: B009


def test_a_numba_that_has_changed_is_used_as_far_as_it_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def about_what_is_gone() -> None:
        raise AttributeError("module 'numba.np.arrayobj' has no attribute 'make_array'")

    monkeypatch.setattr(jit_tuning, "CHANGES", (about_what_is_gone, lambda: done.append("the next")))
    jit_tuning.tune()
    assert done == ["the next"]


def add_one(n: int) -> int:
    return n + 1


def apply(function: Callable[[int], int], n: int) -> int:
    return function(n)


@pytest.mark.parametrize("as_value", ["found at once", "addressed"])
def test_the_addresses_of_a_function_that_is_handed_over_are_looked_up_once(
    monkeypatch: pytest.MonkeyPatch, as_value: str
) -> None:
    signature = types.int64(types.int64)
    compiled = kernels.with_signature(signature)(add_one)
    if as_value == "found at once":
        given = kernels.found_at_once(compiled, signature)
    else:
        given = kernels.Addressed(compiled, signature)
    use = kernels.with_signature(types.int64(kernels.function_type(signature), types.int64))(apply)
    asked: list[str] = []
    look_up: Any = JITCodeLibrary.get_pointer_to_function

    def noted(library: Any, name: str) -> Any:
        asked.append(name)
        return look_up(library, name)

    monkeypatch.setattr(JITCodeLibrary, "get_pointer_to_function", noted)
    assert [use(given, n) for n in (1, 2, 3)] == [2, 3, 4]
    assert asked == []


@kernels.by_address
class Tables(NamedTuple):
    """What all policies have, and behind it what is one policy's own."""

    common: npt.NDArray[np.int64]
    memory: Any


@kernels.kernel
def common(tables: Tables) -> int:
    return int(tables.common[0])


@kernels.kernel
def more(tables: Tables) -> int:
    return common(tables) + 1


@kernels.kernel
def own(tables: Tables) -> int:
    return int(tables.memory[0]) + common(tables)


def test_a_kernel_that_never_looks_at_a_policys_own_tables_is_compiled_once_for_all_policies() -> None:
    def both(tables: Tables) -> int:
        return more(tables) + 100 * own(tables)

    whole = kernels.unkept(both, nogil=True, _nrt=False)  # were it loaded, nothing below it would be compiled
    tables = Tables(np.array([5]), np.array([2, 3]))
    assert whole(tables) == 706
    assert whole(tables._replace(memory=np.array([2.5]))) == 706
    counts = [len(cast(Any, each).overloads) for each in (common, more, own, whole)]
    assert counts == [1, 1, 2, 2]


@kernels.kernel
def within(tables: Tables) -> int:
    def first(tables: Tables) -> int:
        return int(tables.memory[0])

    return first(tables) + common(tables)


@kernels.kernel
def given(function: Any, tables: Tables) -> int:
    return int(function(tables))


def test_functions_inside_a_kernel_or_given_to_it_may_look_at_a_policys_own_tables() -> None:
    def both(tables: Tables) -> int:
        return within(tables) + 100 * given(own, tables)

    assert kernels.entry(both)(Tables(np.array([5]), np.array([2, 3]))) == 707


class Mode(IntEnum):
    OFF = 3
    ON = 5


@kernels.kernel
def mode_of(table: npt.NDArray[np.int64], i: int) -> int:
    return int(Mode.OFF if table[i] < 0 else table[i])


@kernels.entry
def modes(table: npt.NDArray[np.int64]) -> int:
    return mode_of(table, 0) + 10 * mode_of(table, 1) + 100 * int(Mode.ON)


def test_a_member_of_an_enumeration_is_a_number() -> None:
    """Some Pythons ask for the number of the one and of the other, and some for that of either."""
    assert modes(np.array([-1, 7])) == 573


@pytest.mark.parametrize(("name", "wide"), [("redirection_easy_easy", True), ("easy", False)])
def test_loops_of_policies_that_gain_by_it_run_in_wide_registers(name: str, wide: bool) -> None:
    """Such as those over the counters of all that run."""

    def highest(values: npt.NDArray[np.int64]) -> int:
        most = 0
        for i in range(len(values)):
            values[i] += i
            most += values[i] > 7
        return most

    highest.__qualname__ = name
    made = kernels.unkept(highest, nogil=True, _nrt=False)
    assert made(np.arange(9)) == 5
    (text,) = cast(Any, made).inspect_llvm().values()
    assert (" x i64>" in text) == wide


@pytest.mark.parametrize(("name", "unrolled"), [("conservative", True), ("slurm", False)])
def test_loops_are_unrolled_where_that_pays(name: str, unrolled: bool) -> None:
    def begun(values: npt.NDArray[np.int64], x: int) -> int:
        count = 0
        for i in range(7):
            count += values[i] <= x
        return count

    begun.__qualname__ = name
    made = kernels.unkept(begun, nogil=True, _nrt=False)
    assert made(np.arange(7), 3) == 4
    (text,) = cast(Any, made).inspect_llvm().values()
    assert (text.count(", %arg.x") >= 7) == unrolled


def test_a_kernel_is_joined_once_to_all_that_it_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each link reads its whole first module. Kernel i calls i + 1; nothing calls the last."""

    def library(text: str) -> Any:
        module = llvm.parse_assembly(text)
        return SimpleNamespace(
            _final_module=module, _reload_init=set(), _get_module_for_linking=lambda: module
        )

    def calling(kind: str, name: str, below: int) -> str:
        called = f"i64 @k{below}()"
        return f"declare {called}\ndefine {kind} i64 @{name}() {{\n%a = call {called}\nret i64 %a\n}}"

    below = [library(calling("linkonce_odr", f"k{i}", i + 1)) for i in range(7)]
    below += [library("define linkonce_odr i64 @k7() {\nret i64 5\n}")]
    below += [library(calling("linkonce_odr", "k", 2))]
    firsts, link = [], ModuleRef.link_in

    def link_in(first: Any, other: Any) -> None:
        firsts.append(id(first))
        link(first, other)

    monkeypatch.setattr(ModuleRef, "link_in", link_in)
    whole = library(calling("", "whole", 0))
    jit_tuning._link_all(whole, below)
    module = whole._final_module
    module.verify()
    assert firsts.count(id(module)) == 1 and len(firsts) == len(below)
    assert not any(each.is_declaration for each in module.functions)
    linkage = {each.name: each.linkage.name for each in module.functions}
    assert linkage == {"whole": "external"} | {f"k{i}": "linkonce_odr" for i in range(8)}
