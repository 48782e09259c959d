"""Rows that have names, on a GPU: what :mod:`headway.jit.row_types` says to numba, said to numba-cuda."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numba.cuda import extending as cuda_extending
from numba.cuda import mathimpl
from numba.cuda.typing import templates as cuda_templates
from numba.cuda.ufuncs import ufunc_db
from numba.np.numpy_support import from_dtype

from headway.engine.tables import JobTable
from headway.jit.row_types import (
    RowsClass,
    RowsType,
    by_number,
    code,
    described,
    name_more,
    number_of,
    read,
    rows_type,
    types,
    write,
)
from headway.jit.rows import Declared, Named

extending: Any = cuda_extending  # untyped, as numba is
templates: Any = cuda_templates
implementations: Any = mathimpl
signature: Any = templates.signature


@extending.register_model(RowsType)
class RowsModel(extending.core_models.ArrayModel):  # type: ignore[misc]
    """What its array is."""

    def __init__(self, manager: Any, kind: RowsType) -> None:
        super().__init__(manager, kind.array)


@extending.infer_getattr
class Names(templates.AttributeTemplate):  # type: ignore[misc]
    """``jobs.procs`` has the type of a row, ``clock.now`` that of a number."""

    key = RowsType

    def generic_resolve(self, kind: RowsType, name: str) -> Any:
        return kind.of(name)


extending.lower_getattr_generic(RowsType)(read)
extending.lower_setattr_generic(RowsType)(write)


class ByNumber(templates.AbstractTemplate):  # type: ignore[misc]
    """``jobs[row, job]`` is that of the array."""

    def generic(self, args: Any, keywords: Any) -> Any:
        kind, *index = args
        if not isinstance(kind, RowsType):
            return None
        found = self.context.resolve_function_type(self.key, (kind.array, *index), {})
        return found and signature(found.return_type, kind, *found.args[1:])


@templates.infer_global(operator.getitem)
class ReadByNumber(ByNumber):
    """Reading."""


@templates.infer_global(operator.setitem)
class WriteByNumber(ByNumber):
    """Writing."""


@extending.lower_builtin(operator.getitem, RowsType, types.Any)  # type: ignore[untyped-decorator]
def read_by_number(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return by_number(context, builder, sig, args, operator.getitem)


@extending.lower_builtin(operator.setitem, RowsType, types.Any, types.Any)  # type: ignore[untyped-decorator]
def write_by_number(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return by_number(context, builder, sig, args, operator.setitem)


class DeviceRowsClass(RowsClass):
    """The type of such a class, called on a GPU."""

    def get_call_type(self, context: Any, args: Any, keywords: Any) -> Any:
        if len(args) != 1 or keywords or not isinstance(args[0], RowsType | types.Array):
            return None
        return signature(rows_type(self.named, getattr(args[0], "array", args[0])), *args)

    def get_impl_key(self, sig: Any) -> Any:
        return DeviceRowsClass


extending.register_model(DeviceRowsClass)(extending.core_models.OpaqueModel)
extending.lower_builtin(DeviceRowsClass, types.Any)(name_more)


@extending.typeof_impl.register(Declared)  # type: ignore[untyped-decorator]
def type_of_class(given: Declared, purpose: Any) -> Any:
    return DeviceRowsClass(given)


@templates.infer
class Number(templates.AbstractTemplate):  # type: ignore[misc]
    """``Jobs["procs"]``"""

    key = "static_getitem"

    def generic(self, args: Any, keywords: Any) -> Any:
        named, name = args
        known = isinstance(named, RowsClass) and name in named.named._numbers
        return signature(types.intp, *args) if known else None


extending.lower_builtin("static_getitem", DeviceRowsClass, types.Any)(number_of)


def square_root(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """``np.sqrt`` of one number, which numba-cuda lacks."""
    return implementations.get_unary_impl_for_fn_and_ty(math.sqrt, sig.args[0])(context, builder, sig, args)


ufunc_db().setdefault(np.sqrt, {"d->d": square_root})


def type_of_one(example: Any) -> Any:
    """The type of one simulation's tables: of a tuple like an example, in which each array is a view."""
    if isinstance(example, Named):
        kind: Any = type(example)
        return rows_type(kind, type_of_one(example.table))
    if isinstance(example, tuple):
        return types.BaseTuple.from_types([type_of_one(each) for each in example], type(example))
    return types.Array(from_dtype(example.dtype), example.ndim, "A")


def simulation_of(example: Any) -> Any:
    """A function of (tables, t, jobs) for kernels: one simulation's tables, out of tables whose last axis is
    the simulation, as a tuple like an example. The table of jobs has as many columns as it has ``jobs``."""
    one = type_of_one(example)

    @extending.intrinsic  # type: ignore[untyped-decorator]
    def simulation(typing_context: Any, tables: Any, t: Any, jobs: Any) -> Any:
        def build(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return view(context, builder, sig.args[0], one, *args)

        return signature(one, tables, types.int64, types.int64), build

    return simulation


def view(context: Any, builder: Any, given: Any, wanted: Any, value: Any, t: Any, jobs: Any) -> Any:
    """One simulation's part of an array, or of each array of a tuple."""
    if isinstance(wanted, types.BaseTuple):
        parts = code.unpack_tuple(builder, value, len(wanted.types))
        kinds = zip(given.types, wanted.types, parts, strict=True)
        return context.make_tuple(builder, wanted, [view(context, builder, *each, t, jobs) for each in kinds])
    position = context.data_model_manager[given].get_field_position
    shape = code.unpack_tuple(builder, builder.extract_value(value, position("shape")))[:-1]
    *strides, step = code.unpack_tuple(builder, builder.extract_value(value, position("strides")))
    if getattr(wanted, "named", None) is JobTable:
        shape[1] = jobs
    data = code.pointer_add(builder, builder.extract_value(value, position("data")), builder.mul(step, t))
    return described(context, builder, getattr(wanted, "array", wanted), data, shape, strides)
