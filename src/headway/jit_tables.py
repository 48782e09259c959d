"""Tuples of tables that compiled functions pass on by their address.

numba passes a tuple of arrays as some nine numbers for each of them, copied at every call. Here a tuple is
laid into memory once, when Python hands it over, and from then on one address is passed. What stands there
does not change while compiled code runs, which the compiler is told: it reads each number once, and only
those it needs. Without this every policy would be a fifth slower, and the same otherwise.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir as llvm
from numba import extending as numba_extending
from numba.core import cgutils as numba_code
from numba.core.typing import templates

extending: Any = numba_extending  # untyped here: numba has no types for what extends it
code: Any = numba_code
types: Any = extending.types
Primitive: Any = extending.models.PrimitiveModel
Attributes: Any = templates.AttributeTemplate


class Address(types.Type):  # type: ignore[misc]
    """numba's type of the address of a named tuple, whose fields are tables and such tuples."""

    def __init__(self, named: Any) -> None:
        self.named = named
        super().__init__(name=f"address of {named}")

    def of(self, field: str) -> Any:
        """The type of a field as compiled code sees it."""
        kind = self.named.types[self.named.fields.index(field)]
        return Address(kind) if isinstance(kind, (types.NamedTuple, types.NamedUniTuple)) else kind


@extending.register_model(Address)
class AddressModel(Primitive):  # type: ignore[misc]
    """An address is one number everywhere."""

    def __init__(self, manager: Any, kind: Address) -> None:
        super().__init__(manager, kind, manager.lookup(kind.named).get_value_type().as_pointer())


@extending.infer_getattr
class Fields(Attributes):  # type: ignore[misc]
    """``state.jobs`` has the type of the table."""

    key = Address

    def generic_resolve(self, kind: Address, field: str) -> Any:
        return kind.of(field) if field in kind.named.fields else None


@extending.lower_getattr_generic(Address)  # type: ignore[untyped-decorator]
def read_field(context: Any, builder: Any, kind: Address, address: Any, field: str) -> Any:
    """A table, read from where the tuple stands; of a tuple inside it, the address."""
    place = code.gep_inbounds(builder, address, 0, kind.named.fields.index(field))
    wanted = kind.of(field)
    if isinstance(wanted, Address):
        return place
    array = context.make_array(wanted)
    there, table = array(context, builder, ref=place), array(context, builder)
    for name in ("nitems", "itemsize", "data", "shape", "strides"):
        setattr(table, name, read_once(builder, there._get_ptr_by_name(name)))
    table.meminfo = code.get_null_value(table.meminfo.type)  # who owns the table is Python's concern
    table.parent = code.get_null_value(table.parent.type)
    return table._getvalue()


def read_once(builder: Any, place: Any) -> Any:
    """What stands at a place and never changes; of several numbers each by itself."""
    kind = place.type.pointee
    if isinstance(kind, llvm.ArrayType):
        parts = (code.gep_inbounds(builder, place, 0, i) for i in range(kind.count))
        return code.pack_array(builder, [read_once(builder, part) for part in parts])
    value = builder.load(place)
    value.set_metadata("invariant.load", builder.module.add_metadata(()))
    return value


@extending.unbox(Address)  # type: ignore[untyped-decorator]
def hand_over(kind: Address, given: Any, c: Any) -> Any:
    """Lay a tuple that comes from Python into memory for the time of the call."""
    native = c.unbox(kind.named, given)
    place = code.alloca_once_value(c.builder, native.value)
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
        return Address(types.BaseTuple.from_types(inside, named))

    extending.typeof_impl.register(named)(type_of)
