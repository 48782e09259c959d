"""Policy specs: ``easy(backfill=sjf)`` as text, checked against the catalogue, and back.

parse_spec("easy(backfill=sjf)")            a policy of the catalogue, all parameters filled in
parse_spec("./mine.py:Mine(k=3)")           a user's own, from a file; parameters are passed on as they are
parse_spec("package.module:Mine")           the same from an installed module
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from headway.errors import UsageError
from headway.grammar import Call, name_text, parse_call, value_text
from headway.plain import close
from headway.policies.entry import is_path, number_text

if TYPE_CHECKING:
    from headway.policies.policy import Policy


@dataclass(frozen=True)
class Spec:
    """A policy with its parameters; ``str()`` is the canonical text, which parses back to the same spec.

    ``params`` holds every parameter, defaults included; one that another stands instead of is absent. Words
    are texts, numbers are int, float or ``math.inf``, nested policies and functions of the user's own are
    specs. For a user's policy they are what was given, ``file`` is the Python file or ``module`` the module,
    and ``attribute`` the name in it.
    """

    name: str
    params: Mapping[str, object] = field(default_factory=dict)
    file: str | None = None
    module: str | None = None
    attribute: str | None = None
    given: object | None = None
    """The policy or function itself, where it was handed over in Python and not named by a text."""

    @property
    def is_user(self) -> bool:
        """Whether it comes from a user's file or module and not from the catalogue."""
        return self.attribute is not None

    @cached_property
    def uses_own(self) -> bool:
        """Whether Python of the user's is part of it: the policy, or a key in a parameter."""
        nested = (value for value in self.params.values() if isinstance(value, Spec))
        return self.is_user or any(value.uses_own for value in nested)

    @property
    def keys(self) -> dict[str, Spec]:
        """The parameters that are functions of the user's own, such as ``order=./mine.py:key``."""
        named = self.params.items()
        return {name: value for name, value in named if isinstance(value, Spec) and value.is_user}

    @cached_property
    def policy(self) -> Policy:
        """The policy itself, which knows all that is asked of it."""
        if self.is_user:
            own: Policy = _found("headway.policies.own.policy:Own")(self)
            return own
        plain = _policies()[self.name](self)
        if not self.uses_own or plain.nests:
            return plain
        keyed: Policy = _found("headway.policies.own.policy:Keyed")(self, plain)
        return keyed

    def word(self, name: str) -> str:
        """A parameter that is a word."""
        value = self.params[name]
        assert isinstance(value, str), (self.name, name, value)
        return value

    def number(self, name: str) -> float:
        """A parameter that is a number; it may be infinite."""
        value = self.params[name]
        assert isinstance(value, int | float), (self.name, name, value)
        return value

    def whole(self, name: str) -> int:
        """A parameter that is a whole number."""
        value = self.params[name]
        assert isinstance(value, int), (self.name, name, value)
        return value

    def fraction(self, name: str) -> Fraction:
        """A number as the decimal that was written, exactly."""
        return Fraction(str(self.params[name]))

    def nested(self, name: str) -> Spec:
        """A parameter that is a policy."""
        value = self.params[name]
        assert isinstance(value, Spec), (self.name, name, value)
        return value

    def __str__(self) -> str:
        return self._canonical

    @cached_property
    def _canonical(self) -> str:
        return self._text(self.params, full=True)

    def __hash__(self) -> int:
        return hash(self._canonical)

    @property
    def brief(self) -> str:
        """The shortest text that means the same: defaults are left out."""
        if self.is_user:
            return str(self)
        defaults = make_spec(self.name).params
        follows = {parameter.name: parameter.follows for parameter in _policies()[self.name].parameters}
        given = {
            key: value
            for key, value in self.params.items()
            if key in self.files()
            or value != (self.params.get(follows[key]) if follows[key] else defaults.get(key))
        }
        return self._text(given, full=False)

    def files(self) -> dict[str, str]:
        """Parameters of the catalogue's policies that name files, such as a trained agent's."""
        if self.is_user:
            return {}
        named = [parameter.name for parameter in _policies()[self.name].parameters if parameter.file]
        given = {name: self.params.get(name) for name in named}
        return {name: value for name, value in given.items() if isinstance(value, str) and is_path(value)}

    def _text(self, params: Mapping[str, object], full: bool) -> str:
        items = ", ".join(f"{key}={self._value(value, full)}" for key, value in params.items())
        return f"{name_text(self.name)}({items})" if items else name_text(self.name)

    def _value(self, value: object, full: bool) -> str:
        if isinstance(value, Spec):
            return str(value) if full else value.brief
        return value_text(value) if self.is_user else number_text(value)


