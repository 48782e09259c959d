"""Syntax trees of kernels: what is in them, and how one becomes a part of another."""

from __future__ import annotations

import ast
import builtins
import linecache
import operator
from collections.abc import Callable
from functools import cache
from itertools import takewhile
from types import FunctionType
from typing import Any

Kernel = Callable[..., Any]
Body = list[ast.stmt]
Names = dict[str, ast.expr]

OURS = "headway."
SHORT = 250
"""Nodes of the syntax tree of a kernel that is joined into its callers."""


class NotPlain(Exception):
    """A kernel cannot be rewritten: it is no function of a module, its source is not there, or it is odd."""


@cache
def source_of(kernel: Kernel) -> Source:
    """The source of a kernel."""
    if not isinstance(kernel, FunctionType) or kernel.__closure__ or not kernel.__module__.startswith(OURS):
        raise NotPlain(kernel)
    code = kernel.__code__
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    first = next((place for place, line in enumerate(lines) if line.startswith("def ")), 0)
    try:
        (found,) = ast.parse("".join([*lines[: first + 1], *takewhile(is_inside, lines[first + 1 :])])).body
    except (SyntaxError, ValueError) as error:
        raise NotPlain(kernel) from error
    if not isinstance(found, ast.FunctionDef) or found.name != kernel.__name__:
        raise NotPlain(kernel)
    return Source(found)


def is_inside(line: str) -> bool:
    """Whether a line behind the first of a function belongs to it."""
    return line[0] in " )#\n"


class Source:
    """What a kernel's author wrote, and what its callers need to know of it."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.body = function.body
        self.parameters = [argument.arg for argument in function.args.args]
        self.stores: dict[str, int] = {}
        """How often each variable is set."""
        self.is_of_integers = True
        """Whether it has no fractions of its own."""
        self.attributes: set[str] = set()
        nodes = [node for statement in self.body for node in parts(statement)]
        for node in nodes:
            if isinstance(node, ast.Name):
                if isinstance(node.ctx, ast.Store):
                    self.stores[node.id] = self.stores.get(node.id, 0) + 1
                elif node.id == "float":
                    self.is_of_integers = False
            elif isinstance(node, ast.Attribute):
                self.attributes.add(node.attr)
            elif isinstance(node, ast.BinOp):
                self.is_of_integers = self.is_of_integers and not isinstance(node.op, ast.Div)
        is_routine = any(
            isinstance(mark, ast.Name) and mark.id == "routine" for mark in function.decorator_list
        )
        self.may_be_joined = not is_routine and len(nodes) <= SHORT and at_its_end(self.body, []) is not None
        """Whether it is short and can set a variable where it returns."""


def parts(root: ast.AST) -> list[ast.AST]:
    """All nodes of a syntax tree."""
    found = [root]
    for node in found:
        for value in node.__dict__.values():
            if isinstance(value, list):
                found += value
            elif isinstance(value, ast.expr):
                found.append(value)
    return found


class Joined:
    """The statements of a kernel, and what its callers need to know of them."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.uses: dict[str, int] = {}
        """How often each variable is read."""
        self.stored: set[str] = set()
        """Variables that are set."""
        self.is_pure = True
        """Whether nothing is changed but variables."""
        for node in (node for statement in body for node in parts(statement)):
            if isinstance(node, ast.Name):
                if isinstance(node.ctx, ast.Store):
                    self.stored.add(node.id)
                else:
                    self.uses[node.id] = self.uses.get(node.id, 0) + 1
            elif isinstance(node, ast.Subscript):
                self.is_pure = self.is_pure and isinstance(node.ctx, ast.Load)
            elif isinstance(node, ast.Call):
                self.is_pure = self.is_pure and is_builtin(node.func)
        if any("." in name for name in self.uses):  # a table that is not known where it is used
            raise NotPlain(self.uses)
        only = body[0] if len(body) == 1 else None
        self.value = only.value if isinstance(only, ast.Return) else None
        """The expression that is all of the kernel."""
        self.may_be_joined = at_its_end(body, []) is not None


