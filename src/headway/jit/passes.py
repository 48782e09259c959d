"""What numba does for every function that it compiles, and none of our kernels needs; it costs time alone.

A policy is made of hundreds of small kernels, so what is done for each of them counts. Passes are left out in
this package's inner kernels only, which are known to be plain loops over tables: a user's own keep them all.
Only numba's collecting of warnings is left out for these, too: they are shown as they come.
"""

from __future__ import annotations

import gc
from contextlib import nullcontext
from typing import Any

from headway.jit.tuning import has_closures, is_inner

NEEDLESS = frozenset(
    {
        "with_lifting",
        "make_function_op_code_to_jit_function",
        "find_literally",
        "literal_unroll",
        "LiteralPropagation",
        "Rewrite dynamic raises",
        "inline_overloads",
        "nopython_rewrites",
        "dump_parfor_diagnostics",
    }
)
"""numba's passes over ``with``, closures, literal types, whole arrays and parallel loops."""
CLOSURES = "inline_closure_likes"
NOT_IN_KERNELS = (
    "peep_hole_list_to_tuple",
    "peep_hole_delete_with_exit",
    "peep_hole_call_function_ex_to_call_function_kw",
    "peep_hole_fuse_dict_add_updates",
)
"""What numba looks for in the code of every function: ``with``, ``*`` and ``**``, large dictionaries."""


def is_plain(state: Any) -> bool:
    """Whether numba is at an inner kernel of this package."""
    return is_inner() and state.func_id.modname.startswith("headway.")


def collect_no_garbage() -> None:
    """Let Python look for circles of objects after a kernel was compiled, not meanwhile.

    The compiler makes millions of objects that live as long as it works, and Python would go through all of
    them again and again: an eighth of the time to compile Slurm's rules.
    """
    from numba.core import dispatcher

    compiler: Any = getattr(dispatcher, "_FunctionCompiler")  # noqa: B009
    compile_one = compiler.compile

    def compile_all(compiler: Any, args: Any, return_type: Any) -> Any:
        ours = compiler.targetoptions.get("_nrt") is False
        if not (ours and gc.isenabled()):
            return compile_one(compiler, args, return_type)
        gc.disable()
        try:
            return compile_one(compiler, args, return_type)
        finally:
            gc.enable()

    setattr(compiler, "compile", compile_all)  # noqa: B010  (numba's types do not know it)


def leave_out_passes() -> None:
    """Run the passes that a kernel needs, and nothing around them: numba times each and tells listeners."""
    from numba.core import compiler_machinery as machinery
    from numba.core.postproc import PostProcessor
    from numba.core.transforms import canonicalize_cfg

    manager: Any = machinery.PassManager
    run_any: Any = manager._runPass
    registered: Any = machinery._pass_registry
    in_order: Any = canonicalize_cfg
    process: Any = PostProcessor

    def run_pass(manager: Any, index: int, compiler_pass: Any, state: Any) -> None:
        if not is_plain(state):
            run_any(manager, index, compiler_pass, state)
            return
        name = compiler_pass.name()
        if name in NEEDLESS or (name == CLOSURES and not has_closures(state.func_id.code)):
            return
        compiler_pass.analysis = manager._analysis
        compiler_pass.run_initialization(state)
        changed = compiler_pass.run_pass(state)
        compiler_pass.run_finalizer(state)
        if registered.get(type(compiler_pass)).mutates_CFG:
            if changed:
                process(state.func_ir).run()
            else:
                state.func_ir.blocks = in_order(state.func_ir.blocks)

    setattr(manager, "_runPass", run_pass)  # noqa: B010


def read_plain_code() -> None:
    """Look for no ``with``, no ``**`` and no lists of arguments in the code of kernels; catch no warnings."""
    from numba.core import errors, interpreter

    reader: Any = interpreter.Interpreter
    polish: Any = reader.post_process
    fixer: Any = getattr(errors, "WarningsFixer")  # noqa: B009
    catch: Any = fixer.catch_warnings
    spared = {getattr(interpreter, name, None) for name in NOT_IN_KERNELS}

    def post_process(reader: Any, looks: Any, code: Any) -> Any:
        plain = is_inner() and code.func_id.modname.startswith("headway.")
        return polish(reader, [look for look in looks if not (plain and look in spared)], code)

    def catch_warnings(fixer: Any, filename: Any = None, lineno: Any = None) -> Any:
        return nullcontext() if is_inner() else catch(fixer, filename, lineno)

    setattr(reader, "post_process", post_process)  # noqa: B010
    setattr(fixer, "catch_warnings", catch_warnings)  # noqa: B010
