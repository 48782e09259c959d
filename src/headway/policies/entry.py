"""What the catalogue says of a policy and of each of its parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: a choice of words, a number, a nested policy, or a mixture of words and number.

    ``low`` and ``high`` bound a number, both included unless ``open_low`` or ``open_high``. A parameter that
    ``follows`` another takes that one's value when it is not given. One that stands ``instead_of`` another
    has no default, and when it is given the other is gone. ``policies`` names those that may be nested here.
    With ``own_key`` a function of the user's may be given, with ``file`` the path of a file. An ``optional``
    one is absent unless it is given, which means its default where it has one. ``because`` says why other
    values are refused, where people may expect them.
    """

    name: str
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

    def _number_words(self) -> str:
        kind = "a whole number" if self.number is int else "a number"
        unit = f" of {self.unit}" if self.unit else ""
        limits = []
        if math.isfinite(self.low):
            limits.append(f"{'above' if self.open_low else 'of at least'} {number_text(self.low)}")
        if math.isfinite(self.high):
            limits.append(f"{'below' if self.open_high else 'of at most'} {number_text(self.high)}")
        return f"{kind}{unit}" + (f" {' and '.join(limits)}" if limits else "")


@dataclass(frozen=True, slots=True)
class PolicyInfo:
    """One policy: its name, what it does in a sentence, its parameters and the papers to cite.

    ``needs`` says in a few words each what must be there besides a log and a number of processors.
    """

    name: str
    summary: str
    citation: tuple[str, ...]
    parameters: tuple[Parameter, ...] = ()
    aliases: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    details: str = ""
    example: str = ""
    home: str = ""
    """``module:Class`` of the policy itself, which is imported when it is asked for something."""

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of that name, or None."""
        return next((parameter for parameter in self.parameters if parameter.name == name), None)


def number_text(value: object) -> str:
    """A value as specs write it: ``10`` for 10.0, ``inf`` for infinity."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
