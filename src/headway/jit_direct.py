"""Kernels translated from their source straight into LLVM's language.

numba takes some 80 ms for a kernel of ten lines, most of it to find out types that are plain to see: kernels
work on whole numbers, truth values, numbers with a fraction, and tables of those. Here such a kernel is read
once, statement by statement, and written down for LLVM. Whatever is not plain (a variable of two types, a
slice, an error that is raised) is left to numba, kernel by kernel; kernels of both kinds call each other.
The results are the same.

What numba compiles, and how it is called, is not changed: a translated kernel has numba's calling
convention, and divisions and mathematical functions are numba's own.
"""

from __future__ import annotations

import ast
import inspect
import operator
import sys
from collections.abc import Callable
from enum import IntEnum
from functools import cache
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir as llvm
from numba.core import bytecode, compiler, config, dispatcher, environment, errors, funcdesc, targetconfig
from numba.core import cgutils as numba_code
from numba.core import types as numba_types
from numba.core import typing as numba_typing

from headway.jit_tables import Address, place_of, read_once

types: Any = numba_types  # untyped here: numba has no types for what it is made of
code: Any = numba_code
typing: Any = numba_typing
numba: Any = dispatcher
parts: Any = compiler
identities: Any = bytecode.FunctionIdentity
environments: Any = environment.Environment
Description: Any = funcdesc.PythonFunctionDescriptor

