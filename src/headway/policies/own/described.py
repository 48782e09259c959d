"""How a policy given as a Python object is called in results: file, name and parameters, as in a spec."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

from headway.errors import UsageError
from headway.policies.own.compiled import Compiled
from headway.policies.own.faults import shown_path

PLAIN = (int, float, str, bool, type(None))


def describe(policy: Any) -> tuple[str, dict[str, object], str | None]:
    """Name as ``./file.py:Name``, parameters and file of a policy."""
    if inspect.isclass(policy):
        raise UsageError(f"{policy.__name__} is a class; give an object of it, {policy.__name__}()")
    target, params = policy, dict[str, object]()
    if isinstance(policy, Compiled):
        target, params = policy.hook, dict(policy.options)
    elif isinstance(policy, partial):
        target, params = policy.func, dict(policy.keywords)
    elif not inspect.isroutine(policy):
        target, params = type(policy), _settings(policy)
    if not callable(getattr(policy, "decide", policy)):
        raise UsageError(
            f"{policy!r:.60} is not a policy; give a spec such as 'easy', a function of the "
            f"view, or an object "
            "with a method decide(view)"
        )
    name = (
        getattr(target, "__qualname__", type(target).__qualname__)
        .replace("<locals>.", "")
        .replace("<lambda>", "policy")
    )
    try:
        file = inspect.getsourcefile(target)
    except TypeError:
        file = None
    shown = shown_path(file) if file else None
    if shown is not None and not shown.startswith(("/", ".")) and shown[1:2] != ":":
        shown = f"./{shown}"
    home = shown if shown is not None and shown.endswith(".py") else "python"
    return f"{home}:{name}", {key: _plain(value) for key, value in params.items()}, file


def _settings(policy: Any) -> dict[str, object]:
    """The constructor's parameters as far as the object keeps them under the same names."""
    try:
        names = inspect.signature(type(policy)).parameters
    except (TypeError, ValueError):
        return {}
    return {name: getattr(policy, name) for name in names if hasattr(policy, name)}


def _plain(value: object) -> object:
    return value if isinstance(value, PLAIN) else repr(value)
