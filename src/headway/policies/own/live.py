"""What a policy of the user's own needs to run where jobs come one by one, and what cannot be given there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headway.engine.compiled import compiled_hook
from headway.engine.local import Local
from headway.engine.tables import State
from headway.policies.backfilling.easy import Rule, easy, easy_sorted
from headway.policies.own import faults
from headway.policies.own.compiled import Compiled
from headway.policies.own.forms import resolve
from headway.policies.own.joining import CompiledHook, Hook, KeyedHook, Known, PythonHook
from headway.policies.own.keyed import PLACES, stand_ins
from headway.policies.own.keys import key_functions
from headway.policies.own.moving_keys import KEY_ROWS
from headway.policies.queueing.ordering import AS_ORDER, BACKFILL_ORDER, GIVEN, ORDER, sorted_kind_of

if TYPE_CHECKING:
    from headway.policies.prepare import Arrivals, Prepared
    from headway.policies.spec import Spec


def no_request(t: int, state: State, job: int, which: int) -> None:
    """Requests to a policy of the user's own go to its hook."""


def reason_against(spec: Spec) -> str:
    """Why a policy of the user's own cannot have what it asks for on a live cluster; empty if it can."""
    if not spec.is_user:
        return ""
    policy = resolve(spec).policy
    if isinstance(policy, Compiled) and policy.tables is not None:
        return "lays its tables out by the jobs of a log, and here jobs are not known before they come"
    return ""


def stops_jobs(spec: Spec) -> bool:
    """Whether a compiled policy of the user's own may stop running jobs; one in Python is asked each time."""
    policy = resolve(spec).policy if spec.is_user else None
    code = faults.code_of(policy) if isinstance(policy, Compiled) else None
    return code is not None and "kill" in code.co_names


def own_hook(spec: Spec, prepared: Prepared, known: Known, may_stop: bool) -> Hook:
    """A whole policy of the user's."""
    policy = resolve(spec).policy
    if isinstance(policy, Compiled):
        hook = compiled_hook(prepared.setup.hook, prepared.setup.memory)
        return CompiledHook(hook, faults.defined_at(policy))
    return PythonHook(policy, prepared.setup.pools[0], known, may_stop)


def keyed_hook(spec: Spec, prepared: Prepared, local: Local, known: Known) -> Hook:
    """A policy of the catalogue that keys of the user's order."""
    found = key_functions(spec)
    rows = {list(PLACES).index(name): key for name, key in found.items() if name in PLACES}
    if spec.params.get("backfill") == spec.params.get("order"):
        rows.pop(1, None)  # one queue for both
    hook = compiled_hook(prepared.setup.hook, prepared.setup.memory)
    return KeyedHook(hook, local.request, rows, found.get("estimate"), known)


def prepare_joining_keys(spec: Spec, arrivals: Arrivals, procs: int) -> Prepared:
    """The policy with orders that are sorted at each pass, by keys that are written down before it."""
    found = key_functions(spec)
    orders = {name: key for name, key in found.items() if name in PLACES}
    changed: dict[str, Any] = dict(stand_ins(spec, orders))
    if "estimate" in found:
        changed["estimate"] = "exact"  # the request, until the hook writes the estimate down
    plain = replace(spec, params={**spec.params, **changed})
    prepared = plain.policy.prepare(arrivals, procs)
    options = [int(option) for option in prepared.setup.options]
    names = {"order": ORDER, "backfill": BACKFILL_ORDER}
    for name, option in names.items():
        if name in orders:
            options[option] = GIVEN + list(PLACES).index(name)
        elif name in plain.params and options[option] != AS_ORDER:
            options[option] = sorted_kind_of(plain.word(name))
    if spec.params.get("backfill", "") == spec.params.get("order"):
        options[BACKFILL_ORDER] = AS_ORDER
    if "estimate" in found:
        options[Rule.NEWCOMERS_ONLY] = 0  # that shortcut needs estimates that no job outlives
    hook = easy_sorted if prepared.setup.hook is easy else prepared.setup.hook
    setup = replace(prepared.setup, options=tuple(options), hook=hook, more_rows=KEY_ROWS)
    return replace(prepared, setup=setup, promise_kind="")
