"""What numba does for every function that it compiles, and none of our kernels needs; it costs time alone.

A policy is made of hundreds of small kernels, so what is done for each of them counts. Passes are left out in
this package's inner kernels only, which are known to be plain loops over tables: a user's own keep them all.
"""

from __future__ import annotations

import gc
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
