"""Tuples of tables that compiled functions pass on by their address.

numba passes a tuple of arrays as some nine numbers for each of them, copied at every call. Here a tuple is
laid into memory once, when Python hands it over, and from then on one address is passed. What stands there
does not change while compiled code runs, which the compiler is told: it reads each number once, and only
those it needs. Without this every policy would be a fifth slower, and the same otherwise.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any

from llvmlite import ir as llvm
from numba import extending as numba_extending
from numba.core import cgutils as numba_code
from numba.core import typeconv as numba_conversions
from numba.core.typing import templates

extending: Any = numba_extending  # untyped here: numba has no types for what extends it
code: Any = numba_code
Conversion: Any = getattr(numba_conversions, "Conversion")  # noqa: B009
types: Any = extending.types
Primitive: Any = extending.models.PrimitiveModel
Attributes: Any = templates.AttributeTemplate
BYTES = llvm.IntType(8).as_pointer()
"""An address as the compiler sees it: the layout of the tuple, a page of text, is not told at each use."""
OWN = "memory"
"""The last field of a tuple of tables whose type differs from policy to policy: what is a policy's own."""


class Address(types.Type):  # type: ignore[misc]
    """numba's type of the address of a named tuple, whose fields are tables and such tuples."""

    def __init__(self, named: Any) -> None:
        self.named = named
        # Short, because the name of every compiled function has those of its arguments' types in it.
        told = hashlib.sha256(str(named).encode()).hexdigest()[:16]
        super().__init__(name=f"{named.instance_class.__name__}({told})")

    def can_convert_to(self, context: Any, other: Any) -> Any:
        """A kernel that never looks at the policy's own may be given any policy's."""
        return Conversion.safe if other == without_own(self) else None

    def of(self, field: str) -> Any:
        """The type of a field as compiled code sees it."""
        kind = self.named.types[self.named.fields.index(field)]
        return address_of(kind) if isinstance(kind, (types.NamedTuple, types.NamedUniTuple)) else kind


@cache
def address_of(named: Any) -> Address:
    """The type of the address of such a tuple."""
    return Address(named)


@cache
def without_own(kind: Any) -> Any:
    """The type of such a tuple for kernels that never look at what is a policy's own; others as they are."""
    if not isinstance(kind, Address) or kind.named.fields[-1] != OWN:
        return kind
    common = [*kind.named.types[:-1], types.none]
    return address_of(types.BaseTuple.from_types(common, kind.named.instance_class))


@extending.lower_cast(Address, Address)  # type: ignore[untyped-decorator]
def see_less(context: Any, builder: Any, given: Address, wanted: Address, address: Any) -> Any:
    """The same place: what is a policy's own stands last."""
    return address


@extending.register_model(Address)
class AddressModel(Primitive):  # type: ignore[misc]
    """An address is one number everywhere."""

    def __init__(self, manager: Any, kind: Address) -> None:
        super().__init__(manager, kind, BYTES)


@extending.infer_getattr
class Fields(Attributes):  # type: ignore[misc]
    """``state.jobs`` has the type of the table."""

    key = Address

    def generic_resolve(self, kind: Address, field: str) -> Any:
        return kind.of(field) if field in kind.named.fields else None


@extending.lower_getattr_generic(Address)  # type: ignore[untyped-decorator]
def read_field(context: Any, builder: Any, kind: Address, address: Any, field: str) -> Any:
    """A table, read from where the tuple stands; of a tuple inside it, the address."""
    place = builder.gep(address, [llvm.IntType(64)(place_of(context, kind, field))], inbounds=True)
    wanted = kind.of(field)
    if isinstance(wanted, Address):
        return place
    wanted = getattr(wanted, "array", wanted)  # where rows have names, the table is the same
    table = context.get_value_type(wanted)
    place = builder.bitcast(place, table.as_pointer())
    position = context.data_model_manager[wanted].get_field_position

    def read(name: str, *more: int) -> Any:
        return read_once(builder, code.gep_inbounds(builder, place, 0, position(name), *more))

    shape = [read("shape", i) for i in range(wanted.ndim)]
    described = {"data": read("data"), "shape": code.pack_array(builder, shape)}
    if wanted.layout == "C":  # row after row, so all else follows
        size = context.get_constant(types.intp, size_of(context, wanted.dtype))
        described["itemsize"], strides, items = size, [size], shape[-1]
        for length, count in zip(reversed(shape[1:]), reversed(shape[:-1]), strict=True):
            strides.insert(0, builder.mul(strides[0], length))
            items = builder.mul(items, count)
        described |= {"nitems": items, "strides": code.pack_array(builder, strides)}
    else:
        strides = [read("strides", i) for i in range(wanted.ndim)]
        described |= {"nitems": read("nitems"), "itemsize": read("itemsize")}
        described["strides"] = code.pack_array(builder, strides)
    value = code.get_null_value(table)  # who owns the table is Python's concern
    for name, number in described.items():
        value = builder.insert_value(value, number, position(name))
    return value


def place_of(context: Any, kind: Address, field: str) -> int:
    """Where a field of a tuple begins, in bytes: everything in it is an address or a number as long."""
    before = kind.named.types[: kind.named.fields.index(field)]
    return sum(size_of(context, each) for each in before)


def size_of(context: Any, kind: Any) -> int:
    """The bytes of a number, of a table's description, or of a tuple of such."""
    if kind not in sizes:
        sizes[kind] = context.get_abi_sizeof(context.get_value_type(kind))
    return sizes[kind]


sizes: dict[Any, int] = {}


def read_once(builder: Any, place: Any) -> Any:
    """The number or address that stands at a place and never changes."""
    value = builder.load(place)
    value.set_metadata("invariant.load", builder.module.add_metadata(()))
    return value


@extending.unbox(Address)  # type: ignore[untyped-decorator]
def hand_over(kind: Address, given: Any, c: Any) -> Any:
    """Lay a tuple that comes from Python into memory for the time of the call."""
    native = c.unbox(kind.named, given)
    place = c.builder.bitcast(code.alloca_once_value(c.builder, native.value), BYTES)
    # "Never changes" is true from here on. What goes through this empty instruction comes out as an address
    # that the compiler knows nothing about, so it reads nothing from it before.
    same = llvm.FunctionType(place.type, [place.type])
    address = c.builder.asm(same, "", "=r,0,~{memory}", [place], side_effect=True)
    return extending.NativeValue(address, is_error=native.is_error, cleanup=native.cleanup)


def pass_by_address(named: type) -> None:
    """Let compiled functions take tuples of a class by their address."""

    def type_of(given: Any, purpose: Any) -> Any:
        kinds = [extending.typeof_impl(each, purpose) for each in given]
        inside = [kind.named if isinstance(kind, Address) else kind for kind in kinds]
        return address_of(types.BaseTuple.from_types(inside, named))

    extending.typeof_impl.register(named)(type_of)