def parse_spec(text: str | Spec | Call | object) -> Spec:
    """The policy that a text names, every parameter checked; a spec is returned as it is.

    Anything else is taken for a policy of the user's own, given as a Python object.
    """
    if isinstance(text, Spec):
        return text
    if isinstance(text, str):
        return _from_call(_parsed(text))
    if isinstance(text, Call):
        return _from_call(text)
    from headway.policies.own.forms import describe

    name, params, file = describe(text)
    return Spec(name, params, file=file, attribute=name.rpartition(":")[2], given=text)


def policy(name: str, /, **params: object) -> Spec:
    """A policy by name with its parameters, which may be functions: ``policy("easy", order=my_key)``."""
    return _from_call(Call(name, (), dict(params)))  # type: ignore[arg-type]


def make_spec(name: str, **params: object) -> Spec:
    """The spec of a policy of the catalogue with these parameters; values may be texts, numbers or specs."""
    info = _policies().get(_aliases().get(name, name))
    if info is not None:
        return Spec(info.name, info.complete(params, parse_spec))
    if name.endswith(".py"):
        raise UsageError(f"{name!r} names a file but no policy in it; write {name}:Name")
    raise UsageError(
        f"there is no policy {name!r}{close(name, [*_policies(), *_aliases()])}; {_known_policies()}"
    )


def by_site_rules(policy: str) -> bool:
    """Whether the policy of a schedule goes by its site's own rules."""
    try:
        return parse_spec(policy).policy.by_site_rules
    except UsageError:
        return False


def _parsed(text: str) -> Call:
    if not text.strip():
        raise UsageError(f"the policy is empty; {_known_policies()}")
    return parse_call(text)


def _from_call(call: Call) -> Spec:
    if call.args:
        raise UsageError(
            f"{call.name}: write parameters as name=value, not {value_text(call.args[0])!r} alone"
        )
    if call.name.endswith(".npz"):
        return make_spec("agent", file=call.name, **call.kwargs)
    is_ours = call.name in _policies() or call.name in _aliases()
    if ":" in call.name:
        file, module, attribute = _place(call.name)
    elif not is_ours and (point := _found("headway.policies.catalogue:offered")().get(call.name)) is not None:
        file, module, attribute = None, point.module, point.attr
    else:
        return make_spec(call.name, **call.kwargs)
    params = {key: _user_value(value) for key, value in call.kwargs.items()}
    return Spec(call.name, params, file, module, attribute)


def _place(name: str) -> tuple[str | None, str | None, str]:
    """File or module of the user's, and the name in it."""
    # The last colon: a drive letter may hold another.
    home, _, attribute = name.rpartition(":")
    if not home or not all(part.isidentifier() for part in attribute.split(".")):
        raise UsageError(f"{name!r}: a policy of your own is written ./file.py:Name or module:Name")
    if home.endswith(".py"):
        return home, None, attribute
    if "/" in home or not all(part.isidentifier() for part in home.split(".")):
        raise UsageError(f"{name!r}: {home!r} is neither a Python file (.py) nor the name of a module")
    return None, home, attribute


def _user_value(value: object) -> object:
    if isinstance(value, Call):
        return _from_call(value)
    return [_user_value(item) for item in value] if isinstance(value, list) else value


def _known_policies() -> str:
    return f"there are {', '.join(_policies())}, and your own as ./file.py:Name"


@cache
def _found(home: str) -> Any:
    """What stands in a module, imported at use: policies are made of specs, and so come after them."""
    module, _, name = home.partition(":")
    return getattr(import_module(module), name)


def _policies() -> dict[str, type[Policy]]:
    found: dict[str, type[Policy]] = _found("headway.policies.catalogue:POLICIES")
    return found


def _aliases() -> dict[str, str]:
    found: dict[str, str] = _found("headway.policies.catalogue:ALIASES")
    return found
