"""What a compiled kernel makes of tables whose rows have names: a name is a view of the same table."""

from __future__ import annotations

import hashlib
import operator
from functools import cache
from typing import Any

from llvmlite import ir as llvm
from numba import extending as numba_extending
from numba.core import cgutils as numba_code
from numba.core.typing import templates

from headway.jit.rows import EACH, Declared, Entries, Rows

extending: Any = numba_extending  # untyped here: numba has no types for what extends it
code: Any = numba_code
types: Any = extending.types
signature: Any = templates.signature
Attributes: Any = templates.AttributeTemplate
Operator: Any = templates.AbstractTemplate
infer: Any = templates.infer_global
ArrayModel: Any = extending.models.ArrayModel
INT64 = llvm.IntType(64)


class RowsType(types.Type):  # type: ignore[misc]
    """The type of a table of a class, over the type of its array."""

    def __init__(self, named: Declared, array: Any) -> None:
        self.named, self.array, self.each = named, array, named._kinds.count(EACH)
        # The names and their order are part of what a kernel is made of.
        rows = f"{named.__module__}.{named.__qualname__}{named._fields}{named._kinds}"
        told = hashlib.sha256(rows.encode()).hexdigest()[:16]
        super().__init__(name=f"{named.__name__}({told}, {array})")

    def of(self, name: str) -> Any:
        """The type of what a name stands for; None where it is no name."""
        if name not in self.named._fields:
            return {"table": self.array, "shape": types.UniTuple(types.intp, self.array.ndim)}.get(name)
        if self.array.ndim == 1:
            return self.array.dtype
        if self.named._kinds[self.named[name]] == EACH:
            return self.array.copy(layout="A")
        return self.array.copy(ndim=self.array.ndim - 1)


@cache
def rows_type(named: Any, array: Any) -> RowsType:
    """The type of a table of a class."""
    return RowsType(named, array)


@extending.typeof_impl.register(Rows)  # type: ignore[untyped-decorator]
@extending.typeof_impl.register(Entries)  # type: ignore[untyped-decorator]
def type_of_rows(given: Any, purpose: Any) -> Any:
    """The type of a table that comes from Python."""
    named: Any = type(given)
    return rows_type(named, extending.typeof_impl(given.table, purpose))


@extending.register_model(RowsType)
class RowsModel(ArrayModel):  # type: ignore[misc]
    """What its array is."""

    def __init__(self, manager: Any, kind: RowsType) -> None:
        super().__init__(manager, kind.array)


@extending.unbox(RowsType)  # type: ignore[untyped-decorator]
def hand_over(kind: RowsType, given: Any, c: Any) -> Any:
    """The array of a table that comes from Python, which keeps it alive."""
    table = c.pyapi.object_getattr_string(given, "table")
    native = c.unbox(kind.array, table)
    c.pyapi.decref(table)
    return native


@extending.infer_getattr
class Names(Attributes):  # type: ignore[misc]
    """``jobs.procs`` has the type of a row, ``clock.now`` that of a number."""

    key = RowsType

    def generic_resolve(self, kind: RowsType, name: str) -> Any:
        return kind.of(name)


@extending.lower_getattr_generic(RowsType)  # type: ignore[untyped-decorator]
def read(context: Any, builder: Any, kind: RowsType, value: Any, name: str) -> Any:
    """The row, described anew: where it begins, and how long it is; or the number."""
    position = context.data_model_manager[kind.array].get_field_position
    if name not in kind.named._fields:
        return value if name == "table" else builder.extract_value(value, position("shape"))
    place = place_of(context, builder, kind, value, name)
    wanted = kind.of(name)
    if kind.array.ndim == 1:
        return context.unpack_value(builder, wanted, place)
    shape = code.unpack_tuple(builder, builder.extract_value(value, position("shape")))
    strides = code.unpack_tuple(builder, builder.extract_value(value, position("strides")))
    if wanted.ndim == kind.array.ndim:
        shape[0] = builder.udiv(shape[0], INT64(kind.each))
        strides[0] = builder.mul(strides[0], INT64(kind.each))
    else:
        shape, strides = shape[1:], strides[1:]
    return described(context, builder, wanted, place, shape, strides)


