"""How kernels are compiled, by numba.

Kernels are plain Python functions over NumPy tables. ``NUMBA_DISABLE_JIT=1`` runs every one of them
interpreted, for debugging and coverage, with the same results.

Three options matter for speed and never for results, as does what :mod:`headway.jit.tuning` and
:mod:`headway.jit.tables` do.
``_nrt=False`` leaves out the reference counting of arrays at calls, the great cost of small helpers; such
kernels cannot allocate. ``forceinline`` joins the helpers into their caller. ``nogil`` lets threads run
kernels side by side.

Where compiled kernels are kept, and when they are not: :mod:`headway.jit.cache`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from types import FunctionType, SimpleNamespace
from typing import Any, TypeVar

from headway.jit import cache

Function = TypeVar("Function", bound=Callable[..., Any])
Tuple = TypeVar("Tuple", bound=type)


INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
"""True when kernels run as plain Python; then numba is not even imported."""

TUNED = not INTERPRETED and not os.environ.get(cache.UNTUNED)
"""False where numba is to compile as it would by itself, to see that the results are the same."""

numba: Any = None
types: Any = None
njit: Any = None
"""numba's own, where kernels are compiled; untyped, because its types do not know the option `_nrt`."""

if TUNED:
    # numba raises and catches errors by itself, and to colour those takes a tenth of the time to compile.
    os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")
if not INTERPRETED:
    numba, types = import_module("numba"), import_module("numba.core.types")
    njit = numba.njit
tuning: Any = None
if TUNED:
    tuning = import_module("headway.jit.tuning")
    tuning.tune()


def kept(function: Function, *signature: Any, **options: Any) -> Function:
    """Compile, for a signature at once, and keep what comes out on disk (:mod:`headway.jit.cache`)."""
    if INTERPRETED:
        return function
    compiled: Any = njit(**options)(function)
    cache.Kept(compiled)
    if signature:
        with import_module("numba.core.typeinfer").register_dispatcher(compiled):
            compiled.compile(*signature)
            compiled.disable_compile()
    return compiled  # type: ignore[no-any-return]


def unkept(function: Function, *signature: Any, **options: Any) -> Function:
    """Compile for this process."""
    if INTERPRETED:
        return function
    compiled: Function = njit(*signature, **options)(function)
    return compiled


def kernel(function: Function) -> Function:
    """Compile a helper on first use, inlined into its callers. It must not allocate."""
    return _inner(function, forceinline=True)


def routine(function: Function) -> Function:
    """Compile a larger kernel that is called, not inlined. It must not allocate."""
    # Said here, because what is not said is taken over from the kernel that is being compiled.
    return _inner(function, forceinline=False)


def _inner(function: Function, forceinline: bool) -> Function:
    """Compile what only other kernels call."""
    compiled = unkept(
        function,
        nogil=True,
        _nrt=False,
        forceinline=forceinline,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
    )
    return tuning.for_any_number(compiled) if TUNED else compiled


def as_written(function: Any) -> Any:
    """The Python function that a kernel was made of; anything else is itself."""
    return getattr(function, "py_func", function)


def calling(function: Any, **others: Any) -> FunctionType:
    """A function as it is written, but some names in it are those of other functions."""
    plain = as_written(function)
    return FunctionType(plain.__code__, {**plain.__globals__, **others}, plain.__name__, plain.__defaults__)


def woven(function: Function) -> Function:
    """A part of a larger kernel that is joined into its callers before they are compiled.

    What a caller gives it is known then: of branches on a constant only the one that is taken is compiled,
    and a function that is given needs no address. Elsewhere :func:`kernel` takes less time to compile.
    """
    return kept(function, nogil=True, _nrt=False, inline="always", no_cfunc_wrapper=True)


def entry(function: Function) -> Function:
    """Compile a kernel that Python calls."""
    return kept(function, nogil=True, _nrt=False)


def with_signature(signature: Any) -> Callable[[Function], Function]:
    """Compile now for exactly these types, so that a function handed over as a value has one address."""

    def decorate(function: Function) -> Function:
        return kept(function, signature, nogil=True, _nrt=False)

    return decorate


def function_type(signature: Any) -> Any:
    """The type of a compiled function passed as an argument."""
    return types.FunctionType(signature)


def found_at_once(compiled: Any, signature: Any) -> Any:
    """The same compiled function, whose addresses are looked up once; what it raises is told, as before.

    At each call of the loop numba asks for them, which takes half as long as the simulation of a day.
    """
    made, others = compiled.get_compile_result(signature), compiled.get_compile_result
    names = made.fndesc.llvm_func_name, made.fndesc.llvm_cfunc_wrapper_name
    known = {name: made.library.get_pointer_to_function(name) for name in names}
    library = SimpleNamespace(get_pointer_to_function=known.__getitem__)
    answer = SimpleNamespace(fndesc=made.fndesc, library=library)
    compiled.get_compile_result = lambda asked: answer if asked == signature else others(asked)
    return compiled


class Addressed(object if INTERPRETED else types.WrapperAddressProtocol):  # type: ignore[misc]
    """A compiled function as a value of its own, with one address: what it raises is lost."""

    def __init__(self, compiled: Any, signature: Any) -> None:
        self._compiled, self._signature = compiled, signature
        made = compiled.get_compile_result(signature)
        self._address = made.library.get_pointer_to_function(made.fndesc.llvm_cfunc_wrapper_name)
        self.type = function_type(signature)

    def __wrapper_address__(self) -> int:
        return int(self._address)

    def signature(self) -> Any:
        return self._signature


def _type_of_addressed(value: Addressed, context: Any) -> Any:
    """Known from the beginning: to make it anew at each call takes longer than many a call."""
    return value.type


def _number_of_member(value: Any) -> Any:
    """Let ``int`` take a member of an enumeration, which numba's does not. Which Python it is decides whether
    ``int(Mode.OFF if unset else mode)`` asks for that."""

    def number(value: Any) -> Any:
        return value + 0

    return number if isinstance(value, types.IntEnumMember) else None


if not INTERPRETED:
    extending: Any = import_module("numba.extending")
    extending.typeof_impl.register(Addressed, _type_of_addressed)
    extending.overload(int)(_number_of_member)


def _count_bits(word: Any) -> int:
    """How many bits of a number of 64 bits are set."""
    return (int(word) & 0xFFFFFFFFFFFFFFFF).bit_count()


def _lowest_bit(word: Any) -> int:
    """The place of the lowest bit that is set; 64 where none is."""
    return ((int(word) & -int(word)).bit_length() - 1) % 65


def _one_instruction(name: str, *more: Any) -> Any:
    """A function of a number that the processor knows."""

    def word_to_number(context: Any, word: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return getattr(builder, name)(args[0], *(make(builder) for make in more))

        return types.int64(types.int64), emit

    return import_module("numba.extending").intrinsic(word_to_number)


def _false(builder: Any) -> Any:
    """Zero has a lowest bit, too: 64."""
    ir = import_module("llvmlite.ir")
    return ir.Constant(ir.IntType(1), 0)


count_bits: Any = _count_bits if INTERPRETED else _one_instruction("ctpop")
lowest_bit: Any = _lowest_bit if INTERPRETED else _one_instruction("cttz", _false)


def by_address(named: Tuple) -> Tuple:
    """A class of named tuples of tables, which compiled functions pass on by their address."""
    if TUNED:
        import_module("headway.jit.tables").pass_by_address(named)
    return named


def type_of(value: Any) -> Any:
    """numba's type of a value such as a tuple of tables."""
    return numba.typeof(value)
