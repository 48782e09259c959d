"""What we ask of numba beyond its options, for speed alone: without any of it the results are the same.

All of it concerns kernels that only other kernels call, those of :func:`headway.jit.kernels.kernel` and
``routine``; other code that numba compiles in the process is left as it is. Each says what it gains, as the
CPU time to compile the loop and a strict order without it (numba 0.68.1, least of two, 4.8 s with all).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from types import CodeType, ModuleType
from typing import Any, TypeVar, cast

from numba.core import targetconfig
from numba.core import types as numba_types

from headway.jit.cache import global_names
from headway.jit.tables import OWN, without_own

GAIN_BY_VECTORS = "redirection"
"""Policies whose time goes into plain loops over long lists, such as counters of all that run."""
LOSE_BY_UNROLLING = "slurm"
"""Policies with so many loops that unrolling makes them slower, and an eighth longer to compile."""
types: Any = numba_types
Function = TypeVar("Function", bound=Callable[..., Any])

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


def is_inner() -> bool:
    """Whether numba is at a kernel that only other kernels use: none else lacks a wrapper and the lock."""
    stack: Any = targetconfig.ConfigStack
    flags = stack.top_or_none()
    return bool(flags is not None and flags.no_cpython_wrapper and flags.release_gil)


def is_ours() -> bool:
    """Whether numba is at a kernel, inner or not: none else lacks both reference counts and the lock."""
    stack: Any = targetconfig.ConfigStack
    flags = stack.top_or_none()
    return bool(flags is not None and flags.release_gil and not flags.nrt)


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
    """Optimise and make machine code of hooks and entries only, and join code there only.

    numba optimises every kernel and makes machine code of it, together with all kernels that it calls, then
    does so again in each caller. A kernel that has no caller in Python needs none of that: it stays as it
    was written, beside a note of the kernels that it calls, and whatever Python calls takes up all of them
    once. Without this compiling takes 2.5 times as long, and gives the same.
    """
    from llvmlite import binding
    from numba.core import cgutils
    from numba.core.codegen import CPUCodeLibrary, JITCPUCodegen

    library_of: Any = CPUCodeLibrary
    readable: Any = cgutils.normalize_ir_text
    add, module_for_linking = library_of.add_ir_module, library_of._get_module_for_linking
    optimise_functions, optimise_module = library_of._optimize_functions, library_of._optimize_final_module
    finalise = library_of.finalize
    place: Any = JITCPUCodegen.set_env

    def add_module(library: Any, module: Any) -> None:
        if not is_inner():
            add(library, module)
            return
        made = binding.parse_assembly(readable(str(module)))
        made.name, made.data_layout = module.name, library._codegen._data_layout
        if any(made.functions) and not any(library._final_module.functions):
            library._final_module = made
        else:
            library._final_module.link_in(made)

    def module_to_join(library: Any) -> Any:
        if not getattr(library, "_is_raw", False) or library._shared_module is not None:
            return module_for_linking(library)
        library._shared_module = library._final_module  # nobody else has a use for it
        for function in library._final_module.functions:
            if not function.is_declaration and function.linkage == binding.Linkage.external:
                function.linkage = "linkonce_odr"
        return library._final_module

    def optimise_each(library: Any, module: Any) -> None:
        if is_ours():
            module.data_layout = library._codegen._data_layout
        else:
            optimise_functions(library, module)

    def finalise_whole(library: Any) -> None:
        if is_inner():
            library._raise_if_finalized()
            library._finalize_dynamic_globals()
            library._finalized = library._is_raw = True
            return
        _link_all(library, with_all_below(library._linking_libraries))
        library._linking_libraries = []
        finalise(library)

    def optimise_once(library: Any) -> None:
        if is_ours():
            # Vectors and a third level of optimisation take a third longer, and change the speed of few.
            options = binding.create_pipeline_tuning_options(speed_level=2)
            options.loop_interleaving = options.slp_vectorization = False
            options.loop_vectorization = library.name.startswith(GAIN_BY_VECTORS)
            options.loop_unrolling = not library.name.startswith(LOSE_BY_UNROLLING)
            passes = binding.create_pass_builder(library._codegen._tm, options)
            passes.getModulePassManager().run(library._final_module, passes)
        else:
            optimise_module(library)

    def set_environment(codegen: Any, name: str, environment: Any) -> None:
        if not is_inner():  # where there is no code there is no place for it, and kernels need none
            place(codegen, name, environment)

    setattr(CPUCodeLibrary, "add_ir_module", add_module)  # noqa: B010
    setattr(CPUCodeLibrary, "_get_module_for_linking", module_to_join)  # noqa: B010
    setattr(JITCPUCodegen, "set_env", set_environment)  # noqa: B010
    setattr(CPUCodeLibrary, "_optimize_functions", optimise_each)  # noqa: B010
    setattr(CPUCodeLibrary, "_optimize_final_module", optimise_once)  # noqa: B010
    setattr(CPUCodeLibrary, "finalize", finalise_whole)  # noqa: B010


def _link_all(library: Any, below: list[Any]) -> None:
    """Join the code of all that a library calls to it.

    To join two modules the compiler reads the whole first one. So they are joined two by two, then these, and
    so on. To join hundreds of kernels to the same one, each after the other, takes a third as long as to
    optimise them.
    """
    modules = [each._get_module_for_linking().clone() for each in below]
    for module in modules:
        _set_linkage(module, "linkonce_odr", "weak_odr")  # or what the other one does not call is left out
    while len(modules) > 1:
        for left, right in zip(modules[::2], modules[1::2], strict=False):
            left.link_in(right)
        modules = modules[::2]
    for joined in modules:
        _set_linkage(joined, "weak_odr", "linkonce_odr")
        library._final_module.link_in(joined)
    for each in below:
        library._reload_init.update(each._reload_init)


def _set_linkage(module: Any, former: str, linkage: str) -> None:
    """Give the functions of a module that have one linkage another one."""
    for function in module.functions:
        if not function.is_declaration and function.linkage.name == former:
            function.linkage = linkage


def with_all_below(libraries: list[Any]) -> list[Any]:
    """The code of some kernels, and of all those that they call; each once."""
    found: dict[Any, None] = {}
    ahead = list(reversed(libraries))
    while ahead:
        library = ahead.pop()
        if library not in found:
            found[library] = None
            if getattr(library, "_is_raw", False):
                ahead.extend(reversed(library._linking_libraries))
    return list(found)


def ask_once() -> None:
    """Remember what an operator makes of its operands' types; numba works it out at every place anew.

    Without it compiling takes 26 % longer.
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


