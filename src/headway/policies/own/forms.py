"""A user's policy: found and made from its parameters, and how one given as a Python object is called."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from headway.errors import HeadwayError, UsageError
from headway.policies.own import faults
from headway.policies.own.compiled import Compiled
from headway.policies.own.faults import shown_path
from headway.policies.own.loading import find, source_of
from headway.policies.own.view import PUBLIC

if TYPE_CHECKING:
    from headway.policies.prepare import Arrivals, Prepared
    from headway.policies.spec import Spec


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


# Which form a user's policy has, and what the engine needs to run it.
#
# A function of the view or a class with ``decide`` runs in Python; a function marked with ``compiled`` is a
# hook like those of the catalogue.


@dataclass(frozen=True)
class Own:
    """A user's policy with its parameters filled in: a function, an object with ``decide``, or a hook."""

    policy: Any
    source: Mapping[str, Any]


def resolve(spec: Spec) -> Own:
    """The policy that a spec of a user's own means."""
    if spec.given is not None:
        return Own(_checked(spec.given, spec.name), source_of(spec.given))
    assert spec.attribute is not None
    thing = find(spec.file, spec.module, spec.attribute)
    return Own(_made(thing, dict(spec.params), spec.name), source_of(thing))


def _made(thing: Any, params: dict[str, Any], name: str) -> Any:
    """The policy made from a class or a function with these parameters."""
    if isinstance(thing, Compiled):
        return thing.with_options(params, name)
    if inspect.isclass(thing):
        return _checked(_constructed(thing, params, name), name)
    if not inspect.isroutine(thing):
        if params:
            raise UsageError(f"{name} is an object and takes no parameters, not {', '.join(params)}")
        return _checked(thing, name)
    accepted = parameters(thing)
    for key in params:
        if key not in accepted:
            raise unknown(name, key, accepted)
    return _checked(partial(thing, **params) if params else thing, name)


def _constructed(cls: type, params: dict[str, Any], name: str) -> Any:
    accepted = parameters(cls)
    for key in params:
        if key not in accepted and not _takes_any(cls):
            raise unknown(name, key, accepted)
    missing = [key for key, p in accepted.items() if p.default is p.empty and key not in params]
    if missing:
        raise UsageError(f"{name}: {', '.join(missing)} must be given, as in {name}({missing[0]}=1)")
    try:
        return cls(**params)
    except HeadwayError:
        raise
    except BaseException as error:
        place = faults.users_line(error.__traceback__) or name
        raise UsageError(f"{place}: {faults.error_words(error)} when {name} was made") from error


def parameters(thing: Any) -> dict[str, inspect.Parameter]:
    """The parameters a spec may give: a constructor's, or a function's after the view."""
    try:
        found = list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        return {}
    if not inspect.isclass(thing):
        found = found[1:]
    return {p.name: p for p in found if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}


def _takes_any(cls: type) -> bool:
    return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(cls).parameters.values())


def unknown(name: str, key: str, accepted: Iterable[str]) -> UsageError:
    """A parameter that there is not."""
    has = f"it has {', '.join(accepted) or 'none'}"
    return UsageError(f"{name} has no parameter {key!r}; {has}")


def _checked(thing: Any, name: str) -> Any:
    """The policy itself, if it can be asked for decisions."""
    if isinstance(thing, Compiled):
        return thing
    decide = getattr(thing, "decide", thing)
    if inspect.isclass(thing):
        raise UsageError(f"{name} is a class; give an object of it, {thing.__name__}()")
    if not callable(decide):
        raise UsageError(
            f"{name}: this is not a policy; write a function of the view, a class with decide(self, view) "
            "or a function (t, state) marked with @compiled"
        )
    try:
        inspect.signature(decide).bind(object())
    except TypeError as error:
        raise UsageError(f"{faults.defined_at(thing)}: {_call_of(thing, decide, error)}") from None
    except ValueError:
        pass  # a builtin without a signature
    return thing


def _call_of(thing: Any, decide: Any, error: TypeError) -> str:
    """How a policy must be written to be called, where it cannot be called with the view alone."""
    function = inspect.unwrap(decide)
    if inspect.ismethod(function):
        return f"a policy's method is written decide(self, view): {error}"
    if list(inspect.signature(function).parameters) == ["t", "state"]:
        return "a policy with the parameters t and state is compiled; write @compiled above it"
    return f"a policy is called with the view alone, def mine(view): {error}"


def prepare_own(spec: Spec, arrivals: Arrivals, procs: int) -> Prepared:
    """Everything the engine needs to run a user's policy."""
    from headway.engine.setup import Setup
    from headway.policies.own.passes import PythonPolicy
    from headway.policies.prepare import Prepared

    own = resolve(spec)
    if isinstance(own.policy, Compiled):
        setup = own.policy.setup(arrivals, procs)
    else:
        columns = {name: arrivals.columns[name] for name in PUBLIC if name in arrivals.columns}
        setup = Setup((procs,), _no_hook, drive=PythonPolicy(own.policy, columns))
    return Prepared(setup, arrivals.walltime, source=dict(own.source))


def _no_hook(t: int, state: object) -> None:
    """In the place of the compiled hook, which a policy in Python does not have."""
