"""Queue orders: smaller key first; ties by submit, then by place in the file.

Decisions.  ``w`` is the time the scheduler plans with (the walltime, unless an estimate replaces it).
LXF, WFP3 and UNICEF use max(w, 1 s) wherever w stands, so that nothing divides by zero.  LXF and WFP3 are
compared as exact fractions.  UNICEF is computed as ((t - r) / w) / max(log2 q, 1) in double precision, in
that order, so that jobs of equal q and equal (t - r) / w tie.  F1-F4 (Carastan-Santos and de Camargo, SC'17)
take times in seconds, max(r, 1) and max(s, 1) under the logarithms (s is the submit time on the log's clock),
in double precision:
    F1 = log10(r) n + 870 log10(s)      F2 = sqrt(r) n + 25600 log10(s)
    F3 = r n + 6860000 log10(s)         F4 = r sqrt(n) + 530000 log10(s)
Urgent jobs go first where asked; within each class jobs that have waited longer than ``age`` (strictly) go
first, by submit; the key orders the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from .jobs import SECOND, Job

Key = int | float | Fraction


def _lxf(job: Job, w: int, t: int, second: int) -> Key:
    w = max(w, second)
    return -Fraction(t - job.submit + w, w)


def _wfp3(job: Job, w: int, t: int, second: int) -> Key:
    return -(Fraction(t - job.submit, max(w, second)) ** 3) * job.procs


def _unicef(job: Job, w: int, t: int, second: int) -> Key:
    return -((t - job.submit) / (max(w, second) * max(math.log2(job.procs), 1.0)))


def _log_submit(job: Job, second: int) -> float:
    return math.log10(max(job.submit / second, 1.0))


def _f1(job: Job, w: int, t: int, second: int) -> Key:
    return math.log10(max(w / second, 1.0)) * job.procs + 870.0 * _log_submit(job, second)


def _f2(job: Job, w: int, t: int, second: int) -> Key:
    return math.sqrt(w / second) * job.procs + 25600.0 * _log_submit(job, second)


def _f3(job: Job, w: int, t: int, second: int) -> Key:
    return (w / second) * job.procs + 6860000.0 * _log_submit(job, second)


def _f4(job: Job, w: int, t: int, second: int) -> Key:
    return (w / second) * math.sqrt(job.procs) + 530000.0 * _log_submit(job, second)


KEYS: dict[str, Callable[[Job, int, int, int], Key]] = {
    "fcfs": lambda job, w, t, second: job.submit,
    "sjf": lambda job, w, t, second: w,
    "ljf": lambda job, w, t, second: -w,
    "sqf": lambda job, w, t, second: job.procs,
    "lqf": lambda job, w, t, second: -job.procs,
    "saf": lambda job, w, t, second: w * job.procs,
    "laf": lambda job, w, t, second: -w * job.procs,
    "lxf": _lxf,
    "wfp3": _wfp3,
    "unicef": _unicef,
    "f1": _f1,
    "f2": _f2,
    "f3": _f3,
    "f4": _f4,
}


def rank(
    order: str,
    position: int,
    job: Job,
    w: int,
    t: int,
    urgent: str = "ignore",
    age: int | None = None,
    second: int = SECOND,
) -> tuple[bool, bool, Key, int, int]:
    """Sort key of one waiting job at time t."""
    regular = urgent == "first" and not job.urgent
    young = age is None or t - job.submit <= age
    key = KEYS[order](job, w, t, second) if young else 0
    return (regular, young, key, job.submit, position)
