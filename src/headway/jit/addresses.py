"""Tuples of tables and compiled functions that compiled code finds by their addresses.

Where compiled code works on many simulations, or calls one of many policies, a table of whole numbers tells
where each of them stands in memory: one compiled procedure then serves any number of them. Interpreted, the
table holds the tuples and functions themselves.

What was laid down never changes while it is used: a tuple of other tables is laid down elsewhere.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import extending as numba_extending
from numba.core import cgutils as numba_code
from numba.core import types as numba_types

from headway.jit import kernels

extending: Any = numba_extending  # untyped here: numba has no types for what extends it
code: Any = numba_code
types: Any = numba_types


@extending.intrinsic  # type: ignore[untyped-decorator]
def copy_down(typing: Any, given: Any, address: Any) -> Any:
    """Copy the tuple that is given to an address; how many bytes it has. Address 0: only those."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place, kind = args[0], signature.args[0]
        if not hasattr(kind, "named"):  # a tuple by value
            place = code.alloca_once_value(builder, place)
        laid = context.get_value_type(getattr(kind, "named", kind))
        size = context.get_constant(types.intp, context.get_abi_sizeof(laid))
        with builder.if_then(code.is_not_null(builder, args[1])):
            target = builder.inttoptr(args[1], place.type)
            code.raw_memcpy(builder, target, place, size, 1)
        return size

    return types.int64(given, types.int64), emit


@kernels.entry
def lay_at(given: Any, address: int) -> int:
    """Lay a tuple of tables at an address; how many bytes it has."""
    return int(copy_down(given, address))


def laid_down(given: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """A tuple of tables laid into memory of its own, which must live as long as its address is used.

    So must the tables.
    """
    memory = np.zeros(-(-lay_at(given, 0) // 8), np.int64)
    lay_at(given, memory.ctypes.data)
    return memory


def reader(kind: Any) -> Any:
    """What gives compiled code the tuple of this type that stands at an address."""

    def tuple_at(typing: Any, address: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            value = context.get_value_type(kind)
            if hasattr(kind, "named"):
                return builder.inttoptr(args[0], value)
            return builder.load(builder.inttoptr(args[0], value.as_pointer()))

        return kind(types.int64), emit

    return extending.intrinsic(tuple_at)


@extending.intrinsic  # type: ignore[untyped-decorator]
def copy_words(typing: Any, source: Any, target: Any, words: Any) -> Any:
    """Copy so many numbers from one address to another."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = context.get_value_type(types.int64).as_pointer()
        source, target = (builder.inttoptr(address, place) for address in args[:2])
        code.raw_memcpy(builder, target, source, args[2], 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), emit


def caller(signature: Any) -> Any:
    """What lets compiled code call the function of this signature at an address: (address, ...)."""
    numbers = {2: _call_two, 4: _call_four}
    return extending.intrinsic(numbers[len(signature.args)](signature))


def _emitter(wanted: Any) -> Callable[..., Any]:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.get_value_type(types.FunctionType(wanted).ftype)
        return builder.call(builder.inttoptr(args[0], kind), args[1:])

    return emit


def _call_two(wanted: Any) -> Callable[..., Any]:
    def call(typing: Any, address: Any, a: Any, b: Any) -> Any:
        return wanted.return_type(types.int64, *wanted.args), _emitter(wanted)

    return call


def _call_four(wanted: Any) -> Callable[..., Any]:
    def call(typing: Any, address: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
        return wanted.return_type(types.int64, *wanted.args), _emitter(wanted)

    return call


def address_of(compiled: Any, signature: Any) -> int:
    """Where a compiled function stands that is called from compiled code; it raises nothing."""
    if tuple(signature.args) not in compiled.overloads:
        compiled.compile(signature)
    made = compiled.get_compile_result(signature)
    return int(made.library.get_pointer_to_function(made.fndesc.llvm_cfunc_wrapper_name))


@cache
def address_by_address(compiled: Any, signature: Any) -> int:
    """The same for a function that is called with the address of its second argument, a tuple."""
    if kernels.TUNED:  # that is how it takes a tuple
        return address_of(compiled, signature)
    tuple_at, number = reader(signature.args[1]), types.int64

    def of_two(a: Any, address: Any) -> None:
        compiled(a, tuple_at(address))

    def of_four(a: Any, address: Any, c: Any, d: Any) -> None:
        compiled(a, tuple_at(address), c, d)

    given = types.void(*(number for _ in signature.args))
    calls: Any = of_two if len(signature.args) == 2 else of_four
    return address_of(kernels.unkept(calls, given, nogil=True, _nrt=False), given)


def callable_back(function: Callable[[int, int], int]) -> tuple[Any, int]:
    """A Python function of two numbers that compiled code can call: what keeps it alive, and its address."""
    kept = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(function)
    address = ctypes.cast(kept, ctypes.c_void_p).value
    assert address is not None
    return kept, address
