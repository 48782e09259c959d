"""Kernels rewritten from their sources for one policy, tables that are lists, and Python's interpreter.

What costs most when Python interprets a kernel is to read single numbers of tables, to compute which row they
are in, and to call the next kernel. All of a policy is known before it runs: which kernels call which, with
which tables and constants, and the policy's options. So :class:`Program` follows the calls from the loop of
the clock on, and writes each kernel anew for the tables and constants that it is called with::

    state.jobs[Job.PHASE, job]                       state_jobs_7[job]
    profile.blocks[BLOCK_ROWS * k + USED, b]         state_profile_blocks_1[b]      where k is 0
    state.jobs.shape[1]                              state_jobs_width
    option(state, k, Rule.DEPTH)                     1
    if k > 0: ...                                    (nothing)
    max(a, b)                                        b if b > a else a
    low = base_of(profile, k, b)                     the two lines of `base_of`, in place of the call

Rows of tables are global names of the program, bound anew for each run (:mod:`headway.engine.plain_python`).
A kernel is joined into its caller where it is short and returns at its end, and where it makes no difference
that it runs before the rest of the statement that calls it.
"""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable, Iterable, Mapping
from enum import EnumType, IntEnum
from functools import cached_property
from itertools import count
from types import CodeType
from typing import Any

from headway.engine.syntax import (
    Body,
    Joined,
    Kernel,
    Names,
    NotPlain,
    at_its_end,
    constant,
    copied,
    is_cheap,
    is_of_names,
    is_ours,
    is_pure,
    is_simple,
    is_small,
    known_of,
    named,
    negated,
    numbers_of,
    parts,
    source_of,
    stored,
)

FEW = 4
"""A loop that counts up to so many known numbers is written out."""

OPERATIONS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.USub: operator.neg,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.Not: operator.not_, ast.Eq: operator.eq,
    ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip
"""What is computed of constants."""


class Program:
    """The loop of the clock with one policy, for lists. Kernels are written when they are first called.

    ``shapes`` are name (``state.jobs``), dimensions and kind of number of each table; ``options`` are the
    policy's, which no kernel changes.
    """

    def __init__(
        self,
        loop: Kernel,
        hook: Kernel,
        shapes: Iterable[tuple[str, int, str]],
        options: tuple[int, ...],
        with_lists: Mapping[Kernel, Kernel],
    ) -> None:
        self.options, self.with_lists = options, with_lists
        self.tables = {name: dimensions for name, dimensions, _ in shapes}
        self.fractions = {name.rpartition(".")[2] for name, _, kind in shapes if kind != "i"}
        self.rows: dict[str, tuple[str, int | None]] = {}
        """Names of rows, and of whole tables (None)."""
        self.sizes: dict[str, tuple[str, int]] = {}
        """Names of how many rows a table has (0), or numbers in each (1)."""
        self.changed: set[str] = set()
        """Which of the rows and tables some kernel writes to."""
        self.others: dict[str, Any] = {}
        """What else kernels find by name."""
        self.called: dict[str, Function] = {}
        """Kernels that are called."""
        self.number = count(1)
        self._functions: dict[Any, Function] = {}
        known: Names = {"hook": constant(hook), "state": named("state."), "world": named("world.")}
        self.loop = self.function(loop, known)
        self.called[self.loop.name] = self.loop

    def function(self, kernel: Kernel, known: Names) -> Function:
        """A kernel for what is known of its arguments."""
        key = kernel, *((name, known_of(value)) for name, value in sorted(known.items()))
        if key not in self._functions:
            self._functions[key] = Function(self, kernel, known)
        return self._functions[key]

    def row(self, table: str, row: int | None) -> ast.Name:
        """The name of a row of a table, or of a whole table."""
        name = row_name(table, row)
        self.rows[name] = table, row
        return named(name)

    def size(self, table: str, axis: int) -> ast.Name:
        """The name of how many rows a table has, or numbers in each."""
        name = f"{row_name(table, None)}_{('height', 'width')[axis]}"
        self.sizes[name] = table, axis
        return named(name)

    def other(self, name: str, value: Any) -> ast.Name:
        """The name of something else."""
        while self.others.setdefault(name, value) is not value:
            name += "_"
        return named(name)


