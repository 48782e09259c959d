"""Slurm's parameters: what a site has set, with Slurm's defaults behind it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from headway.errors import InputError
from headway.site import values
from headway.site.entries import Entry
from headway.site.parameters import BEFORE, DEFAULTS, FORMER, IN_SECONDS, SCHEDULER, VERSION, Version
from headway.units import LONGEST, SECOND
from headway.values import LARGEST

_VERSION = re.compile(r"\s*(\d\d)\.(\d\d?)(?:[.-](\d+))?(?![\d.]*\d)")
CORRECT = "correct it, or take it out for Slurm's default"


class Config(Mapping[str, str]):
    """Parameters by name in any case; iterating gives those that the site sets, `get` Slurm's defaults too.

    >>> Config.of({"priorityweightage": "10"}).get("PriorityWeightAge"), Config.of({}).get("KillWait")
    ('10', '30')
    """

    def __init__(self, entries: Iterable[tuple[str, str, Entry | None]] = ()) -> None:
        self._set: dict[str, tuple[str, str, Entry | None]] = {}
        for key, value, entry in entries:
            self._set[key.lower()] = (key, value, entry)

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> Config:
        """Parameters given by hand."""
        return cls((key, str(value), None) for key, value in parameters.items())

    def with_value(self, key: str, value: str) -> Config:
        """The same with another value of one parameter."""
        kept = [one for name, one in self._set.items() if name != key.lower()]
        return Config([*kept, (key, value, None)])

    def __getitem__(self, key: str) -> str:
        found = self._set.get(key.lower())
        return found[1] if found is not None else self._default(key.lower())

    def get(self, key: str, default: str | None = None) -> str:  # type: ignore[override]
        """A parameter as text: the site's, else `default`, else Slurm's default, else nothing."""
        found = self._set.get(key.lower())
        if found is not None and not values.nothing(found[1]):
            return found[1]
        return self._default(key.lower()) if default is None else default

    def _default(self, key: str) -> str:
        """What Slurm takes where a parameter is not set, in the site's version."""
        since, before = BEFORE.get(key, ((0, 0, 0), ""))
        return before if self.version is not None and self.version < since else DEFAULTS.get(key, "")

    @cached_property
    def version(self) -> Version | None:
        """The version of Slurm, 99 for the last number where there is none; None where nothing tells it."""
        text = self._set.get(VERSION.lower(), ("", "", None))[1]
        if values.nothing(text):
            return None
        found = _VERSION.match(text)
        if found is None:
            raise self.error(
                f"{text!r} is not a version of Slurm, such as 24.11 or 24.11.5; {CORRECT}", VERSION
            )
        return int(found[1]), int(found[2]), int(found[3] or 99)

    def __iter__(self) -> Iterator[str]:
        return (spelled for spelled, _, _ in self._set.values())

    def __len__(self) -> int:
        return len(self._set)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key.lower() in self._set

    def where(self, key: str) -> str:
        """File and line of a parameter that the site sets."""
        entry = self._set[key.lower()][2]
        return "" if entry is None else entry.where

    def number(self, key: str) -> int:
        """A whole number; 0 where nothing is set, for which scontrol may say UNLIMITED."""
        text = self.get(key)
        if values.endless(text):
            return 0
        try:
            found = int(float(text.split()[0])) if text.strip() else 0
        except ValueError:
            raise self.error(f"{text!r} is not a whole number; {CORRECT}", key) from None
        except OverflowError:
            raise self.error(f"is a number out of range; {CORRECT}", key) from None
        if not 0 <= found <= LARGEST:
            raise self.error(f"is a number out of range; {CORRECT}", key)
        return found

    def seconds(self, key: str) -> int | None:
        """Seconds of a time; None where it is unlimited. A bare number counts what Slurm says it does."""
        text = self.get(key)
        if values.endless(text):
            return None
        try:
            found = values.seconds(text or "0", 1 if key.lower() in IN_SECONDS else 60)
        except ValueError as error:
            raise self.error(str(error), key) from None
        if found is not None and found > LONGEST // SECOND:
            raise self.error(f"is longer than can be kept; {CORRECT}", key)
        return found

    def weights(self, key: str) -> dict[str, float]:
        """Weights of resources."""
        try:
            return values.weights(self.get(key))
        except ValueError as error:
            raise self.error(str(error), key) from None

    def list(self, key: str) -> tuple[str, ...]:
        """The words of a list between commas, in upper case."""
        return tuple(word.upper() for word in values.names(self.get(key)))

    def error(self, message: str, key: str) -> InputError:
        """A sentence about a parameter."""
        entry = self._set.get(key.lower(), ("", "", None))[2]
        return InputError(message, field=key) if entry is None else entry.error(message, key)


def scheduler_parameters(config: Config) -> dict[str, str]:
    """SchedulerParameters taken apart: name -> value, "" for those that are only switched on.

    What newer versions have in PreemptParameters and DependencyParameters stands there under the names that
    it had before, and what has another name now under that.
    """
    found: dict[str, str] = {}
    if "KILL_INVALID_DEPEND" in config.list("DependencyParameters"):
        found["kill_invalid_depend"] = ""
    for part in values.names(config.get("PreemptParameters")):
        name, _, value = part.partition("=")
        if f"preempt_{name.strip().lower()}" in SCHEDULER:
            found[f"preempt_{name.strip().lower()}"] = value.strip()
    for part in values.names(config.get("SchedulerParameters")):
        name, _, value = part.partition("=")
        found[FORMER.get(name.strip().lower(), name.strip().lower())] = value.strip()
    return found
