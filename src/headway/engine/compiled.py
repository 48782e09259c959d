"""The loop and a policy, compiled for each other: by the kind of memory that the policy has."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from headway.engine import clock as clockwork
from headway.engine.tables import NO_MEMORY, Kind, State, World, kind_of, tables_like
from headway.jit import kernels
from headway.jit.rows import plain_numbers

BATCH = 200_000
"""At most so many instants between two reports of progress."""


def hook_signature(memory: Any = NO_MEMORY) -> Any:
    """The type of a compiled policy with such a memory: nothing from (instant, state)."""
    return None if kernels.INTERPRETED else _signature_over(kind_of(memory))


def state_type(memory: Any = NO_MEMORY) -> Any:
    """The type of a state with such a memory."""
    return _state_over(kind_of(memory))


@cache
def _state_over(kind: Kind) -> Any:
    """The type of a state with such a memory; asking the compiler takes longer than a small simulation."""
    return kernels.type_of(tables_like(kind)[0])


@cache
def _signature_over(kind: Kind) -> Any:
    return kernels.types.void(kernels.types.int64, _state_over(kind))


def compiled_loop(memory: Any = NO_MEMORY) -> Callable[..., int]:
    """The loop, compiled once for every kind of memory: policies are passed to it as values."""
    return interpreted_loop if kernels.INTERPRETED else _loop_over(kind_of(memory))


def interpreted_loop(hook: Callable[[int, State], None], state: State, world: World, instants: int) -> int:
    """The loop as plain Python. Our policies read single numbers, and lists and views give them faster."""
    if str(getattr(hook, "__module__", "")).startswith("headway."):
        tables = state._asdict()
        memory, profile = tables.pop("memory"), tables.pop("profile")
        views = {name: plain_numbers(table) for name, table in tables.items()}
        profile = type(profile)(*map(plain_numbers, profile))
        state, world = State(**views, profile=profile, memory=memory), World(*map(plain_numbers, world))
    code: int = clockwork.loop(hook, state, world, instants)  # type: ignore[no-untyped-call]
    return code


@cache
def _loop_over(kind: Kind) -> Callable[..., int]:
    """The loop for a kind of memory."""
    world = kernels.type_of(tables_like(kind_of(NO_MEMORY))[1])
    hook = kernels.function_type(_signature_over(kind))
    return kernels.with_signature(kernels.types.int64(hook, _state_over(kind), world, kernels.types.int64))(
        clockwork.loop
    )


@cache
def compiled_keyed_loop() -> Callable[..., int]:
    """The loop that lets a user's keys be computed before each pass."""
    if kernels.INTERPRETED:
        return clockwork.keyed_loop
    state, world = tables_like(kind_of(NO_MEMORY))
    hook = kernels.function_type(hook_signature())
    number = kernels.types.int64
    signature = number(hook, hook, kernels.type_of(state), kernels.type_of(world), number)
    return kernels.with_signature(signature)(clockwork.keyed_loop)


def compiled_hook(
    hook: Callable[[int, State], None], memory: Any = NO_MEMORY
) -> Callable[[int, State], None]:
    """A policy compiled for the loop."""
    done = kernels.INTERPRETED or hasattr(hook, "py_func")
    return hook if done else _compiled_as(hook, kind_of(memory))


@cache
def _compiled_as(hook: Callable[[int, State], None], kind: Kind) -> Callable[[int, State], None]:
    signature = _signature_over(kind)
    return kernels.found_at_once(kernels.with_signature(signature)(hook), signature)


def hook_as_value(hook: Callable[[int, State], None], memory: Any = NO_MEMORY) -> Any:
    """A policy compiled for the loop, for those who call the loop many times for a few instants each.

    What it raises is lost, so it is for policies that raise nothing.
    """
    return hook if kernels.INTERPRETED else _addressed(hook, kind_of(memory))


@cache
def _addressed(hook: Callable[[int, State], None], kind: Kind) -> Any:
    compiled = hook if hasattr(hook, "py_func") else _compiled_as(hook, kind)
    return kernels.Addressed(compiled, _signature_over(kind))