class Function:
    """A kernel for what is known of its arguments: to be called, or joined into its callers."""

    def __init__(self, program: Program, kernel: Kernel, known: Names) -> None:
        self.program, self.kernel, self.known, self.is_being_written = program, kernel, known, False
        self.name = f"{kernel.__name__}_{next(program.number)}"
        self.parameters = [name for name in source_of(kernel).parameters if name not in known]

    @cached_property
    def code(self) -> CodeType:
        """The code of a function of what is not known of the arguments."""
        parameters = [ast.arg(name) for name in self.parameters]
        arguments = ast.arguments([], parameters, None, [], [], None, [])
        function = ast.FunctionDef(self.name, arguments, self.joined.body or [ast.Pass()], [], None)
        for node in (function, *parameters, *parts(function)):
            node.lineno = node.end_lineno = self.kernel.__code__.co_firstlineno  # type: ignore[attr-defined]
            node.col_offset = node.end_col_offset = 0  # type: ignore[attr-defined]
        whole = compile(ast.Module([function], []), self.kernel.__code__.co_filename, "exec")
        return next(part for part in whole.co_consts if isinstance(part, CodeType))

    @cached_property
    def joined(self) -> Joined:
        """Its statements."""
        if self.is_being_written:
            raise NotPlain(f"{self.kernel.__name__} calls itself")
        self.is_being_written = True
        source = source_of(self.kernel)
        writer = _Writer(self.program, self.kernel, self.known, source.stores)
        body = writer.block(source.body)
        if writer.known_after_all():
            body = _Writer(self.program, self.kernel, self.known, writer.reached).block(source.body)
        return Joined(body)


def row_name(table: str, row: int | None) -> str:
    """The name of a row of a table, or of a whole table."""
    return table.replace(".", "_") + ("" if row is None else f"_{row}")


NOTHING, READS, CHANGES = range(3)
"""What the part of a statement that is already written does, beside its variables."""