def count_no_references() -> None:
    """Do not work out where variables die, which only code that counts references or generates needs to know.

    Without it compiling takes 20 % longer.
    """
    from numba.core import postproc, transforms

    process: Any = postproc.PostProcessor.run
    lifetime: Any = postproc.VariableLifetime
    in_order: Any = transforms.canonicalize_cfg

    def run(processor: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        if not is_inner() or processor.func_ir.is_generator:
            process(processor, emit_dels, extend_lifetimes)
            return
        code = processor.func_ir
        code.blocks = in_order(code.blocks)
        code.variable_lifetime = lifetime(code.blocks)  # works out what it is asked for
        code.generator_info = None

    setattr(postproc.PostProcessor, "run", run)  # noqa: B010


def know_arrays() -> None:
    """Let numba make the class that stands for an array type once, and read arrays where they are.

    numba asks at every use of an array whether it is one, by looking for a conversion that does not exist,
    and looks again after loading all that it knows anew. Then it copies the array's description into memory
    to read single numbers of it, which the optimiser has to undo. Without it compiling takes 12 % longer.
    """
    from numba.core import cgutils
    from numba.np import arrayobj

    make_array: Any = arrayobj.make_array
    structure_of: Any = cgutils.create_struct_proxy
    known: dict[Any, Any] = {}

    def make_known_array(kind: Any) -> Any:
        if type(kind) is not types.Array:
            return make_array(kind)
        if kind not in known:
            as_given = {"_make_refs": structure_of(kind)._make_refs}
            of_array = type("ArrayStruct", (make_array(kind),), as_given)
            known[kind] = _read_in_place(of_array)
        return known[kind]

    setattr(arrayobj, "make_array", make_known_array)  # noqa: B010


def _read_in_place(of_array: Any) -> Any:
    """A class that stands for an array in compiled code: what a kernel is given is read and never written."""

    class Array(of_array):  # type: ignore[misc]
        _given: Any = None

        def __init__(self, context: Any, builder: Any, value: Any = None, ref: Any = None) -> None:
            if value is None or ref is not None or not is_inner():
                super().__init__(context, builder, value, ref)
                return
            self._context, self._builder, self._given = context, builder, value
            self._datamodel = context.data_model_manager[self._fe_type]

        def __getitem__(self, index: int) -> Any:
            if self._given is None:
                return super().__getitem__(index)
            return self._builder.extract_value(self._given, index)

        @property
        def shape(self) -> Any:
            if self._given is None:
                return super().shape
            return self[self._datamodel.get_field_position("shape")]

        def _getvalue(self) -> Any:
            return super()._getvalue() if self._given is None else self._given

    return Array


def for_any_number(compiled: Function) -> Function:
    """Let a kernel be compiled once for all whole numbers: numba would for each constant and enumeration.

    And once for the tables of all policies, where it does not look at those that are a policy's own.
    """
    template_for = cast(Any, compiled).get_call_template

    def get_call_template(args: Any, keywords: Any) -> Any:
        args = tuple(_number(each) for each in args)
        given = any(isinstance(each, (types.Callable, types.FunctionType)) for each in args)
        if not given and not looks_at_own(cast(Any, compiled).py_func):
            args = tuple(without_own(each) for each in args)
        return template_for(args, keywords)

    setattr(compiled, "get_call_template", get_call_template)  # noqa: B010
    return compiled


def _number(kind: Any) -> Any:
    """The type of a constant or of an enumeration's member as of any number."""
    return kind.dtype if isinstance(kind, types.IntEnumMember) else types.unliteral(kind)


@cache
def looks_at_own(function: Any) -> bool:
    """Whether a kernel reads what is a policy's own, or calls one that does, or has functions inside it.

    The others are compiled once for all policies, which is a third of the kernels of most.
    """
    code = function.__code__
    if OWN in code.co_names or code.co_freevars or has_closures(code):
        return True
    known = [name for name in global_names(code) if name in function.__globals__]
    named = [function.__globals__[name] for name in known]
    modules = [each for each in named if isinstance(each, ModuleType)]
    named += [getattr(each, name) for each in modules for name in code.co_names if hasattr(each, name)]
    called = {getattr(each, "py_func", None) for each in named} - {None, function}
    return any(looks_at_own(each) for each in called)


def has_closures(code: CodeType) -> bool:
    """Whether a function has others inside it, such as a comprehension."""
    return any(isinstance(constant, CodeType) for constant in code.co_consts)


def is_plain(state: Any) -> bool:
    """Whether numba is at an inner kernel of this package."""
    return is_inner() and state.func_id.modname.startswith("headway.")


def leave_out_passes() -> None:
    """Run the passes that a kernel needs, and nothing around them: numba times each and tells listeners.

    Without it compiling takes 6 % longer.
    """
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


CHANGES = (
    count_from_the_front, leave_inner_code_raw, ask_once, count_no_references, know_arrays, leave_out_passes,
)  # fmt: skip


def tune() -> None:
    """Make all of these changes. Where numba no longer has what one of them is about, it goes on without:
    compiling then takes longer, and the results are the same."""
    for change in CHANGES:
        with suppress(AttributeError, ImportError):
            change()
