"""The audit: an independent judgement of any schedule, ours or another tool's.

It looks at the schedule and the log alone. The invariants are under `laws`, by subject;
the glossary (docs/glossary.md) has the words of the code beside those of the field.
"""

from __future__ import annotations

from dataclasses import replace

from headway.audit.foreign import read_foreign
from headway.audit.laws import UNIVERSAL
from headway.audit.policy_laws import laws_of
from headway.audit.record import Record, record_of
from headway.audit.verdict import Audit, Fault, Law
from headway.errors import UsageError
from headway.schedule import Schedule
from headway.workload import Workload

__all__ = ["UNIVERSAL", "Audit", "Fault", "Law", "Record", "audit", "read_foreign", "record_of"]


def audit(schedule: Schedule | Record, workload: Workload | None = None, policy: str | None = None) -> Audit:
    """Check every invariant that applies.

    `schedule` is one of ours or what `read_foreign` gives. `workload` is the log to judge it by, if that is
    not the schedule's own. `policy` adds the invariants of a policy; by default the one that the schedule
    says it was made by.
    """
    unix_start = None
    if isinstance(schedule, Schedule):
        record = record_of(schedule, workload)
        policy = policy or schedule.policy
        unix_start = schedule.unix_start
    elif isinstance(schedule, Record):
        record = schedule
    else:
        raise UsageError(
            f"{schedule!r:.60} is not a schedule; load a folder with headway.Schedule.load(folder)"
        )
    laws = {law.name: law for law in UNIVERSAL}
    promised = {law.name: law for law in (laws_of(policy, record) if policy else ())}
    laws |= promised
    checked: list[Law] = []
    counts: dict[str, int] = {}
    faults: list[Fault] = []
    for law in laws.values():
        finding = law.check(record)
        if finding is not None:
            checked.append(law)
            counts[law.name] = finding.count
            faults.extend(replace(fault, law=law.name) for fault in finding.faults)
    not_judged = tuple(law for name, law in promised.items() if name not in counts)
    return Audit(len(record), tuple(checked), counts, faults, unix_start, not_judged)
