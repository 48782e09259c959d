"""What we ask of numba beyond its options, for speed alone: without any of it the results are the same.

All of it concerns kernels that only other kernels call, those of :func:`headway.jit.kernel` and ``routine``;
other code that numba compiles in the process is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba.core import targetconfig
from numba.core import types as numba_types

types: Any = numba_types
Function = TypeVar("Function", bound=Callable[..., Any])


def is_inner() -> bool:
    """Whether numba is at a kernel that only other kernels use: none else lacks a wrapper and the lock."""
    stack: Any = targetconfig.ConfigStack
    flags = stack.top_or_none()
    return bool(flags is not None and flags.no_cpython_wrapper and flags.release_gil)


def count_from_the_front() -> None:
    """Spare kernels the test whether each index is negative, which counts from the end: theirs never are.

    Only functions without a Python wrapper are concerned, which are the kernels and routines below. Without
    this they would be a quarter slower, and the same otherwise.
    """
    from numba.np import arrayobj

    with_test: Any = arrayobj.fix_integer_index

    def fix_integer_index(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
        if not is_inner():
            return with_test(context, builder, kind, index, size)
        return context.cast(builder, index, kind, types.intp if kind.signed else types.uintp)

    setattr(arrayobj, "fix_integer_index", fix_integer_index)  # noqa: B010  (numba's types do not know it)


def leave_inner_code_raw() -> None:
    """Make machine code of hooks and entries only.

    numba optimises every kernel and makes machine code of it, then does so again in each caller that it is
    joined into. A kernel that has no caller in Python needs neither. Without this compiling takes half as
    long again, and gives the same.
    """
    from numba.core.codegen import CPUCodeLibrary, JITCPUCodegen

    optimise: Any = CPUCodeLibrary._optimize_final_module
    make_code: Any = CPUCodeLibrary._finalize_final_module
    place: Any = JITCPUCodegen.set_env

    def optimise_final_module(library: Any) -> None:
        if not is_inner():
            optimise(library)

    def finalise_final_module(library: Any) -> None:
        if not is_inner():
            make_code(library)
            return
        library._finalize_dynamic_globals()
        library._finalized = True

    def set_environment(codegen: Any, name: str, environment: Any) -> None:
        if not is_inner():  # where there is no code there is no place for it, and kernels need none
            place(codegen, name, environment)

    setattr(JITCPUCodegen, "set_env", set_environment)  # noqa: B010
    setattr(CPUCodeLibrary, "_optimize_final_module", optimise_final_module)  # noqa: B010
    setattr(CPUCodeLibrary, "_finalize_final_module", finalise_final_module)  # noqa: B010


def ask_once() -> None:
    """Remember what an operator makes of its operands' types; numba works it out at every place anew.

    That is a fifth of the time to compile a policy.
    """
    stack: Any = targetconfig.ConfigStack
    work_out: Any = types.BaseFunction.get_call_type
    known: dict[Any, Any] = {}

    def get_call_type(operator: Any, context: Any, args: Any, keywords: Any) -> Any:
        if keywords or not is_inner():
            return work_out(operator, context, args, keywords)
        key = operator, context, args, bool(stack.top_or_none().forceinline)
        if key not in known:
            known[key] = work_out(operator, context, args, keywords)
        return known[key]

    setattr(types.BaseFunction, "get_call_type", get_call_type)  # noqa: B010


def for_any_number(compiled: Function) -> Function:
    """Let a kernel be compiled once for all whole numbers: numba does it for every constant argument."""
    template_for = cast(Any, compiled).get_call_template

    def get_call_template(args: Any, keywords: Any) -> Any:
        return template_for(tuple(types.unliteral(each) for each in args), keywords)

    setattr(compiled, "get_call_template", get_call_template)  # noqa: B010
    return compiled
