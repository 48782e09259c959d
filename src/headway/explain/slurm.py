"""A job under Slurm's rules: its priority and what made it, what held it, its plans, loop and nodes."""

from __future__ import annotations

import numpy as np

from headway.explain.place import Case, at
from headway.schedule.pieces import ENDED
from headway.units import SECOND, duration

FACTORS = (
    ("age", "age", ""),
    ("fair share", "fair_share", "first_fair_share"),
    ("size", "size", "first_size"),
    ("partition", "partition_points", "partition_points"),
    ("QOS", "qos_points", "qos_points"),
    ("association", "association_points", "association_points"),
)
"""A factor's name, what it gave at the end of the wait, and what it gave at submission."""

LEAST = 1
"""The lowest priority of a job that is not held."""

REASONS = {
    "None": "no pass had looked at it yet",
    "Priority": "jobs of higher priority waited in its partition",
    "Resources": "nodes that it needed were busy, or kept for jobs before it",
    "BeginTime": "it was not to start earlier",
    "PartitionDown": "its partition was down",
    "PartitionNodeLimit": "it asked for more or fewer nodes than its partition allows",
    "PartitionTimeLimit": "it asked for more time than its partition allows",
    "PartitionConfig": "its partition is not for its user, account or QOS, or only for reservations",
    "AccountNotAllowed": "its partition does not allow its account",
    "QOSNotAllowed": "its partition does not allow its QOS",
    "MaxMemPerLimit": "it asked for more memory of a node than its partition gives",
    "JobHeldUser": "it was held by its user",
    "Dependency": "jobs that it depends on were not over",
    "DependencyNeverSatisfied": "a job that it depends on ended in the wrong way",
    "JobArrayTaskLimit": "as many tasks of its array ran as may at once",
    "Reservation": "a reservation kept it from its nodes",
    "Licenses": "its licences were in use",
    "ReqNodeNotAvail": "nodes that it needs were away or reserved, and nothing else kept it from starting",
}
"""What the reasons that are no limits mean."""


def is_slurms(case: Case) -> bool:
    """Whether the controller's notes are there."""
    return case.schedule.shares is not None and "reason" in case.schedule.notes


def priority(case: Case) -> list[str]:
    """Priority at submission and when it started, and what each factor gave."""
    first, last = _note(case, "first_priority"), _note(case, "priority")
    if "age" not in case.schedule.notes:
        return [f"Its priority was {last}: without factors the order of submission decides."]
    before, after = _points(case, first=True), _points(case, first=False)
    listed = _asked(case, "partition").split(",")
    there = f" in {listed[0]}, the first of its partitions," if len(listed) > 1 else ""
    said = [f"At submission its priority{there} was {first}: {_told(before, first, _note(case, 'nice'))}."]
    if case.start == case.submit or before == after:
        return [*said, *([f"It was {last} when it started."] if last != first else [])]
    changed = {name: after[name] - before[name] for name in after if after[name] != before[name]}
    steps = ", ".join(f"{name} {change:+d}" for name, change in changed.items())
    return [*said, f"When it started its priority was {last} ({steps})."]


def _points(case: Case, *, first: bool) -> dict[str, int]:
    """What the factors gave, those that gave nothing apart."""
    names = [(title, earlier if first else later) for title, later, earlier in FACTORS]
    return {title: _note(case, name) if name else 0 for title, name in names}


def _told(points: dict[str, int], total: int, nice: int) -> str:
    parts = [f"{points[name]} for its {name}" for name in points if points[name]]
    if nice > 0:
        parts.append(f"{-nice} for nice")
    elif nice < 0:
        parts.append(f"{-nice} because its nice was {nice}")
    rest = total - sum(points.values()) + nice
    if total > LEAST and abs(rest) > len(FACTORS):  # less than that is rounding
        parts.append(f"{rest} for its resources")
    told = " + ".join(parts).replace("+ -", "- ") or "no factor gave it anything"
    return f"{told}, and {LEAST} is the least" if total == LEAST and nice > 0 else told