def named(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def constant(value: Any) -> ast.Constant:
    """What is known: a number, a function or an enumeration."""
    return ast.Constant(value)


def known_of(node: ast.expr) -> Any:
    """What is known, or the name of the table or row."""
    return node.value if isinstance(node, ast.Constant) else node.id if isinstance(node, ast.Name) else None


def is_ours(value: Any) -> bool:
    return isinstance(value, FunctionType) and value.__module__.startswith(OURS)


def is_simple(node: ast.expr) -> bool:
    """Whether an expression costs nothing."""
    return isinstance(node, ast.Name | ast.Constant)


def is_pure(node: ast.expr) -> bool:
    """Whether an expression only reads."""
    return not any(isinstance(part, ast.Call) for part in parts(node))


def is_small(node: ast.expr) -> bool:
    """Whether to compute an expression twice takes less than a call."""
    return len(parts(node)) < 8 and is_pure(node)


def is_cheap(joined: Joined, given: Names) -> bool:
    """Whether the arguments of a call may as well be computed where they are used."""
    return all(
        is_simple(value) or (joined.uses.get(name, 0) <= 1 and is_pure(value)) or is_small(value)
        for name, value in given.items()
    )


def is_builtin(node: ast.expr) -> bool:
    """Whether a function is Python's own, or of a module that knows nothing of tables."""
    return not isinstance(node, ast.Name) or hasattr(builtins, node.id) or node.id == "bisect_right"


def numbers_of(steps: ast.expr) -> range:
    """The numbers that a loop counts, where they are known; else none."""
    if isinstance(steps, ast.Call) and isinstance(steps.func, ast.Name) and steps.func.id == "range":
        bounds = [known_of(bound) for bound in steps.args if isinstance(bound, ast.Constant)]
        if len(bounds) == len(steps.args):
            return range(*bounds)
    return range(0)


def is_of_names(target: ast.expr) -> bool:
    """Whether only variables are set."""
    return isinstance(target, ast.Name) or (
        isinstance(target, ast.Tuple) and all(map(is_of_names, target.elts))
    )


def stored(target: ast.expr) -> ast.expr:
    return ast.Name(target.id, ast.Store()) if isinstance(target, ast.Name) else target


def copied(node: Any, names: Names) -> Any:
    """A syntax tree with names or expressions in place of some names; what does not change is shared."""
    if isinstance(node, ast.Name):
        found = names.get(node.id)
        if found is None:
            return node
        return found if isinstance(node.ctx, ast.Load) else stored(found)
    changes = {}
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            made: Any = [copied(part, names) for part in value]
            if any(map(operator.is_not, made, value)):
                changes[name] = made
        elif isinstance(value, ast.AST):
            made = copied(value, names)
            if made is not value:
                changes[name] = made
    if not changes:
        return node
    return type(node)(**{name: getattr(node, name, None) for name in node._fields} | changes)


def returns(statement: ast.stmt) -> bool:
    """Whether a statement is a return, or has one inside."""
    if isinstance(statement, ast.If | ast.For | ast.While):
        return any(map(returns, statement.body)) or any(map(returns, statement.orelse))
    return isinstance(statement, ast.Return)


def ends(body: Body) -> bool:
    """Whether all ways through some statements return."""
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        return ends(last.body) and ends(last.orelse)
    return isinstance(last, ast.Return)


def at_its_end(body: Body, targets: list[ast.expr]) -> Body | None:
    """The statements of a kernel that sets ``targets`` where it returned; None where that is too hard.

    What follows an `if` that returns becomes its `else`, and so does what follows a loop.
    """
    out: Body = []
    for place, statement in enumerate(body):
        rest = body[place + 1 :]
        if isinstance(statement, ast.Return):
            return out + setting(targets, statement.value)
        if not returns(statement):
            out.append(statement)
            continue
        if isinstance(statement, ast.If) and (ends(statement.body) or ends(statement.orelse)):
            is_first = ends(statement.body)
            then = at_its_end(statement.body + ([] if is_first else rest), targets)
            other = at_its_end(statement.orelse + (rest if is_first else []), targets)
            if then is None or other is None:
                return None
            return [*out, ast.If(statement.test, then or [ast.Pass()], other)]
        if isinstance(statement, ast.For | ast.While):
            inside, behind = leaving(statement.body, targets), at_its_end(rest, targets)
            if inside is None or behind is None:
                return None
            loop = (
                ast.While(statement.test, inside, behind)
                if isinstance(statement, ast.While)
                else (ast.For(statement.target, statement.iter, inside, behind))
            )
            return [*out, loop]
        return None
    return out


def leaving(body: Body, targets: list[ast.expr]) -> Body | None:
    """The statements of a loop that is left where it returned; None where it is left otherwise, too."""
    out: Body = []
    for statement in body:
        if isinstance(statement, ast.Return):
            return [*out, *setting(targets, statement.value), ast.Break()]
        if isinstance(statement, ast.Break) or (
            isinstance(statement, ast.For | ast.While) and returns(statement)
        ):
            return None
        if isinstance(statement, ast.If):
            then, other = leaving(statement.body, targets), leaving(statement.orelse, targets)
            if then is None or other is None:
                return None
            statement = ast.If(statement.test, then or [ast.Pass()], other)
        out.append(statement)
    return out


def setting(targets: list[ast.expr], value: ast.expr | None) -> Body:
    """Set some variables; what is computed for nobody is computed only for what it changes."""
    if targets and value is not None:
        return [ast.Assign(targets, value)]
    return [] if value is None or is_pure(value) else [ast.Expr(value)]
