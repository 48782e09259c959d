"""Policy specs: ``easy(backfill=sjf)`` as text, checked against the catalogue, and back.

parse_spec("easy(backfill=sjf)")            a policy of the catalogue, all parameters filled in
parse_spec("./mine.py:Mine(k=3)")           a user's own, from a file; parameters are passed on as they are
parse_spec("package.module:Mine")           the same from an installed module
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from headway.errors import UsageError
from headway.grammar import LARGEST, Call, Value, parse_call, value_text
from headway.policies.catalogue import ALIASES, POLICIES, Parameter, PolicyInfo
from headway.policies.composition import reason_against
from headway.policies.entry import number_text
from headway.policies.own.key import Key, key_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from headway.policies.policy import Policy


@dataclass(frozen=True)
class Spec:
    """A policy with its parameters; ``str()`` is the canonical text, which parses back to the same spec.

    ``params`` holds every parameter, defaults included; one that another stands instead of is absent. Words
    are texts, numbers are int, float or ``math.inf``, nested policies are specs. For a user's policy they are
    what was given, ``file`` is the Python file or ``module`` the module, and ``attribute`` the name in it.
    """

    name: str
    params: Mapping[str, object] = field(default_factory=dict)
    file: str | None = None
    module: str | None = None
    attribute: str | None = None
    given: object | None = field(default=None, compare=False)
    """The policy itself, where it was handed over in Python and not named by a text."""

    @property
    def is_user(self) -> bool:
        """Whether it comes from a user's file or module and not from the catalogue."""
        return self.attribute is not None

    @cached_property
    def uses_own(self) -> bool:
        """Whether Python of the user's is part of it: the policy, or a key in a parameter."""
        values = self.params.values()
        return self.is_user or any(
            isinstance(value, Key) or (isinstance(value, Spec) and value.uses_own) for value in values
        )

    @cached_property
    def policy(self) -> Policy:
        """The policy itself, which knows all that is asked of it."""
        from headway.policies.policy import policy_of

        return policy_of(self)

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
        given = {
            key: value
            for key, value in self.params.items()
            if key in self.files()
            or value
            != (self.params.get(follows) if (follows := _follows(self.name, key)) else defaults.get(key))
        }
        return self._text(given, full=False)

    def files(self) -> dict[str, str]:
        """Parameters of the catalogue's policies that name files, such as a trained agent's."""
        if self.is_user:
            return {}
        named = [parameter.name for parameter in POLICIES[self.name].parameters if parameter.file]
        given = {name: self.params.get(name) for name in named}
        return {name: value for name, value in given.items() if isinstance(value, str) and is_path(value)}

    def _text(self, params: Mapping[str, object], full: bool) -> str:
        items = ", ".join(f"{key}={self._value(value, full)}" for key, value in params.items())
        return f"{self.name}({items})" if items else self.name

    def _value(self, value: object, full: bool) -> str:
        if isinstance(value, Spec):
            return str(value) if full else value.brief
        return value_text(value) if self.is_user else number_text(value)


def parse_spec(text: str | Spec | object) -> Spec:
    """The policy that a text names, every parameter checked; a spec is returned as it is.

    Anything else is taken for a policy of the user's own, given as a Python object.
    """
    if isinstance(text, Spec):
        return text
    if not isinstance(text, str):
        return _given(text)
    if not text.strip():
        raise UsageError(f"the policy is empty; {_known_policies()}")
    try:
        return _from_call(parse_call(text))
    except RecursionError:
        raise UsageError(f"the policy {text[:40]!r}... is nested too deeply") from None


def policy(name: str, /, **params: object) -> Spec:
    """A policy by name with its parameters, which may be functions: ``policy("easy", order=my_key)``."""
    if ":" in name or name in _offered(name):
        return _from_call(Call(name, (), dict(params)))  # type: ignore[arg-type]
    return make_spec(name, **params)


def make_spec(name: str, **params: object) -> Spec:
    """The spec of a policy of the catalogue with these parameters; values may be texts, numbers or specs."""
    info = _find(name)
    for key in params:
        if info.parameter(key) is None:
            raise _unknown_parameter(info, key)
    checked: dict[str, object] = {}
    for parameter in info.parameters:
        if parameter.name in params:
            checked[parameter.name] = _check(info, parameter, params[parameter.name])
            if parameter.instead_of:
                if parameter.instead_of in params:
                    raise UsageError(
                        f"{info.name}: give either {parameter.instead_of} or {parameter.name}, not both"
                    )
                checked.pop(parameter.instead_of, None)
        elif parameter.follows:
            checked[parameter.name] = checked[parameter.follows]
        elif not (parameter.instead_of or parameter.optional):
            checked[parameter.name] = _check(info, parameter, parameter.default)
    return Spec(info.name, checked)