def described(context: Any, builder: Any, wanted: Any, data: Any, shape: Any, strides: Any) -> Any:
    """An array of a type that begins at ``data``; who owns the memory is Python's concern."""
    items = shape[0]
    for length in shape[1:]:
        items = builder.mul(items, length)
    parts = {
        "data": data,
        "nitems": items,
        "itemsize": context.get_constant(
            types.intp, context.get_abi_sizeof(context.get_data_type(wanted.dtype))
        ),
        "shape": code.pack_array(builder, shape),
        "strides": code.pack_array(builder, strides),
    }
    position = context.data_model_manager[wanted].get_field_position
    array = code.get_null_value(context.get_value_type(wanted))
    for part, number in parts.items():
        array = builder.insert_value(array, number, position(part))
    return array


def place_of(context: Any, builder: Any, kind: RowsType, value: Any, name: str) -> Any:
    """Where a row begins, or a number stands."""
    position = context.data_model_manager[kind.array].get_field_position
    data, number = builder.extract_value(value, position("data")), INT64(kind.named[name])
    if kind.array.ndim == 1 and kind.array.layout == "C":
        return builder.gep(data, [number], inbounds=True)
    stride = builder.extract_value(value, [position("strides"), 0])
    return code.pointer_add(builder, data, builder.mul(stride, number))


@extending.lower_setattr_generic(RowsType)  # type: ignore[untyped-decorator]
def write(context: Any, builder: Any, sig: Any, args: Any, name: str) -> None:
    """``clock.now = t``"""
    kind, value = sig.args[0], args[1]
    context.pack_value(builder, kind.array.dtype, value, place_of(context, builder, kind, args[0], name))


class ByNumber(Operator):  # type: ignore[misc]
    """``jobs[row, job]`` is that of the array."""

    def generic(self, args: Any, keywords: Any) -> Any:
        kind, *index = args
        if not isinstance(kind, RowsType):
            return None
        found = self.context.resolve_function_type(self.key, (kind.array, *index), {})
        return found and signature(found.return_type, kind, *found.args[1:])


def by_number(context: Any, builder: Any, sig: Any, args: Any, asked: Any) -> Any:
    """Ask the array."""
    plain = signature(sig.return_type, sig.args[0].array, *sig.args[1:])
    return context.get_function(asked, plain)(builder, args)


@infer(operator.getitem)
class ReadByNumber(ByNumber):
    """Reading."""


@infer(operator.setitem)
class WriteByNumber(ByNumber):
    """Writing."""


@extending.lower_builtin(operator.getitem, RowsType, types.Any)  # type: ignore[untyped-decorator]
def read_by_number(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return by_number(context, builder, sig, args, operator.getitem)


@extending.lower_builtin(operator.setitem, RowsType, types.Any, types.Any)  # type: ignore[untyped-decorator]
def write_by_number(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return by_number(context, builder, sig, args, operator.setitem)


class RowsClass(types.Callable, types.Opaque):  # type: ignore[misc]
    """The type of such a class itself: ``FurtherJobs(jobs)`` names more rows of the same table."""

    def __init__(self, named: Declared) -> None:
        self.named = named
        super().__init__(name=f"class {named.__module__}.{named.__qualname__}")

    def get_call_type(self, context: Any, args: Any, keywords: Any) -> Any:
        if len(args) != 1 or keywords or not isinstance(args[0], (RowsType, types.Array)):
            return None
        return signature(rows_type(self.named, getattr(args[0], "array", args[0])), *args)

    def get_call_signatures(self) -> Any:
        return (), True

    def get_impl_key(self, sig: Any) -> Any:
        return RowsClass


extending.register_model(RowsClass)(extending.models.OpaqueModel)


@extending.typeof_impl.register(Declared)  # type: ignore[untyped-decorator]
def type_of_class(given: Declared, purpose: Any) -> Any:
    return RowsClass(given)


@templates.infer
class Number(Operator):  # type: ignore[misc]
    """``Jobs["procs"]``"""

    key = "static_getitem"

    def generic(self, args: Any, keywords: Any) -> Any:
        named, name = args
        known = isinstance(named, RowsClass) and name in named.named._numbers
        return signature(types.intp, *args) if known else None


@extending.lower_builtin("static_getitem", RowsClass, types.Any)  # type: ignore[untyped-decorator]
def number_of(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return context.get_constant(types.intp, sig.args[0].named[args[1]])


@extending.lower_builtin(RowsClass, types.Any)  # type: ignore[untyped-decorator]
def name_more(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return args[0]