class _Writer:
    """Writes one kernel anew."""

    def __init__(self, program: Program, kernel: Kernel, known: Names, stores: dict[str, int]) -> None:
        self.program, self.source, self.known = program, source_of(kernel), dict(known)
        self.names, self.stores, self.parameters = kernel.__globals__, stores, self.source.parameters
        self.reached: dict[str, int] = {}
        """How often each variable is set where that is not left out."""
        self.constant: set[str] = set()
        """Variables that are somewhere set to what is known."""
        self.for_lists = kernel in program.with_lists.values()
        self.is_of_integers = self.source.is_of_integers and not self.source.attributes & program.fractions
        self.out: Body = []
        self.may_join, self.before = True, NOTHING

    def known_after_all(self) -> bool:
        """Whether a variable is always the same because other statements that set it are never reached."""
        return any(self.stores[name] > self.reached[name] == 1 for name in self.constant - {*self.parameters})

    # ---- statements ---------------------------------------------------------------------------------------

    def block(self, statements: Body) -> Body:
        """Some statements, up to one behind which nothing is reached."""
        outside, self.out = self.out, []
        for statement in statements:
            self.may_join, self.before = True, NOTHING
            write = getattr(self, f"write_{type(statement).__name__}", None)
            if write is None:
                raise NotPlain(ast.unparse(statement))
            write(statement)
            if self.out and isinstance(self.out[-1], ast.Return | ast.Break | ast.Continue):
                break
        inside, self.out = self.out, outside
        return inside

    def write_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            value = self.call(node.value, [])
            if not is_pure(value):
                self.out.append(ast.Expr(value))
        elif not isinstance(node.value, ast.Constant):
            raise NotPlain(ast.unparse(node))

    def write_Assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        if len(node.targets) > 1:
            value = self.of(node.value)
            self.out.append(ast.Assign([self.target(target) for target in node.targets], value))
        elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            self.set_all(target.elts, [self.of(value) for value in node.value.elts])
        elif isinstance(node.value, ast.Call) and is_of_names(target):
            value = self.call(node.value, [target])
            if value is JOINED:
                self.target(target)
            else:
                self.set_all([target], [value])
        else:
            self.set_all([target], [self.of(node.value)])

    def set_all(self, targets: list[ast.expr], values: list[ast.expr]) -> None:
        """Set variables or numbers of tables together; what is known of a variable is not written."""
        left: list[tuple[ast.expr, ast.expr]] = []
        for target, value in zip(targets, values, strict=True):
            if isinstance(target, ast.Name) and self.is_set_once(target.id) and self.is_known(value):
                self.known[target.id] = value
                self.target(target)
            else:
                if isinstance(target, ast.Name) and self.is_known(value):
                    self.constant.add(target.id)
                left.append((self.target(target), value))
        if len(left) == 1:
            self.out.append(ast.Assign([left[0][0]], left[0][1]))
        elif left:
            together = ast.Tuple([target for target, _ in left], ast.Store())
            self.out.append(ast.Assign([together], ast.Tuple([value for _, value in left], ast.Load())))

    def write_AnnAssign(self, node: ast.AnnAssign) -> None:
        assert node.value is not None
        self.set_all([node.target], [self.of(node.value)])

    def write_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Subscript):
            self.before = READS
        value = self.of(node.value)
        target = self.target(node.target)
        assert isinstance(target, ast.Name | ast.Subscript)
        self.out.append(ast.AugAssign(target, node.op, value))

    def write_If(self, node: ast.If) -> None:
        test = self.of(node.test)
        if isinstance(test, ast.Constant):
            self.out += self.block(node.body if test.value else node.orelse)
        elif body := self.block(node.body):
            self.out.append(ast.If(test, body, self.block(node.orelse)))
        elif orelse := self.block(node.orelse):
            self.out.append(ast.If(negated(test), orelse, []))
        elif not is_pure(test):
            self.out.append(ast.Expr(test))

    def write_While(self, node: ast.While) -> None:
        outside, self.out = self.out, []
        test = self.of(node.test)
        joined, self.out = self.out, outside
        if isinstance(test, ast.Constant) and not test.value:
            return
        body = self.block(node.body) or [ast.Pass()]
        if joined:
            joined.append(ast.If(negated(test), [ast.Break()], []))
            test = ast.Constant(True)
        self.out.append(ast.While(test, joined + body, []))

    def write_For(self, node: ast.For) -> None:
        steps = self.of(node.iter)
        numbers, target = numbers_of(steps), self.target(node.target)
        may_be_left = any(isinstance(part, ast.Break | ast.Continue) for part in parts(node))
        is_own = isinstance(target, ast.Name) and self.is_set_once(target.id)
        if is_own and not may_be_left and 0 < len(numbers) <= FEW:
            for number in numbers:
                self.known[known_of(target)] = ast.Constant(number)
                self.out += self.block(node.body)
        else:
            self.out.append(ast.For(target, steps, self.block(node.body) or [ast.Pass()], []))

    def write_Return(self, node: ast.Return) -> None:
        self.out.append(ast.Return(None if node.value is None else self.of(node.value)))

    def write_Pass(self, node: ast.Pass) -> None:
        pass

    def write_Break(self, node: ast.Break) -> None:
        self.out.append(node)

    def write_Continue(self, node: ast.Continue) -> None:
        self.out.append(node)

    # ---- expressions --------------------------------------------------------------------------------------

    def of(self, node: ast.expr) -> ast.expr:
        """An expression."""
        write = getattr(self, f"of_{type(node).__name__}", None)
        if write is not None:
            made: ast.expr = write(node)
            return made
        if not self.for_lists:
            raise NotPlain(ast.unparse(node))
        return self.as_it_is(node)

    def target(self, node: ast.expr) -> ast.expr:
        """Where a value goes."""
        if isinstance(node, ast.Subscript):
            return self.of(node)
        if isinstance(node, ast.Tuple):
            return ast.Tuple([self.target(part) for part in node.elts], ast.Store())
        assert isinstance(node, ast.Name)
        self.reached[node.id] = self.reached.get(node.id, 0) + 1
        return node

    def as_it_is(self, node: Any) -> Any:
        """What has no rule of its own."""
        with_parts = type(node)()
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                value = [self.inside(part) for part in value]
            elif isinstance(value, ast.AST):
                value = self.inside(value)
            setattr(with_parts, name, value)
        return with_parts

    def inside(self, part: Any) -> Any:
        if isinstance(part, ast.expr):
            return self.later(part)
        return self.as_it_is(part) if isinstance(part, ast.comprehension) else part

    def later(self, node: ast.expr) -> ast.expr:
        """An expression that is perhaps not reached: nothing of it may be done before."""
        may_join, self.may_join = self.may_join, False
        made = self.of(node)
        self.may_join = may_join
        return made

    def is_set_once(self, name: str) -> bool:
        """Whether a variable always has the value that one statement gives it."""
        return self.stores.get(name) == 1 and name not in self.parameters

    def is_known(self, node: ast.expr) -> bool:
        """Whether an expression is a constant, a table or a row."""
        return isinstance(node, ast.Constant) or (
            isinstance(node, ast.Name) and ("." in node.id or node.id in self.program.rows)
        )

    def of_Constant(self, node: ast.Constant) -> ast.expr:
        return node

    def of_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.known:
            return self.known[node.id]
        if node.id in self.source.stores or node.id in self.parameters or isinstance(node.ctx, ast.Store):
            return node
        if node.id not in self.names:
            if not hasattr(builtins, node.id):
                raise NotPlain(node.id)
            return node
        value = self.names[node.id]
        if type(value) is int or isinstance(value, EnumType) or is_ours(value):
            return constant(value)
        return self.program.other(node.id, value)

    def of_Attribute(self, node: ast.Attribute) -> ast.expr:
        value = self.of(node.value)
        if isinstance(value, ast.Constant):
            names = value.value
            if isinstance(names, EnumType) and issubclass(names, IntEnum) and node.attr in names.__members__:
                return ast.Constant(int(names[node.attr]))
            raise NotPlain(ast.unparse(node))
        if isinstance(value, ast.Name) and "." in value.id and value.id not in self.program.tables:
            return named(value.id + ("" if value.id.endswith(".") else ".") + node.attr)
        return ast.Attribute(value, node.attr, ast.Load())

    def of_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.before = max(self.before, READS)
        value, program = self.of(node.value), self.program
        if isinstance(value, ast.Attribute) and value.attr == "shape":
            table, axis = value.value, self.of(node.slice)
            if not isinstance(table, ast.Name) or not isinstance(axis, ast.Constant):
                raise NotPlain(ast.unparse(node))
            return program.size(table.id, known_of(axis))
        if not isinstance(value, ast.Name) or value.id not in program.tables:
            if isinstance(node.slice, ast.Tuple):
                raise NotPlain(ast.unparse(node))
            made = ast.Subscript(value, self.of(node.slice), node.ctx)
            self.note_change(made)
            return made
        if not isinstance(node.slice, ast.Tuple):
            place = self.of(node.slice)
            if value.id == "state.options" and isinstance(place, ast.Constant):
                if isinstance(node.ctx, ast.Store):
                    raise NotPlain(ast.unparse(node))
                return ast.Constant(program.options[known_of(place)])
            if program.tables[value.id] != 1:
                raise NotPlain(ast.unparse(node))
            row: ast.expr = program.row(value.id, None)
        else:
            which, place = map(self.of, node.slice.elts)
            if isinstance(which, ast.Slice):
                raise NotPlain(ast.unparse(node))
            if isinstance(which, ast.Constant):
                row = program.row(value.id, known_of(which))
            else:
                row = ast.Subscript(program.row(value.id, None), which, ast.Load())
        if (
            isinstance(place, ast.Slice) and place.lower is place.upper is None
        ):  # a row, to be written to, too
            self.note_change(ast.Subscript(row, place, ast.Store()))
            return row
        made = ast.Subscript(row, place, node.ctx)
        self.note_change(made)
        return made

    def note_change(self, node: ast.Subscript) -> None:
        """Note which row or table is written to."""
        if isinstance(node.ctx, ast.Store):
            row = node.value
            while isinstance(row, ast.Subscript):
                row = row.value
            if isinstance(row, ast.Name) and row.id in self.program.rows:
                self.program.changed.add(row.id)

    def of_Slice(self, node: ast.Slice) -> ast.expr:
        if node.step is not None or not self.for_lists:
            raise NotPlain(ast.unparse(node))
        return ast.Slice(node.lower and self.of(node.lower), node.upper and self.of(node.upper))

    def of_Tuple(self, node: ast.Tuple) -> ast.expr:
        return ast.Tuple([self.of(part) for part in node.elts], node.ctx)

    def of_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        operand = self.of(node.operand)
        if isinstance(operand, ast.Constant):
            return ast.Constant(OPERATIONS[type(node.op)](operand.value))
        return ast.UnaryOp(node.op, operand)

    def of_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.of(node.left), self.of(node.right)
        if isinstance(left, ast.Constant) and isinstance(right, ast.Constant) and type(node.op) in OPERATIONS:
            return ast.Constant(OPERATIONS[type(node.op)](left.value, right.value))
        if isinstance(node.op, ast.Add) and isinstance(left, ast.Constant) and left.value == 0:
            return right
        if isinstance(node.op, ast.Add | ast.Sub) and isinstance(right, ast.Constant) and right.value == 0:
            return left
        return ast.BinOp(left, node.op, right)

    def of_Compare(self, node: ast.Compare) -> ast.expr:
        left, right = self.of(node.left), self.of(node.comparators[0])
        compare = OPERATIONS.get(type(node.ops[0])) if len(node.ops) == 1 else None
        if compare is not None and isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
            return ast.Constant(compare(left.value, right.value))
        return ast.Compare(left, node.ops, [right, *map(self.later, node.comparators[1:])])

    def of_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        decides = isinstance(node.op, ast.Or)
        values: list[ast.expr] = []
        for part in node.values:
            value = self.of(part) if part is node.values[0] else self.later(part)
            if not isinstance(value, ast.Constant):
                values.append(value)
            elif bool(value.value) is decides:
                values.append(value)
                break
        if len(values) < 2:
            return values[0] if values else ast.Constant(not decides)
        return ast.BoolOp(node.op, values)

    def of_IfExp(self, node: ast.IfExp) -> ast.expr:
        test = self.of(node.test)
        if isinstance(test, ast.Constant):
            return self.of(node.body if test.value else node.orelse)
        return ast.IfExp(test, self.later(node.body), self.later(node.orelse))

    # ---- calls --------------------------------------------------------------------------------------------

    def of_Call(self, node: ast.Call) -> ast.expr:
        return self.call(node, None)

    def call(self, node: ast.Call, targets: list[ast.expr] | None) -> ast.expr:
        """A call; where it is the whole statement, the variables that it sets may be set here (JOINED)."""
        function = self.of(node.func)
        if node.keywords:
            raise NotPlain(ast.unparse(node))
        arguments = [self.of(argument) for argument in node.args]
        if isinstance(function, ast.Constant):
            return self.call_kernel(known_of(function), arguments, targets)
        if isinstance(function, ast.Name) and hasattr(builtins, function.id):
            if function.id in ("int", "bool") and self.is_of_integers:
                return arguments[0]
            if function.id in ("min", "max") and len(arguments) == 2 and all(map(is_small, arguments)):
                first, second = arguments
                sign = ast.Lt() if function.id == "min" else ast.Gt()
                return ast.IfExp(ast.Compare(second, [sign], [first]), second, first)
        else:
            self.before = max(self.before, READS)
        return ast.Call(function, arguments, [])

    def call_kernel(
        self, kernel: Kernel, arguments: list[ast.expr], targets: list[ast.expr] | None
    ) -> ast.expr:
        """A call of another kernel: its value, its statements, or a call."""
        program = self.program
        kernel = program.with_lists.get(kernel, kernel)
        source, defaults = source_of(kernel), kernel.__defaults__ or ()
        missing = len(source.parameters) - len(arguments)
        arguments += map(ast.Constant, defaults[len(defaults) - missing :] if missing else ())
        given = dict(zip(source.parameters, arguments, strict=True))
        known = {
            name: value for name, value in given.items() if self.is_known(value) and name not in source.stores
        }
        function = program.function(kernel, known)
        given = {name: given[name] for name in function.parameters}
        if any(isinstance(value, ast.Name) and "." in value.id for value in given.values()):
            raise NotPlain(kernel)
        is_pure = False
        if source.may_be_joined:
            joined = function.joined
            is_pure = joined.is_pure
            if joined.value is not None and is_pure and is_cheap(joined, given):
                return copied(joined.value, given)
            may_move = self.before == NOTHING or (is_pure and self.before == READS)
            if self.may_join and may_move and joined.may_be_joined:
                left = [named(f"{kernel.__name__}_{next(program.number)}")] if targets is None else targets
                self.join(joined, given, [stored(target) for target in left])
                return left[0] if targets is None else JOINED
        program.called[function.name] = function
        called = ast.Call(named(function.name), list(given.values()), [])
        if targets is None and self.may_join and self.before == NOTHING:
            result = named(f"{kernel.__name__}_{next(program.number)}")
            self.out.append(ast.Assign([stored(result)], called))
            return result
        self.before = max(self.before, READS if is_pure else CHANGES)
        return called

    def join(self, joined: Joined, given: Names, targets: list[ast.expr]) -> None:
        """Write the statements of a kernel in place of its call; they set what its value is to set."""
        number = next(self.program.number)
        names: Names = {name: named(f"{name}_{number}") for name in joined.stored}
        for name, value in given.items():
            if is_simple(value) and name not in joined.stored:
                names[name] = value
            else:
                names[name] = named(f"{name}_{number}")
                self.out.append(ast.Assign([stored(names[name])], value))
        body = at_its_end([copied(statement, names) for statement in joined.body], targets)
        assert body is not None
        self.out += body


JOINED = ast.Constant(None)
"""The value of a call whose statements have set what it was to set."""