OURS = "headway."
INT, BOOL, FLOAT, NONE, BYTE = types.int64, types.boolean, types.float64, types.none, types.uint8
I64, I1, F64 = llvm.IntType(64), llvm.IntType(1), llvm.DoubleType()
OF_ANNOTATION = {"int": INT, "bool": BOOL, "float": FLOAT, "None": NONE}
INTEGER_STEPS = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.LShift: "shl",
    ast.RShift: "ashr",
}
FLOAT_STEPS = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul"}
BY_NUMBA = {
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
SIGNS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


class NotPlain(Exception):
    """A kernel has something in it that is left to numba."""


class _OtherResult(Exception):
    """A kernel gives another type than its annotation says."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind


class Value(NamedTuple):
    """A number in a kernel: its type, and LLVM's value."""

    kind: Any
    value: Any


class Table:
    """A table in a kernel: where its numbers are, and how many."""

    def __init__(self, kind: Any, data: Callable[[], Any], shape: Callable[[int], Any], whole: Any) -> None:
        self.kind, self.data, self.shape, self.whole = kind, data, shape, whole


Term = Value | Table
Block = Any


def plainly(compiled: Any) -> Any:
    """Let a kernel be translated where it is plain; ``compiled`` is what numba makes of it."""
    made = compiled._compiler
    by_numba = made._compile_core

    def compile_core(args: Any, return_type: Any) -> Any:
        try:
            return _translated(made, compiled, tuple(args))
        except (NotPlain, errors.NumbaError):  # numba says best what is wrong with a kernel
            return by_numba(args, return_type)

    made._compile_core = compile_core
    return compiled


def _translated(made: Any, compiled: Any, args: tuple[Any, ...]) -> Any:
    """What numba knows of a compiled function, for one that is translated."""
    function = made.py_func
    source = _source_of(function)
    settings: Any = config
    if source is None or settings.BOUNDSCHECK:
        raise NotPlain(function)
    flags = parts.Flags()
    made.targetdescr.options.parse_as_flags(flags, made.targetoptions)
    stack: Any = targetconfig.ConfigStack
    with stack().enter(flags.copy()):
        result = _annotated(source)
        try:
            return _Kernel(made.targetdescr, compiled, function, source, args, result, flags).compiled()
        except _OtherResult as other:
            result = other.kind
        try:
            return _Kernel(made.targetdescr, compiled, function, source, args, result, flags).compiled()
        except _OtherResult as other:
            raise NotPlain(function) from other


def _annotated(source: ast.FunctionDef) -> Any:
    """The type that a kernel says it gives; the first guess."""
    said = "None" if source.returns is None else ast.unparse(source.returns)
    if said.startswith("tuple[") and said.endswith("]"):
        inside = [each.strip() for each in said[6:-1].split(",")]
        if all(each in OF_ANNOTATION for each in inside):
            return types.BaseTuple.from_types([OF_ANNOTATION[each] for each in inside])
    return OF_ANNOTATION.get(said, INT)


@cache
def _functions_of(module: str) -> dict[tuple[str, int], ast.FunctionDef]:
    """The functions of a module, by name and first line."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError, SyntaxError, KeyError):
        return {}
    found = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return {(node.name, _first_line(node)): node for node in found}


def _first_line(node: ast.FunctionDef) -> int:
    """Where a function begins for Python: at its first decorator."""
    return min([node.lineno, *(each.lineno for each in node.decorator_list)])


def _source_of(function: FunctionType) -> ast.FunctionDef | None:
    """The source of one of our functions, None where it is not there or not plain."""
    written = function.__code__
    if not function.__module__.startswith(OURS) or written.co_freevars or written.co_flags & 0x2C:
        return None
    return _functions_of(function.__module__).get((function.__name__, written.co_firstlineno))


class _Kernel:
    """One kernel that is being translated."""

    def __init__(
        self,
        target: Any,
        compiled: Any,
        function: FunctionType,
        source: ast.FunctionDef,
        args: tuple[Any, ...],
        result: Any,
        flags: Any,
    ) -> None:
        self.typing, self.compiled_by = target.typing_context, compiled
        self.context: Any = parts._make_subtarget(target.target_context, flags)
        self.function, self.source, self.args, self.result = function, source, args, result
        self.names = function.__globals__
        arguments = source.args
        plain = not (arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs)
        if not plain or len(arguments.args) != len(args):
            raise NotPlain(function)
        known = identities.from_function(function)
        self.described = Description(
            True,
            function.__module__,
            known.func_qualname,
            known.unique_name,
            "",
            {},
            result,
            {},
            [each.arg for each in arguments.args],
            (),
            mangler=self.context.mangler,
            argtypes=args,
            inline=flags.forceinline,
            noalias=flags.noalias,
            abi_tags=[flags.get_mangle_string()],
            uid=known.unique_id,
        )
        stored = [each.id for each in ast.walk(source) if isinstance(each, ast.Name) and _is_stored(each)]
        self.times_stored = {name: stored.count(name) for name in stored}
        self.places: dict[str, tuple[Any, Any]] = {}
        self.same_as: dict[str, Callable[[], Term]] = {}
        self.slots: dict[Any, Any] = {}
        self.loops: list[tuple[Block, Block]] = []
        self.may_raise = False

    # ---- the whole ----------------------------------------------------------------------------------------

    def compiled(self) -> Any:
        """Translate it, and tell numba."""
        context: Any = self.context
        library = context.codegen().create_library(self.described.qualname)
        library.enable_object_caching()
        with context.push_code_library(library):
            module = context.create_module(self.described.unique_name)
            self.library, self.module = library, module
            self.llvm = context.declare_function(module, self.described)
            self.entry = self.llvm.append_basic_block("entry")
            self.body = self.llvm.append_basic_block("body")
            self.builder = llvm.IRBuilder(self.body)
            first = llvm.IRBuilder(self.entry)
            context.call_conv.init_call_helper(first)
            self.first = first
            given = context.call_conv.decode_arguments(self.builder, self.args, self.llvm)
            for name, kind, value in zip(self.described.args, self.args, given, strict=True):
                self._take(name, kind, value)
            self._statements(self.source.body)
            if not self._is_over():
                if self.result != NONE:
                    raise _OtherResult(NONE) if not _gives_something(self.source) else NotPlain("falls off")
                self._give(Value(NONE, context.get_dummy_value()))
            first.position_at_end(self.entry)
            first.branch(self.body)
            library.add_ir_module(module)
        surroundings = environments.from_fndesc(self.described)
        cfunc = context.get_executable(library, self.described, surroundings)
        context.insert_user_function(cfunc, self.described, [library])
        library.never_raises = not self.may_raise
        return parts.compile_result(
            typing_context=self.typing,
            target_context=context,
            entry_point=cfunc,
            typing_error=None,
            type_annotation=None,
            library=library,
            call_helper=None,
            signature=typing.signature(self.result, *self.args),
            objectmode=False,
            lifted=(),
            fndesc=self.described,
            environment=surroundings,
            metadata={},
            reload_init=[],
        )

    def _take(self, name: str, kind: Any, value: Any) -> None:
        """Know an argument by its name."""
        if isinstance(kind, Address):
            term: Term = Value(kind, value)
        elif _is_table(kind):
            term = self._table_given(kind, value)
        elif kind in (INT, BOOL, FLOAT) or (isinstance(kind, types.IntEnumMember) and kind.dtype == INT):
            kind = kind if kind in (INT, BOOL, FLOAT) else INT
            if name in self.times_stored:
                place = self.places[name] = kind, self.first.alloca(value.type)
                self.builder.store(value, place[1])
                return
            term = Value(kind, value)
        else:
            raise NotPlain(kind)
        if name in self.times_stored:
            raise NotPlain(name)
        self.same_as[name] = lambda: term

    # ---- statements ---------------------------------------------------------------------------------------

    def _is_over(self) -> bool:
        """Whether nothing can follow in this block."""
        return bool(self.builder.block.is_terminated)

    def _statements(self, body: list[ast.stmt]) -> None:
        for each in body:
            if self._is_over():
                return
            getattr(self, f"_do_{type(each).__name__}", self._not_plain)(each)

    def _not_plain(self, node: ast.AST) -> Any:
        raise NotPlain(ast.dump(node)[:80])

    def _do_Pass(self, node: ast.Pass) -> None:
        pass

    def _do_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return
        if not isinstance(node.value, ast.Call):
            raise NotPlain("an expression by itself")
        self._call(node.value)

    def _do_Return(self, node: ast.Return) -> None:
        if node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None):
            self._give(Value(NONE, self.context.get_dummy_value()))
        elif isinstance(node.value, ast.IfExp) and isinstance(node.value.body, ast.Tuple):
            choice = node.value
            self._do_If(ast.If(choice.test, [ast.Return(choice.body)], [ast.Return(choice.orelse)]))
        elif isinstance(node.value, ast.Tuple):
            inside = [self._number(each) for each in node.value.elts]
            kind = types.BaseTuple.from_types([each.kind for each in inside])
            whole = self.context.make_tuple(self.builder, kind, [each.value for each in inside])
            self._give(Value(kind, whole))
        else:
            given = self._any(node.value)
            if not isinstance(given, Value) or isinstance(given.kind, Address):
                raise NotPlain("a table is given")
            self._give(given)

    def _give(self, given: Value) -> None:
        if given.kind != self.result:
            raise _OtherResult(given.kind)
        value = self.context.get_return_value(self.builder, given.kind, given.value)
        self.context.call_conv.return_value(self.builder, value)

    def _do_Assign(self, node: ast.Assign) -> None:
        if len(node.targets) == 1 and self._is_other_name(node.targets[0], node.value):
            return
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Tuple):
            self._unpack(node.targets[0], node.value)
            return
        given = self._number(node.value)
        for target in node.targets:
            self._put(target, given)

    def _unpack(self, targets: ast.Tuple, value: ast.expr) -> None:
        """``a, b = ...``: all of the right is worked out first."""
        if isinstance(value, ast.Tuple):
            pairs = list(zip(targets.elts, value.elts, strict=True))
            pairs = [pair for pair in pairs if not self._is_other_name(*pair)]
            given = [self._number(each) for _, each in pairs]
            for (target, _), each in zip(pairs, given, strict=True):
                self._put(target, each)
            return
        whole = self._any(value)
        if not isinstance(whole, Value) or not isinstance(whole.kind, types.BaseTuple):
            raise NotPlain("unpacked")
        if len(whole.kind.types) != len(targets.elts):
            raise NotPlain("unpacked")
        inside = [self.builder.extract_value(whole.value, i) for i in range(len(targets.elts))]
        for target, kind, each in zip(targets.elts, whole.kind.types, inside, strict=True):
            self._put(target, Value(kind, each))

    def _is_other_name(self, target: ast.expr, value: ast.expr) -> bool:
        """``jobs = state.jobs``: another name for a table, which is the same wherever it is looked at."""
        if not isinstance(target, ast.Name) or not self._is_fixed_table(value):
            return False
        if self.times_stored[target.id] != 1:
            raise NotPlain(target.id)
        self.same_as[target.id] = lambda: self._any(value)
        return True

    def _is_fixed_table(self, node: ast.expr) -> bool:
        """Whether an expression is a table or a tuple of tables."""
        if isinstance(node, ast.Name):
            if node.id not in self.same_as:
                return False
            term = self.same_as[node.id]()
            return isinstance(term, Table) or isinstance(term.kind, Address)
        return isinstance(node, ast.Attribute) and self._is_fixed_table(node.value) and node.attr != "shape"

    def _put(self, target: ast.expr, given: Value) -> None:
        """Store a number in a variable or in a table."""
        if isinstance(target, ast.Name):
            if given.kind not in (INT, BOOL, FLOAT) or target.id in self.same_as:
                raise NotPlain(target.id)
            kind, place = self.places.get(target.id) or self._new_place(target.id, given.kind)
            if kind != given.kind:
                raise NotPlain(f"{target.id} is {kind} and {given.kind}")
            self.builder.store(given.value, place)
        elif isinstance(target, ast.Subscript):
            table, place = self._element(target)
            self.builder.store(self._stored_as(given, table.kind.dtype), place)
        else:
            raise NotPlain("a target")

    def _stored_as(self, given: Value, kind: Any) -> Any:
        if kind != FLOAT and given.kind == FLOAT:
            raise NotPlain("a fraction in a table of whole numbers")
        if kind == BYTE:
            return self.builder.trunc(self._as_int(given), llvm.IntType(8))
        return self._as_float(given) if kind == FLOAT else self._as_int(given)

    def _new_place(self, name: str, kind: Any) -> tuple[Any, Any]:
        place = self.first.alloca(_llvm_of(kind))
        self.first.store(llvm.Constant(_llvm_of(kind), 0), place)
        self.places[name] = kind, place
        return kind, place

    def _do_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            before = self._number(ast.copy_location(ast.Name(node.target.id, ast.Load()), node))
            self._put(node.target, self._combined(node.op, before, self._number(node.value)))
        elif isinstance(node.target, ast.Subscript):
            table, place = self._element(node.target)
            after = self._combined(node.op, self._read(table, place), self._number(node.value))
            self.builder.store(self._stored_as(after, table.kind.dtype), place)
        else:
            raise NotPlain("a target")

    def _block(self, name: str) -> Block:
        return self.llvm.append_basic_block(name)

    def _do_If(self, node: ast.If) -> None:
        then, after = self._block("then"), self._block("after")
        otherwise = self._block("else") if node.orelse else after
        self._branch(node.test, then, otherwise)
        for block, body in ((then, node.body), (otherwise, node.orelse)):
            if body:
                self.builder.position_at_end(block)
                self._statements(body)
                if not self._is_over():
                    self.builder.branch(after)
        self._go_on_at(after)

    def _go_on_at(self, block: Block) -> None:
        """Continue in a block, or know that nothing comes there."""
        self.builder.position_at_end(block)
        if not _is_reached(self.llvm, block):
            self.builder.unreachable()

    def _do_While(self, node: ast.While) -> None:
        if node.orelse:
            raise NotPlain("else of a loop")
        test, body, after = self._block("test"), self._block("body"), self._block("after")
        self.builder.branch(test)
        self.builder.position_at_end(test)
        if isinstance(node.test, ast.Constant) and node.test.value is True:
            self.builder.branch(body)
        else:
            self._branch(node.test, body, after)
        self._loop_body(node.body, body, test, after)
        self._go_on_at(after)

    def _loop_body(self, statements: list[ast.stmt], body: Block, again: Block, after: Block) -> None:
        self.builder.position_at_end(body)
        self.loops.append((again, after))
        self._statements(statements)
        self.loops.pop()
        if not self._is_over():
            self.builder.branch(again)

    def _do_For(self, node: ast.For) -> None:
        call = node.iter
        if node.orelse or not isinstance(node.target, ast.Name) or not isinstance(call, ast.Call):
            raise NotPlain("a loop")
        if not self._is_builtin(call.func, range) or call.keywords:
            raise NotPlain("a loop")
        bounds = [self._number(each) for each in call.args]
        if any(each.kind not in (INT, BOOL) for each in bounds):
            raise NotPlain("a range of fractions")
        numbers = [self._as_int(each) for each in bounds]
        start, stop = (I64(0), numbers[0]) if len(numbers) == 1 else numbers[:2]
        step = numbers[2] if len(numbers) == 3 else I64(1)
        if not isinstance(step, llvm.Constant) or not isinstance(step.constant, int) or step.constant == 0:
            raise NotPlain("a step")
        counter = self.first.alloca(I64)
        self.builder.store(start, counter)
        test, body, more, after = (self._block(name) for name in ("test", "body", "more", "after"))
        self.builder.branch(test)
        self.builder.position_at_end(test)
        sign = "<" if step.constant > 0 else ">"
        self.builder.cbranch(self.builder.icmp_signed(sign, self.builder.load(counter), stop), body, after)
        self.builder.position_at_end(body)
        self._put(node.target, Value(INT, self.builder.load(counter)))
        self._loop_body(node.body, self.builder.block, more, after)
        self.builder.position_at_end(more)
        self.builder.store(self.builder.add(self.builder.load(counter), step), counter)
        self.builder.branch(test)
        self.builder.position_at_end(after)

    def _do_Break(self, node: ast.Break) -> None:
        self.builder.branch(self.loops[-1][1])

    def _do_Continue(self, node: ast.Continue) -> None:
        self.builder.branch(self.loops[-1][0])

    # ---- conditions ---------------------------------------------------------------------------------------

    def _branch(self, node: ast.expr, yes: Block, no: Block) -> None:
        """Go to one block or the other; what need not be looked at is not."""
        if isinstance(node, ast.BoolOp):
            *parts, last = node.values
            for part in parts:
                further = self._block("further")
                if isinstance(node.op, ast.And):
                    self._branch(part, further, no)
                else:
                    self._branch(part, yes, further)
                self.builder.position_at_end(further)
            self._branch(last, yes, no)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self._branch(node.operand, no, yes)
        elif isinstance(node, ast.Compare) and len(node.ops) > 1:
            self._branch_on_chain(node, yes, no)
        else:
            self.builder.cbranch(self._truth(self._number(node)), yes, no)

    def _branch_on_chain(self, node: ast.Compare, yes: Block, no: Block) -> None:
        left = self._number(node.left)
        for place, (sign, each) in enumerate(zip(node.ops, node.comparators, strict=True)):
            right = self._number(each)
            further = yes if place == len(node.ops) - 1 else self._block("further")
            self.builder.cbranch(self._compared(sign, left, right), further, no)
            self.builder.position_at_end(further)
            left = right

    def _truth(self, given: Value) -> Any:
        if given.kind == BOOL:
            return given.value
        if given.kind == INT:
            return self.builder.icmp_signed("!=", given.value, I64(0))
        if given.kind == FLOAT:
            return self.builder.fcmp_unordered("!=", given.value, F64(0.0))
        raise NotPlain("a condition")

    def _as_truth(self, node: ast.expr) -> Value:
        """A condition of several parts as a value."""
        yes, no, after = self._block("yes"), self._block("no"), self._block("after")
        self._branch(node, yes, no)
        for block in (yes, no):
            self.builder.position_at_end(block)
            self.builder.branch(after)
        self.builder.position_at_end(after)
        joined = self.builder.phi(I1)
        joined.add_incoming(I1(1), yes)
        joined.add_incoming(I1(0), no)
        return Value(BOOL, joined)

    # ---- expressions --------------------------------------------------------------------------------------

    def _number(self, node: ast.expr) -> Value:
        given = self._any(node)
        if not isinstance(given, Value) or given.kind not in (INT, BOOL, FLOAT):
            raise NotPlain("no number")
        return given

    def _any(self, node: ast.expr) -> Term:
        made: Term = getattr(self, f"_of_{type(node).__name__}", self._not_plain)(node)
        return made

    def _constant(self, value: Any) -> Value:
        if type(value) is bool:
            return Value(BOOL, I1(int(value)))
        if type(value) in (int, np.int64) or isinstance(value, IntEnum):
            if not -(1 << 63) <= value < 1 << 63:
                raise NotPlain("a large number")
            return Value(INT, I64(int(value)))
        if type(value) is float:
            return Value(FLOAT, F64(value))
        raise NotPlain(f"the value {value!r}")

    def _of_Constant(self, node: ast.Constant) -> Term:
        return self._constant(node.value)

    def _of_Name(self, node: ast.Name) -> Term:
        if node.id in self.places:
            kind, place = self.places[node.id]
            return Value(kind, self.builder.load(place))
        if node.id in self.same_as:
            return self.same_as[node.id]()
        if node.id in self.times_stored or node.id not in self.names:
            raise NotPlain(node.id)
        return self._constant(self.names[node.id])

    def _of_Attribute(self, node: ast.Attribute) -> Term:
        known = self._python_object(node)
        if known is not None:
            return self._constant(known)
        base = self._any(node.value)
        if not isinstance(base, Value) or not isinstance(base.kind, Address):
            raise NotPlain(node.attr)
        if node.attr not in base.kind.named.fields:
            raise NotPlain(node.attr)
        offset = I64(place_of(self.context, base.kind, node.attr))
        place = self.builder.gep(base.value, [offset], inbounds=True)
        kind = base.kind.of(node.attr)
        if isinstance(kind, Address):
            return Value(kind, place)
        if not _is_table(kind):
            raise NotPlain(kind)
        return self._table_at(kind, place)

    def _python_object(self, node: ast.expr) -> Any:
        """What a name of the module, or an attribute of a module or class, stands for; None if neither."""
        if isinstance(node, ast.Name):
            own = node.id in self.times_stored or node.id in self.same_as or node.id in self.places
            return None if own else self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self._python_object(node.value)
            if isinstance(base, ModuleType | type):
                return getattr(base, node.attr, None)
        return None

    def _table_at(self, kind: Any, place: Any) -> Table:
        """The table whose description stands at a place in memory, which never changes."""
        laid = self.context.get_value_type(kind)
        place = self.builder.bitcast(place, laid.as_pointer())
        position = self.context.data_model_manager[kind].get_field_position

        def data() -> Any:
            return read_once(self.builder, code.gep_inbounds(self.builder, place, 0, position("data")))

        def shape(axis: int) -> Any:
            at = code.gep_inbounds(self.builder, place, 0, position("shape"), axis)
            return read_once(self.builder, at)

        return Table(kind, data, shape, None)

    def _table_given(self, kind: Any, value: Any) -> Table:
        """A table that is an argument."""
        position = self.context.data_model_manager[kind].get_field_position

        def data() -> Any:
            return self.builder.extract_value(value, position("data"))

        def shape(axis: int) -> Any:
            return self.builder.extract_value(value, [position("shape"), axis])

        return Table(kind, data, shape, value)

    def _element(self, node: ast.Subscript) -> tuple[Table, Any]:
        """A table, and where one number of it stands."""
        table = self._any(node.value)
        if not isinstance(table, Table):
            raise NotPlain("an index")
        places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(places) != table.kind.ndim:
            raise NotPlain("a row of a table")
        numbers = [self._number(each) for each in places]
        if any(each.kind != INT for each in numbers):
            raise NotPlain("an index")
        at = numbers[0].value
        if len(numbers) == 2:
            at = self.builder.add(self.builder.mul(at, table.shape(1)), numbers[1].value)
        return table, self.builder.gep(table.data(), [at], inbounds=True)

    def _of_Subscript(self, node: ast.Subscript) -> Term:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            table = self._any(node.value.value)
            axis = node.slice
            if not isinstance(table, Table) or not isinstance(axis, ast.Constant):
                raise NotPlain("a shape")
            if type(axis.value) is not int or not 0 <= axis.value < table.kind.ndim:
                raise NotPlain("a shape")
            return Value(INT, table.shape(axis.value))
        return self._read(*self._element(node))

    def _read(self, table: Table, place: Any) -> Value:
        """A number of a table; small ones are whole numbers like others."""
        found = self.builder.load(place)
        if table.kind.dtype == BYTE:
            return Value(INT, self.builder.zext(found, I64))
        return Value(table.kind.dtype, found)

    def _as_int(self, given: Value) -> Any:
        if given.kind == INT:
            return given.value
        if given.kind == BOOL:
            return self.builder.zext(given.value, I64)
        raise NotPlain("a fraction")

    def _as_float(self, given: Value) -> Any:
        if given.kind == FLOAT:
            return given.value
        return self.builder.sitofp(self._as_int(given), F64)

    def _of_BinOp(self, node: ast.BinOp) -> Term:
        return self._combined(node.op, self._number(node.left), self._number(node.right))

    def _combined(self, step: ast.operator, a: Value, b: Value) -> Value:
        kind = type(step)
        if kind in BY_NUMBA:
            return self._by_numba(BY_NUMBA[kind], [a, b])
        if a.kind == FLOAT or b.kind == FLOAT:
            if kind not in FLOAT_STEPS:
                raise NotPlain("bits of a fraction")
            made = getattr(self.builder, FLOAT_STEPS[kind])(self._as_float(a), self._as_float(b))
            return Value(FLOAT, made)
        if kind not in INTEGER_STEPS:
            raise NotPlain("a step")
        if a.kind == BOOL and b.kind == BOOL and kind not in FLOAT_STEPS:
            if kind in (ast.LShift, ast.RShift):
                raise NotPlain("truth values shifted")
            return Value(BOOL, getattr(self.builder, INTEGER_STEPS[kind])(a.value, b.value))
        if kind in (ast.LShift, ast.RShift) and not isinstance(b.value, llvm.Constant):
            return self._by_numba(operator.lshift if kind is ast.LShift else operator.rshift, [a, b])
        return Value(INT, getattr(self.builder, INTEGER_STEPS[kind])(self._as_int(a), self._as_int(b)))

    def _of_UnaryOp(self, node: ast.UnaryOp) -> Term:
        if isinstance(node.op, ast.Not):
            return Value(BOOL, self.builder.not_(self._truth(self._truth_value(node.operand))))
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return self._constant(-node.operand.value)  # type: ignore[operator]
        given = self._number(node.operand)
        if given.kind != INT:
            raise NotPlain("a sign")
        if isinstance(node.op, ast.USub):
            return Value(INT, self.builder.sub(I64(0), given.value))
        if isinstance(node.op, ast.Invert):
            return Value(INT, self.builder.xor(given.value, I64(-1)))
        raise NotPlain("a sign")

    def _truth_value(self, node: ast.expr) -> Value:
        return self._as_truth(node) if isinstance(node, ast.BoolOp) else self._number(node)

    def _of_Compare(self, node: ast.Compare) -> Term:
        if len(node.ops) > 1:
            return self._as_truth(node)
        left, right = self._number(node.left), node.comparators[0]
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            return self._among(left, right, isinstance(node.ops[0], ast.In))
        return Value(BOOL, self._compared(node.ops[0], left, self._number(right)))

    def _among(self, given: Value, others: ast.expr, wanted: bool) -> Value:
        """``a in (B, C)`` of whole numbers that are constants."""
        found = I1(0)
        if not isinstance(others, ast.Tuple) or given.kind != INT:
            raise NotPlain("in")
        for each in others.elts:
            other = self._number(each)
            if other.kind != INT or not isinstance(other.value, llvm.Constant):
                raise NotPlain("in")
            found = self.builder.or_(found, self._compared(ast.Eq(), given, other))
        return Value(BOOL, found if wanted else self.builder.not_(found))

    def _compared(self, sign: ast.cmpop, a: Value, b: Value) -> Any:
        if type(sign) not in SIGNS:
            raise NotPlain("a comparison")
        how = SIGNS[type(sign)]
        if a.kind == FLOAT or b.kind == FLOAT:
            compare = self.builder.fcmp_unordered if how == "!=" else self.builder.fcmp_ordered
            return compare(how, self._as_float(a), self._as_float(b))
        return self.builder.icmp_signed(how, self._as_int(a), self._as_int(b))

    def _of_BoolOp(self, node: ast.BoolOp) -> Term:
        """``a and b`` of truth values; of numbers it gives one of the numbers, which is left to numba."""
        after, ends = self._block("after"), []
        for place, each in enumerate(node.values):
            given = self._number(each)
            if given.kind != BOOL:
                raise NotPlain("and, or of numbers")
            ends.append((given.value, self.builder.block))
            if place == len(node.values) - 1:
                self.builder.branch(after)
                break
            further = self._block("further")
            blocks = (further, after) if isinstance(node.op, ast.And) else (after, further)
            self.builder.cbranch(given.value, *blocks)
            self.builder.position_at_end(further)
        self.builder.position_at_end(after)
        joined = self.builder.phi(I1)
        for value, block in ends:
            joined.add_incoming(value, block)
        return Value(BOOL, joined)

    def _of_IfExp(self, node: ast.IfExp) -> Term:
        yes, no, after = self._block("yes"), self._block("no"), self._block("after")
        self._branch(node.test, yes, no)
        ends = []
        for block, part in ((yes, node.body), (no, node.orelse)):
            self.builder.position_at_end(block)
            ends.append((self._number(part), self.builder.block))
            self.builder.branch(after)
        (a, _), (b, _) = ends
        if a.kind != b.kind:
            raise NotPlain("one of two types")
        self.builder.position_at_end(after)
        joined = self.builder.phi(a.value.type)
        for each, block in ends:
            joined.add_incoming(each.value, block)
        return Value(a.kind, joined)

    # ---- calls --------------------------------------------------------------------------------------------

    def _is_builtin(self, node: ast.expr, wanted: Any) -> bool:
        if not isinstance(node, ast.Name) or self._is_own(node.id):
            return False
        return self.names.get(node.id, getattr(_builtins(self.names), node.id, None)) is wanted

    def _is_own(self, name: str) -> bool:
        return name in self.times_stored or name in self.same_as or name in self.places

    def _of_Call(self, node: ast.Call) -> Term:
        made = self._call(node)
        if made is None:
            raise NotPlain("nothing is given")
        return made

    def _call(self, node: ast.Call) -> Term | None:
        if node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
            raise NotPlain("arguments by name")
        one: dict[Any, Any] = {int: self._int, bool: self._bool, float: self._float, len: self._len}
        for builtin, by in one.items():
            if self._is_builtin(node.func, builtin):
                if len(node.args) != 1:
                    raise NotPlain("arguments")
                made: Value = by(node.args[0])
                return made
        extremes: dict[Any, str] = {min: "<", max: ">"}
        for builtin, sign in extremes.items():
            if self._is_builtin(node.func, builtin):
                return self._extreme(sign, [self._number(each) for each in node.args])
        called = self._python_object(node.func)
        if isinstance(called, numba.Dispatcher):
            return self._call_kernel(called, [self._any(each) for each in node.args])
        if called is None or isinstance(called, type | FunctionType):
            raise NotPlain("a call")
        return self._by_numba(called, [self._number(each) for each in node.args])

    def _int(self, node: ast.expr) -> Value:
        given = self._truth_value(node)
        if given.kind == FLOAT:
            return Value(INT, self.builder.fptosi(given.value, I64))
        return Value(INT, self._as_int(given))

    def _bool(self, node: ast.expr) -> Value:
        return Value(BOOL, self._truth(self._truth_value(node)))

    def _float(self, node: ast.expr) -> Value:
        return Value(FLOAT, self._as_float(self._number(node)))

    def _len(self, node: ast.expr) -> Value:
        table = self._any(node)
        if not isinstance(table, Table):
            raise NotPlain("a length")
        return Value(INT, table.shape(0))

    def _extreme(self, sign: str, given: list[Value]) -> Value:
        """The least or largest of whole numbers."""
        if len(given) < 2 or any(each.kind != INT for each in given):
            raise NotPlain("an extreme")
        best = given[0].value
        for each in given[1:]:
            better = self.builder.icmp_signed(sign, each.value, best)
            best = self.builder.select(better, each.value, best)
        return Value(INT, best)

    def _call_kernel(self, called: Any, given: list[Term]) -> Term | None:
        """Call another kernel, compiled for these types."""
        if called is self.compiled_by or called.targetoptions.get("inline", "never") != "never":
            raise NotPlain("a call")
        kinds = tuple(each.kind for each in given)
        if called.is_compiling:
            raise NotPlain("a call in a circle")
        called.get_call_template(kinds, {})
        made = called.overloads.get(kinds)
        if made is None:
            raise NotPlain("a call")
        result = made.signature.return_type
        if result not in (INT, BOOL, FLOAT, NONE) and not _is_plain_tuple(result):
            raise NotPlain("what is given")
        context: Any = self.context
        described, builder = made.fndesc, self.builder
        function = context.declare_function(self.module, described)
        self.library.add_linking_library(made.library)
        slot = self._slot(function.function_type.args[0].pointee)
        values = [self._whole(each) for each in given]
        packed = context.get_arg_packer(described.argtypes).as_arguments(builder, values)
        status = builder.call(function, [slot, self.llvm.args[1], *packed])
        if not getattr(made.library, "never_raises", False):
            self.may_raise = True
            bad, good = self._block("error"), self._block("on")
            none = builder.icmp_signed("==", status, status.type(-2))
            fine = builder.or_(builder.icmp_signed("==", status, status.type(0)), none)
            builder.cbranch(fine, good, bad)
            builder.position_at_end(bad)
            builder.ret(status)
            builder.position_at_end(good)
        if result == NONE:
            return None
        return Value(result, context.get_returned_value(builder, result, builder.load(slot)))

    def _slot(self, kind: Any) -> Any:
        """Where kernels put what they give."""
        if kind not in self.slots:
            self.slots[kind] = self.first.alloca(kind)
            self.first.store(code.get_null_value(kind), self.slots[kind])
        return self.slots[kind]

    def _whole(self, term: Term) -> Any:
        """A term as an argument."""
        if isinstance(term, Value):
            return term.value
        if term.whole is not None:
            return term.whole
        kind = term.kind
        context: Any = self.context
        position = context.data_model_manager[kind].get_field_position
        builder = self.builder
        shape = [term.shape(axis) for axis in range(kind.ndim)]
        size = I64(1 if kind.dtype == BYTE else 8)
        strides, items = [size], shape[-1]
        for length, count in zip(reversed(shape[1:]), reversed(shape[:-1]), strict=True):
            strides.insert(0, builder.mul(strides[0], length))
            items = builder.mul(items, count)
        described = {
            "data": term.data(),
            "itemsize": size,
            "nitems": items,
            "shape": code.pack_array(builder, shape),
            "strides": code.pack_array(builder, strides),
        }
        value = code.get_null_value(context.get_value_type(kind))
        for name, number in described.items():
            value = builder.insert_value(value, number, position(name))
        return value

    def _by_numba(self, function: Any, given: list[Value]) -> Value:
        """What numba has for a division, a function of mathematics, or an instruction."""
        kinds = tuple(each.kind for each in given)
        context: Any = self.context
        known = self.typing.resolve_value_type(function)
        signature = known.get_call_type(self.typing, kinds, {})
        if signature is None or signature.return_type not in (INT, BOOL, FLOAT):
            raise NotPlain(function)
        wanted = signature.args
        if len(wanted) != len(kinds) or any(each not in (INT, BOOL, FLOAT) for each in wanted):
            raise NotPlain(function)
        if any(kind == FLOAT != other for kind, other in zip(kinds, wanted, strict=True)):
            raise NotPlain(function)
        context.refresh()
        written = context.get_function(known, signature)
        values = [
            context.cast(self.builder, each.value, each.kind, kind)
            for each, kind in zip(given, wanted, strict=True)
        ]
        self.may_raise = True
        return Value(signature.return_type, written(self.builder, values))


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _is_table(kind: Any) -> bool:
    """Whether a type is a table of numbers, row after row."""
    if type(kind) is not types.Array or kind.layout != "C" or kind.ndim not in (1, 2):
        return False
    return kind.dtype in (INT, FLOAT, BYTE)


def _is_plain_tuple(kind: Any) -> bool:
    return isinstance(kind, types.BaseTuple) and all(each in (INT, BOOL, FLOAT) for each in kind.types)


def _llvm_of(kind: Any) -> Any:
    return {INT: I64, BOOL: I1, FLOAT: F64}[kind]


def _is_reached(function: Any, wanted: Block) -> bool:
    """Whether any block goes to another."""
    return any(wanted in _following(block) for block in function.blocks if block.is_terminated)


def _following(block: Block) -> list[Block]:
    return [each for each in block.terminator.operands if isinstance(each, llvm.Block)]


def _gives_something(source: ast.FunctionDef) -> bool:
    """Whether a kernel returns anything but None."""
    returns = (each for each in ast.walk(source) if isinstance(each, ast.Return))
    return any(each.value is not None for each in returns)


def _builtins(names: dict[str, Any]) -> Any:
    import builtins

    return builtins
