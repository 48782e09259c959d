"""Reading rules: for everything odd in a log, what is done about it. The default stands first."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from zoneinfo import ZoneInfo

from headway.errors import UsageError
from headway.plain import close

RULES: dict[str, tuple[str, ...]] = {
    "procs": ("requested", "allocated"),
    "zero_runtime": ("keep", "raise", "drop"),
    "overrun": ("kill", "trust", "late"),
    "cancelled": ("drop", "keep", "wait"),
    "no_estimate": ("runtime", "error"),
    "too_large": ("drop", "error"),
    "partial": ("join", "skip"),
    "no_submit": ("drop", "error"),
    "unknown_runtime": ("drop", "error"),
    "no_procs": ("drop", "error"),
    "duplicates": ("renumber", "drop", "error"),
    "out_of_order": ("sort", "error"),
    "missing_fields": ("unknown", "error"),
    "extra_fields": ("ignore", "error"),
    "foreign_status": ("keep", "error"),
    "negative": ("unknown", "error"),
    "fraction": ("round", "error"),
    "requeues": ("last", "first", "each"),
    "unfinished": ("drop", "keep", "open"),
    "whole_nodes": ("occupied", "requested"),
    "submit": ("submitted", "eligible"),
    "zone": ("UTC", "<a time zone>"),
}
"""Each rule's values, default first; a value in angle brackets stands for any text. The last five are about
Slurm's records (`OF_SLURM`)."""

OF_SLURM = ("requeues", "unfinished", "whole_nodes", "submit", "zone")
"""Rules about Slurm's records; no other format has what they are about."""

MEANING: dict[str, str] = {
    "procs": "which processor count a job has; the other one where that is missing",
    "zero_runtime": "run time 0: keep as a job of no length, raise to one second, drop",
    "overrun": "a run longer than its request: killed at the request, the request raised to the run, or "
    "killed late, as recorded (by Slurm's rules; others kill at the request)",
    "cancelled": "status 5 and no run time: drop, keep where the run time is 0, or let it wait until it was "
    "cancelled, where Slurm's records say when (by Slurm's rules; others drop it)",
    "no_estimate": "requested time missing or 0: the run time is taken",
    "too_large": "more processors than the machine has",
    "partial": "lines of a checkpointed job (status 2, 3, 4) that has no summary line: join or skip",
    "no_submit": "submit time unknown",
    "unknown_runtime": "run time unknown",
    "no_procs": "neither requested nor allocated processors",
    "duplicates": "job number missing or used by a job above: fresh number above the largest, drop",
    "out_of_order": "submitted before a job above: scheduled in order of submit all the same",
    "missing_fields": "fewer than 18 fields: those at the end are unknown",
    "extra_fields": "more than 18 fields",
    "foreign_status": "a status outside -1 to 5",
    "negative": "a negative quantity other than -1: read as unknown",
    "fraction": "a fraction where a whole number belongs (rounded up), or of a microsecond (nearest)",
    "requeues": "a job that ran more than once: the last run counts, submitted when it was requeued "
    "or (first) when the job was; or each run is a job of its own",
    "unfinished": "still waiting or running when the log was taken: drop; keep running jobs with "
    "their run so far; "
    "or leave both open, as headway when and forecast check do (a simulation then leaves them out)",
    "whole_nodes": "a job that had more processors than it asked for, as on whole nodes: all, or the request",
    "submit": "when a job enters the queue: when it was submitted, or became eligible to start",
    "zone": "the time zone of clock times, such as Europe/Berlin; by default the clock never changes",
}
"""What each rule is about, for help and documentation."""


def choose(chosen: Mapping[str, str]) -> dict[str, str]:
    """Every rule with its value: the one chosen, else the default.

    >>> choose({"overrun": "trust"})["overrun"], choose({})["overrun"]
    ('trust', 'kill')
    """
    rules = {rule: values[0] for rule, values in RULES.items()}
    for rule, value in chosen.items():
        if rule not in RULES:
            known = f"the rules are {', '.join(RULES)}"
            raise UsageError(f"there is no reading rule {rule!r}{close(rule, RULES)}; {known}")
        if value not in RULES[rule] and not any(known.startswith("<") for known in RULES[rule]):
            raise UsageError(f"rule {rule} cannot be {value!r}; it is one of {', '.join(RULES[rule])}")
        if rule == "zone":
            clock_of(value)
        rules[rule] = value
    return rules


def clock_of(zone: str) -> ZoneInfo:
    """The clock of a time zone; that of the reading rule `zone`, whose `none` is UTC."""
    try:
        return ZoneInfo("UTC" if zone == "none" else zone)
    except (KeyError, ValueError, OSError):
        raise UsageError(f"there is no time zone {zone!r}; give one such as zone=Europe/Berlin") from None


def refuse_unread(chosen: Mapping[str, str], format: str, name: str, but: Collection[str] = ()) -> None:
    """Complain of a rule that was chosen for a log whose format has nothing that it is about."""
    foreign = () if format.startswith("sacct") else OF_SLURM
    for rule in foreign:
        if rule not in but and chosen.get(rule, RULES[rule][0]) != RULES[rule][0]:
            raise UsageError(
                f"{name}: the rule {rule} is about Slurm's records, and this log is in the format {format}; "
                "leave the rule out"
            )
