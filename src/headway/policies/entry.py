"""A parameter of a policy: what it means and takes, how it is checked, and its value."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headway.errors import UsageError
from headway.grammar import Call, name_text, value_text
from headway.policies.composition import reason_against
from headway.units import DAY, LONGEST, SECOND
from headway.values import LARGEST

if TYPE_CHECKING:
    from headway.policies.policy import Policy
    from headway.policies.spec import Spec

UNITS_OF_TIME = {"seconds": SECOND, "days": DAY}
LARGEST_NUMBER = 1e15
"""Whole numbers of 64 bits hold no multiples of larger ones."""

Read = Callable[[object], "Spec"]
"""Gives the policy, or the function of the user's own, that a value means."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter in its policy's class: a choice of words, a number, a nested policy, or words and a number.

    ``low`` and ``high`` bound a number, both included unless ``open_low`` or ``open_high``. A parameter that
    ``follows`` another takes that one's value when it is not given. One that stands ``instead_of`` another
    has no default, and when it is given the other is gone. ``policies`` names those that may be nested here.
    With ``own_key`` a function of the user's may be given, with ``file`` the path of a file. An ``optional``
    one is absent unless it is given, which means its default where it has one. ``because`` says why other
    values are refused, where people may expect them.
    """

    doc: str
    default: str | int | float | None = None
    choices: tuple[str, ...] = ()
    number: type[int] | type[float] | None = None
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False
    unit: str = ""
    policies: tuple[str, ...] = ()
    follows: str = ""
    instead_of: str = ""
    own_key: bool = False
    file: bool = False
    optional: bool = False
    because: str = ""
    name: str = ""
    """Its name in the class."""

    def __set_name__(self, policy: type, name: str) -> None:
        object.__setattr__(self, "name", name)

    def __get__(self, policy: Policy | None, kind: type) -> Any:
        """The value that a policy has, a nested one as a policy; in the class the parameter itself."""
        if policy is None:
            return self
        value = policy.params.get(self.name, self.default)
        return value.policy if self.policies else value  # type: ignore[attr-defined]

    @property
    def accepts(self) -> str:
        """What may be given, in words: ``requested, exact or a number above 0``."""
        options = [*(self.policies or self.choices)]
        if self.number is not None:
            options.append(self._number_words())
        if self.own_key:
            options.append("a function of your own (./file.py:name)")
        if self.file:
            options.append("a file (./name)")
        return options[0] if len(options) == 1 else f"{', '.join(options[:-1])} or {options[-1]}"

    @property
    def default_words(self) -> str:
        """What it is when it is not given, in words."""
        if self.follows:
            return f"as {self.follows}"
        if self.optional and self.default is None:
            return "(only on nodes)"
        return f"(instead of {self.instead_of})" if self.instead_of else number_text(self.default)

    def check(self, value: object, policy: str, read: Read) -> object:
        """What was given to a policy as its spec holds it, or an error that says what is accepted."""
        because = f": {self.because}" if self.because else ""
        shown = repr(value) if isinstance(value, str) else value_text(value)
        wrong = UsageError(f"{policy}: {self.name} must be {self.accepts}, not {shown}{because}")
        if self.policies:
            if value is None or isinstance(value, int | float | list):
                raise wrong
            nested = read(value)
            if nested.name not in self.policies:
                raise UsageError(f"{wrong}{reason_against(policy, nested.name, nested.is_user)}")
            return nested
        if self.own_key and is_own(value):
            return read(Call(value) if isinstance(value, str) else value)
        if value is None:
            value = "none"
        if self.file and isinstance(value, str) and is_path(value):
            return value
        if isinstance(value, str):
            if value not in self.choices:
                raise wrong
            return math.inf if value == "inf" else value
        if self.number is None or isinstance(value, bool) or not isinstance(value, int | float):
            raise wrong
        if math.isinf(value) and value > 0 and "inf" in self.choices:
            return math.inf
        if not math.isfinite(value):
            raise wrong
        if self.number is int and (value != int(value) or abs(value) > LARGEST):
            raise wrong
        if value < self.low or (self.open_low and value == self.low):
            raise wrong
        if value > self.high or (self.open_high and value == self.high):
            raise wrong
        if fault := self._out_of_reach(value):
            raise UsageError(f"{policy}: {self.name} is {fault}: {shown}{self.unit and f' {self.unit}'}")
        return self.number(value)

    def _out_of_reach(self, value: float) -> str:
        """Why nobody can compute with a number that is allowed as such; empty if they can."""
        if self.unit in UNITS_OF_TIME:
            unit = UNITS_OF_TIME[self.unit]
            if value > LONGEST // unit:
                return "longer than can be kept"
            return "shorter than a microsecond" if self.open_low and round(value * unit) == 0 else ""
        if self.number is float and abs(value) > LARGEST_NUMBER:
            return f"larger than {LARGEST_NUMBER:g}, beyond which nothing can be computed exactly"
        return ""

    def _number_words(self) -> str:
        kind = "a whole number" if self.number is int else "a number"
        unit = f" of {self.unit}" if self.unit else ""
        limits = []
        if math.isfinite(self.low):
            limits.append(f"{'above' if self.open_low else 'of at least'} {number_text(self.low)}")
        if math.isfinite(self.high):
            limits.append(f"{'below' if self.open_high else 'of at most'} {number_text(self.high)}")
        return f"{kind}{unit}" + (f" {' and '.join(limits)}" if limits else "")


def is_own(value: object) -> bool:
    """Whether a value is Python of the user's, or names it: ``./mine.py:key``."""
    return callable(value) or ":" in (value if isinstance(value, str) else getattr(value, "name", ""))


def is_path(value: str) -> bool:
    """Whether a word can only be a file: ``./log.swf``, ``/logs/log.swf`` or ``log.swf``."""
    return "/" in value or "." in value


def number_text(value: object) -> str:
    """A value as specs write it: ``10`` for 10.0, ``inf`` for infinity."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return name_text(value) if isinstance(value, str) else str(value)
