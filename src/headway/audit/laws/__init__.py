"""The invariants that hold for every schedule; those of policies are in :mod:`headway.audit.policy_laws`."""

from __future__ import annotations

from functools import partial

from headway.audit.laws import jobs, machine, on_site
from headway.audit.verdict import Law

UNIVERSAL = (
    Law("complete", "every job of the log is scheduled once, and nothing else is", jobs.check_complete),
    Law("submission", "no job starts before it is submitted", jobs.check_submission),
    Law(
        "think time", "a job that waits for another's end is submitted a think time after it",
        jobs.check_think,
    ),
    Law("pieces", "pieces of one job do not overlap and agree with its start and end", jobs.check_pieces),
    Law("one final run", "exactly one run of each job comes to its end, the last", jobs.check_final_run),
    Law("run length", "a job runs for min(runtime, walltime)", jobs.check_final),
    Law("walltime", "no run is longer than the walltime", jobs.check_walltime),
    Law("killing", "exactly the jobs that need more than their walltime are killed", jobs.check_killed),
    Law(
        "request", "jobs have the processors and times of the log, moldable ones apart", jobs.check_request,
    ),
    Law("capacity", "at no instant are more processors held than there are", machine.check_machine),
    Law(
        "outages", "no job holds processors that are away, none starts where they drain",
        machine.check_outages,
    ),
    Law(
        "group capacity", "the same for each group of processors",
        partial(machine.check_places, kind="group"),
    ),
    Law("cluster capacity", "the same for each cluster", partial(machine.check_places, kind="cluster")),
    Law("node capacity", "the same for each node", partial(machine.check_places, kind="node")),
    Law("processor sets", "no two jobs hold the same processor at once", machine.check_sets),
    Law("promise", "no job starts later than it was promised", jobs.check_promise),
    Law("node shares", "jobs have each node once, and there their processors", on_site.check_shares),
    Law("node CPUs", "at no instant are more CPUs of a named node held than it has", on_site.check_cpus),
    Law("node memory", "the same for the memory of each named node", on_site.check_memory),
    Law("exclusive nodes", "an exclusive job shares its nodes with no other job", on_site.check_alone),
    Law("partition nodes", "nodes are of the job's partition and have its features", on_site.check_nodes),
    Law(
        "partition access", "a job's partition lets in its user, account, QOS and reservation",
        on_site.check_access,
    ),
    Law(
        "partition limits", "no partition's limit of time, nodes or CPUs of a node is exceeded",
        on_site.check_limits,
    ),
    Law(
        "nodes away", "no job runs on a node that is down, or starts on one that drains",
        on_site.check_away,
    ),
    Law("reservations", "no job runs into a reservation that is not its own", on_site.check_reservations),
    Law("array limits", "no more tasks of an array run at once than may", on_site.check_arrays),
    Law("dependencies", "no job starts before those that it depends on", on_site.check_dependencies),
    Law(
        "QOS and account limits", "when a job starts, the limits that count for it are kept",
        on_site.check_site_limits,
    ),
)  # fmt: skip
"""For every schedule; each says itself where it does not apply."""
