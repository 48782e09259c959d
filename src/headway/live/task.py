"""A task: the command that a client wants to be run, on how many processors, and for how long.

A command is a list of words, never a line for a shell. In each word, and in a script, ``{procs}`` stands for
the processors that the task got and ``{cluster}`` for the cluster it runs on.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, fields
from typing import Any

from headway.errors import UsageError
from headway.plain import cut
from headway.units import DAY, LATEST, LONGEST
from headway.values import fits

PLACES = re.compile(r"\{(procs|cluster)\}")
LONGEST_TEXT = 1 << 20
"""Characters that a script, or all words of a command, may have at most."""
MOST_FORMS = 64
"""Forms of a task: each is tried on each cluster whenever somebody asks when the task would end."""
MOST_PROCS = 1 << 40
"""Processors of a task are fewer."""
LONGEST_TIME = 100 * 365 * DAY
"""A walltime is shorter; on a slow cluster, or on few processors, it becomes many times as long."""


@dataclass(frozen=True)
class Task:
    """What a client asks for. Times in µs on a cluster of speed 1."""

    command: tuple[str, ...] = ()
    procs: int = 1
    walltime: int = 0
    """On ``procs`` processors, without staging."""
    name: str = ""
    script: str = ""
    """The text of a script in place of a command; it begins with #! and its interpreter."""
    parallel_fraction: float | None = None
    """The part that is parallel: other sizes than ``procs`` are allowed, with times by the law of speedup."""
    max_procs: int | None = None
    forms: tuple[tuple[int, int], ...] = ()
    """(processors, walltime) of each form, where the user knows them: in place of a parallel fraction."""
    folder: str = ""
    """Where the command runs."""
    stage: tuple[str, ...] = ()
    """A command that brings the inputs, run before the task."""
    stage_time: int = 0
    """How long staging takes (µs), part of every estimate and of the walltime."""
    deadline: int | None = None
    """The latest end (µs since 1970, or on the clock of a simulation), for policies that keep deadlines."""
    urgent: bool = False
    memory_mb: int | None = None
    runtime: int | None = None
    """How long it really takes: for clusters that are simulated."""
    cluster: str = ""
    """The only cluster it may run on; empty: any."""

    def __post_init__(self) -> None:
        for name in ("command", "stage"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        # Of forms with as many processors the longest counts.
        forms = dict(sorted((int(n), int(w)) for n, w in set(map(tuple, self.forms))))
        object.__setattr__(self, "forms", tuple(forms.items()))
        self._check()

    def _check(self) -> None:
        words = (*self.command, *self.stage, self.script, self.name, self.folder, self.cluster)
        if not all(isinstance(word, str) for word in words):
            raise UsageError("a task's command is a list of texts")
        if any("\0" in word for word in words) or sum(map(len, words)) > LONGEST_TEXT:
            raise UsageError(f"a task's command has a zero byte, or more than {LONGEST_TEXT} characters")
        if not all(map(_can_be_written, words)):
            raise UsageError("a task's command has a character that is none: half of one, in UTF-16")
        if bool(self.command) == bool(self.script):
            raise UsageError("a task needs a command or a script, and not both")
        if self.script and not self.script.startswith("#!"):
            raise UsageError("a script must begin with #! and its interpreter, such as #!/bin/sh")
        if len(self.forms) > MOST_FORMS:
            raise UsageError(f"a task has at most {MOST_FORMS} forms, not {len(self.forms)}")
        if self.procs < 1:
            raise UsageError(f"a task needs at least one processor, not {self.procs}")
        self._check_range("procs", self.procs, 1, MOST_PROCS)
        times = [self.walltime, *(walltime for _, walltime in self.forms)]
        if not all(time > 0 for time in times):
            raise UsageError("a task needs a walltime above 0; give it with --walltime")
        self._check_range("walltime", max(times), 1, LONGEST_TIME)
        self._check_range("stage_time", self.stage_time, 0, LONGEST_TIME)
        self._check_range("deadline", self.deadline, 0, LATEST)
        self._check_range("runtime", self.runtime, 0, LONGEST)
        self._check_range("memory_mb", self.memory_mb, 1, 1 << 40)
        self._check_range("max_procs", self.max_procs, 1, MOST_PROCS)
        if self.parallel_fraction is not None and not 0 <= self.parallel_fraction <= 1:
            raise UsageError(f"a parallel fraction is between 0 and 1, not {self.parallel_fraction}")
        for n, _ in self.forms:
            self._check_range("form", n, 1, MOST_PROCS)

    @staticmethod
    def _check_range(name: str, value: int | None, low: int, beyond: int) -> None:
        """A number that no cluster could count with would be handed out again for ever."""
        if value is not None and not low <= value < beyond:
            raise UsageError(f"a task's {name} must be from {low} to below {beyond}, not {cut(str(value))}")

    @property
    def is_moldable(self) -> bool:
        """Whether its size follows a law of speedup; one processor stays one processor."""
        return self.parallel_fraction is not None and self.procs > 1 and not self.forms

    def as_json(self) -> dict[str, Any]:
        """Plain data, without what is not given."""
        return {name: value for name, value in asdict(self).items() if value not in (None, "", (), False)}

    @classmethod
    def from_json(cls, data: object) -> Task:
        """A task of plain data, as it comes from a client."""
        if not isinstance(data, dict):
            raise UsageError("a task is a JSON object")
        known = {each.name: each for each in fields(cls)}
        for name in data:
            if name not in known:
                raise UsageError(f"a task has no {name}; it has {', '.join(known)}")
        try:
            return cls(**{name: _typed(name, value) for name, value in data.items()})
        except (TypeError, ValueError) as error:
            raise UsageError(f"this is not a task: {error}") from None

    def text(self) -> str:
        """One line of JSON."""
        return json.dumps(self.as_json(), separators=(",", ":"))

    def title(self) -> str:
        """What people call it."""
        return self.name or (self.command[0].rsplit("/", 1)[-1] if self.command else "script")


def _can_be_written(word: str) -> bool:
    """Whether a word stands for bytes; those that are no UTF-8, as in file names, come as surrogates."""
    try:
        word.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


WHOLE = ("procs", "walltime", "max_procs", "stage_time", "deadline", "memory_mb", "runtime")


def _typed(name: str, value: Any) -> Any:
    """A value of a JSON document as the field has it."""
    if name in WHOLE and not fits(value, int):
        raise ValueError(f"{name} must be a whole number, not {value!r}")
    if name == "urgent":
        return bool(value)
    if name == "parallel_fraction":
        return float(value)
    if name in ("command", "stage", "forms") and not fits(value, (list, tuple)):
        raise ValueError(f"{name} must be a list, not {value!r}")
    return value


def filled(text: str, procs: int, cluster: str) -> str:
    """A word or a script with the processors and the cluster put in; other braces stay.

    >>> filled("solve -n {procs} {x}", 8, "lyon")
    'solve -n 8 {x}'
    """
    values = {"procs": str(procs), "cluster": cluster}
    return PLACES.sub(lambda place: values[place[1]], text)