def _from_call(call: Call) -> Spec:
    if call.args:
        raise UsageError(
            f"{call.name}: write parameters as name=value, not {value_text(call.args[0])!r} alone"
        )
    if call.name.endswith(".npz"):
        return make_spec("agent", file=call.name, **call.kwargs)
    if ":" in call.name:
        return _user(call)
    point = _offered(call.name).get(call.name)
    if point is not None:
        params = {key: _user_value(value) for key, value in call.kwargs.items()}
        return Spec(call.name, params, module=point.module, attribute=point.attr)
    return make_spec(call.name, **call.kwargs)


def _offered(name: str) -> dict[str, EntryPoint]:
    """Policies of installed packages; ours come first, and then nobody else is asked."""
    if name in POLICIES or name in ALIASES:
        return {}
    from headway.policies.own.offered import offered

    return offered()


def _given(policy: object) -> Spec:
    from headway.policies.own.described import describe

    name, params, file = describe(policy)
    return Spec(name, params, file=file, attribute=name.rpartition(":")[2], given=policy)


def _user(call: Call) -> Spec:
    # The last colon: a drive letter may hold another.
    home, _, attribute = call.name.rpartition(":")
    if not home or not attribute.isidentifier():
        raise UsageError(f"{call.name!r}: a policy of your own is written ./file.py:Name or module:Name")
    params = {key: _user_value(value) for key, value in call.kwargs.items()}
    if home.endswith(".py"):
        return Spec(call.name, params, file=home, attribute=attribute)
    if "/" in home or not all(part.isidentifier() for part in home.split(".")):
        raise UsageError(f"{call.name!r}: {home!r} is neither a Python file (.py) nor the name of a module")
    return Spec(call.name, params, module=home, attribute=attribute)


def _user_value(value: Value) -> object:
    if isinstance(value, Call):
        return _from_call(value)
    return [_user_value(item) for item in value] if isinstance(value, list) else value


def _find(name: str) -> PolicyInfo:
    info = POLICIES.get(ALIASES.get(name, name))
    if info is not None:
        return info
    if name.endswith(".py"):
        raise UsageError(f"{name!r} names a file but no policy in it; write {name}:Name")
    raise UsageError(f"there is no policy {name!r}{_close(name, [*POLICIES, *ALIASES])}; {_known_policies()}")


def _check(info: PolicyInfo, parameter: Parameter, value: object) -> object:
    """The value as params hold it, or an error that says what is accepted."""
    because = f": {parameter.because}" if parameter.because else ""
    wrong = UsageError(
        f"{info.name}: {parameter.name} must be {parameter.accepts}, not {_shown(value)}{because}"
    )
    if parameter.policies:
        nested = _nested(value)
        if nested is None or nested.name not in parameter.policies:
            why = "" if nested is None else reason_against(info.name, nested.name, nested.is_user)
            raise UsageError(f"{wrong}{why}")
        return nested
    if parameter.own_key and (key := key_of(value)) is not None:
        return key
    if value is None:
        value = "none"
    if parameter.file and isinstance(value, str) and is_path(value):
        return value
    if isinstance(value, str):
        if value not in parameter.choices:
            raise wrong
        return math.inf if value == "inf" else value
    if parameter.number is None or isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong
    if math.isinf(value) and value > 0 and "inf" in parameter.choices:
        return math.inf
    if not math.isfinite(value):
        raise wrong
    if parameter.number is int and (value != int(value) or abs(value) > LARGEST):
        raise wrong
    if value < parameter.low or (parameter.open_low and value == parameter.low):
        raise wrong
    if value > parameter.high or (parameter.open_high and value == parameter.high):
        raise wrong
    return parameter.number(value)


def is_path(value: str) -> bool:
    """Whether a word can only be a file: ``./log.swf``, ``/logs/log.swf`` or ``log.swf``."""
    return "/" in value or "." in value


def _nested(value: object) -> Spec | None:
    if isinstance(value, Call):
        return _from_call(value)
    return parse_spec(value) if isinstance(value, str | Spec) else None


def _follows(name: str, key: str) -> str:
    parameter = POLICIES[name].parameter(key)
    return parameter.follows if parameter else ""


def _shown(value: object) -> str:
    return repr(value) if isinstance(value, str) else value_text(value)


def _unknown_parameter(info: PolicyInfo, key: str) -> UsageError:
    names = [parameter.name for parameter in info.parameters]
    return UsageError(f"{info.name} has no parameter {key!r}{_close(key, names)}; it has {', '.join(names)}")


def _known_policies() -> str:
    return f"there are {', '.join(POLICIES)}, and your own as ./file.py:Name"


def _close(word: str, known: list[str]) -> str:
    close = get_close_matches(word.lower(), known, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