def life(case: Case) -> list[str]:
    """What it depended on, its reservation, and its attempts."""
    said = []
    asked, eligible = _asked(case, "dependency"), _note(case, "eligible")
    attempts, taker = _note(case, "attempts"), _note(case, "preempted_by")
    if asked:
        said.append(f"It depended on {asked}, and could be looked at from {at(eligible, case)[3:]} on.")
    elif eligible >= case.submit + SECOND and attempts < 2:
        why = "it was held" if _number(case, "held") > 0 else "so the log has it"
        why = f"it asked for --begin={begin}" if (begin := _asked(case, "begin")) else why
        said.append(f"It could be looked at from {at(eligible, case)[3:]} on: {why}.")
    if name := _asked(case, "reservation"):
        said.append(f"It asked for the reservation {name}.")
    if attempts > 1:
        said.append(
            f"It was started {attempts} times; what came before the last start was lost"
            + (f", the last time because job {taker} took its place." if taker >= 0 else " with its nodes.")
        )
    elif taker >= 0 and case.pieces.ended[case.own[-1]] == ENDED.index("preempted"):
        said.append(f"Job {taker} took its place, and it did not run again.")
    return said


def _asked(case: Case, name: str) -> str:
    """The text of a column of the log."""
    code, names = _number(case, name), case.schedule.workload.labels.get(name, ())
    return names[code] if 0 <= code < len(names) else ""


def _number(case: Case, name: str) -> int:
    """The number in a column of the log, -1 where there is none."""
    column = case.schedule.workload.get(name)
    return -1 if column is None else int(column[case.row])


def held(case: Case) -> list[str]:
    """What held it last, and the limit that did, by Slurm's own names."""
    if case.start == case.submit:
        return []
    reason, limit = _name(case, "reason"), _name(case, "limit")
    meaning = REASONS.get(reason, "a limit was reached")
    said = [f"The last reason that squeue would have shown is {reason}: {meaning}."]
    if limit and limit != reason:
        said.append(f"While it waited it was held by a limit, too: {limit}.")
    return said


def planned(case: Case) -> list[str]:
    """When backfill last planned it, and where."""
    when, start = _note(case, "planned_at"), _note(case, "planned_start")
    if when < 0:
        return [] if case.start == case.submit else ["Backfill never planned a start for it."]
    count, node = _note(case, "planned_nodes"), _name(case, "planned_node")
    where = f"on {node}" if count == 1 else f"on {count} nodes, the first of them {node}"
    early = start - case.start
    kept = (
        "exactly then"
        if abs(early) < SECOND
        else f"{duration(abs(early))} {'earlier' if early > 0 else 'later'}"
    )
    return [
        f"Backfill planned it for the last time {at(when, case)}, {where}, to start {at(start, case)}; "
        f"it started {kept}."
    ]


def started(case: Case) -> list[str]:
    """Which loop started it, where."""
    shares = case.schedule.shares
    assert shares is not None
    own = shares.of(case.row)
    nodes, alone = shares.nodes_of(case.row), bool(shares.alone[own].any())
    loop = {"main": "The main loop", "backfill": "Backfill"}.get(_name(case, "loop"), "The controller")
    labels, codes = case.schedule.labels.get("partition", ()), case.schedule.partition
    part = f" in the partition {labels[int(codes[case.row])]}" if codes is not None else ""
    cpus = int(shares.cpus[own].sum())
    how = "which it had to itself" if alone else f"with {cpus} CPU{'s' * (cpus != 1)} in all"
    return [f"{loop} started it {at(case.start, case)}{part} on {nodes}, {how}."]


def _note(case: Case, name: str) -> int:
    column = case.schedule.notes.get(name)
    return -1 if column is None else int(np.asarray(column)[case.row])


def _name(case: Case, name: str) -> str:
    code, names = _note(case, name), case.schedule.labels.get(name, ())
    return names[code] if 0 <= code < len(names) else ""
