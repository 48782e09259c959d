"""Why a simulated wait may differ from the recorded one: what the log and the run themselves show of it."""

from __future__ import annotations

import numpy as np

from headway.metrics.statistics import Times
from headway.plain import counted
from headway.policies.slurm.setup.record import misses_usage
from headway.policies.spec import by_site_rules
from headway.schedule import Schedule
from headway.units import SECOND
from headway.workload.slurm.not_modelled import left_unmodelled

IDLE = 0.5
"""A machine used by less than this share counts as idle when jobs wait for it."""


def reasons(schedule: Schedule, rows: Times, recorded: Times) -> list[str]:
    """One sentence for each reason that applies to this log, with its numbers."""
    by_its_rules = by_site_rules(schedule.policy)
    found = [
        *_left_out(schedule, len(rows)),
        *_machine(schedule, rows, recorded),
        *_at_once(schedule, rows, recorded),
        *([] if by_its_rules else [*_queues(schedule), *_kills(schedule)]),
        *(
            f"the site's {feature} are not simulated: {counted(count, 'job')}"
            for feature, count in left_unmodelled(schedule.workload.source.not_modelled, by_its_rules).items()
        ),
    ]
    found.append("the simulation starts with an empty machine; the log's first jobs met one in use")
    if by_its_rules:
        found += _site(schedule)
    else:
        found.append("priorities, fair shares, limits per user and reservations are not in the log")
    return found


def _site(schedule: Schedule) -> list[str]:
    """What of a site's configuration Slurm's rules leave out, and what nobody can know of its controller."""
    found = ["the phases of the controller's clocks are not known; other seeds give other schedules"]
    site = schedule.platform.site
    if site is not None and site.not_modelled:
        names = [one.name for one in site.not_modelled]
        more = f" and {len(names) - 8:,} more" if len(names) > 8 else ""
        found.append(f"not modelled of the site's configuration: {', '.join(names[:8])}{more}")
    if site is not None and misses_usage(site):
        found.append("usage before the log is not known (shares.txt): fair shares begin equal")
    return found


def _left_out(schedule: Schedule, compared: int) -> list[str]:
    ledger = schedule.workload.ledger
    found = []
    if ledger.dropped:
        found.append(f"{ledger.dropped:,} of {ledger.total:,} jobs of the log are not simulated (ledger)")
    if compared < len(schedule):
        found.append(f"{len(schedule) - compared:,} simulated jobs have no recorded wait to compare with")
    return found


def _machine(schedule: Schedule, rows: Times, recorded: Times) -> list[str]:
    """What the recorded starts say about the machine's size and the times it was not to be had."""
    times, busy, waiting = _recorded_load(schedule, rows, recorded)
    if not len(times):
        return []
    found = []
    peak = int(busy.max())
    if peak > schedule.capacity:
        found.append(
            f"the log has up to {counted(peak, 'processor')} in use at once, "
            f"the simulated machine {schedule.capacity:,}"
        )
    elif peak < 0.9 * schedule.capacity:
        found.append(
            f"the log never has more than {peak:,} of the simulated machine's {schedule.capacity:,} "
            "processors in use; part of it may not have been available to these jobs"
        )
    lasts = np.diff(times, append=times[-1])
    idle = int(lasts[(busy < IDLE * peak) & (waiting > 0)].sum()) / SECOND
    whole = int(times[-1] - times[0]) / SECOND
    if whole and idle > 0.01 * whole:
        found.append(
            f"for {idle / 86400:.1f} of {whole / 86400:.1f} days jobs waited although less than half of "
            "the peak number of processors was in use: down times, reservations, limits or partitions"
        )
    return found


def _recorded_load(schedule: Schedule, rows: Times, recorded: Times) -> tuple[Times, Times, Times]:
    """Instants of the log, and processors in use and jobs waiting from each on, as recorded."""
    submit = schedule.submit[rows]
    start = submit + recorded
    end = start + schedule.workload.columns["runtime"][rows]
    width = schedule.workload.columns["procs"][rows]
    allocated = schedule.workload.get("allocated")
    if allocated is not None:
        width = np.where(allocated[rows] > 0, allocated[rows], width)
    instants = np.concatenate([submit, start, end])
    none = np.zeros(len(rows), np.int64)
    busy = np.concatenate([none, width, -width])
    waiting = np.concatenate([none + 1, none - 1, none])
    times, place = np.unique(instants, return_inverse=True)
    changes = [np.zeros(len(times), np.int64), np.zeros(len(times), np.int64)]
    np.add.at(changes[0], place, busy)
    np.add.at(changes[1], place, waiting)
    return times, np.cumsum(changes[0]), np.cumsum(changes[1])


def _at_once(schedule: Schedule, rows: Times, recorded: Times) -> list[str]:
    """Jobs that hardly waited: where the log has few, a start itself took time, or the scheduler was slow."""
    at_once = int(np.count_nonzero(recorded <= SECOND))
    ours = int(np.count_nonzero(schedule.wait[rows] <= SECOND))
    return [
        f"{at_once / len(rows):.1%} of the jobs started within a second in the log, "
        f"{ours / len(rows):.1%} in the simulation"
    ]


def _queues(schedule: Schedule) -> list[str]:
    found = []
    for column, what in (("partition", "partitions"), ("queue", "queues")):
        codes = schedule.workload.columns[column]
        count = len(np.unique(codes[codes >= 0]))
        if count > 1:
            found.append(f"the log's {count} {what} are simulated as one, without their own nodes and limits")
    return found


def _kills(schedule: Schedule) -> list[str]:
    over = int(np.count_nonzero(schedule.workload.columns["runtime"] > schedule.workload.columns["walltime"]))
    if not over:
        return []
    return [f"{counted(over, 'job')} ran past the request in the log; the simulation kills jobs there"]
