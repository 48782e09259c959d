"""The invariants, one file each. Universal ones hold for every schedule, others where a policy is named."""

from __future__ import annotations

from headway.audit.laws import (
    capacity,
    complete,
    easy_head,
    feedback,
    final_run,
    killing,
    latest_end,
    named_nodes,
    node_files,
    node_order,
    node_size,
    outages,
    partitions,
    pieces,
    planned_areas,
    processor_sets,
    promise,
    queue_order,
    redirections,
    request,
    run_length,
    site_calendar,
    site_limits,
    submission,
    walltime,
)
from headway.audit.verdict import Law

UNIVERSAL = (
    Law("complete", "every job of the log is scheduled once, and nothing else is", complete.check),
    Law("submission", "no job starts before it is submitted", submission.check),
    Law("think time", "who waits for another job's end is submitted a think time after it", feedback.check),
    Law("pieces", "pieces of one job do not overlap and agree with its start and end", pieces.check),
    Law("one final run", "exactly one run of each job comes to its end, the last", final_run.check),
    Law("run length", "a job runs for min(runtime, walltime)", run_length.check),
    Law("walltime", "no run is longer than the walltime", walltime.check),
    Law("killing", "exactly the jobs that need more than their walltime are killed", killing.check),
    Law("request", "jobs have the processors and times of the log, moldable ones apart", request.check),
    Law("capacity", "at no instant are more processors held than there are", capacity.check_machine),
    Law("outages", "nobody holds processors that are away, nothing starts where they drain", outages.check),
    Law("group capacity", "the same for each group of processors", capacity.check_of("group")),
    Law("cluster capacity", "the same for each cluster", capacity.check_of("cluster")),
    Law("node capacity", "the same for each node", capacity.check_of("node")),
    Law("processor sets", "no two jobs hold the same processor at once", processor_sets.check),
    Law("promise", "no job starts later than it was promised", promise.check),
    Law("node shares", "jobs have each node once, and there their processors", named_nodes.check_shares),
    Law("node CPUs", "at no instant are more CPUs of a named node held than it has", named_nodes.check_cpus),
    Law("node memory", "the same for the memory of each named node", named_nodes.check_memory),
    Law("exclusive nodes", "a job that is to be alone on nodes meets nobody there", named_nodes.check_alone),
    Law("partition nodes", "nodes are of the job's partition and have its features", partitions.check_nodes),
    Law(
        "partition access",
        "a job's partition lets in its user, account, QOS and reservation",
        partitions.check_access,
    ),
    Law(
        "partition limits",
        "no partition's limit of time, nodes or CPUs of a node is exceeded",
        partitions.check_limits,
    ),
    Law(
        "nodes away",
        "nobody runs on a node that is down, or starts on one that drains",
        site_calendar.check_away,
    ),
    Law(
        "reservations", "no job runs into a reservation that is not its own", site_calendar.check_reservations
    ),
    Law("array limits", "no more tasks of an array run at once than may", site_calendar.check_arrays),
    Law("dependencies", "no job starts before those that it depends on", site_calendar.check_dependencies),
    Law(
        "QOS and account limits",
        "when a job starts, the limits that count for it are kept",
        site_limits.check,
    ),
)
"""For every schedule; each says itself where it does not apply."""

FCFS_ORDER = Law("fcfs order", "starts do not decrease in order of submission", queue_order.check_order)
FCFS_HEAD = Law("fcfs head", "the head of the queue starts as soon as it fits", queue_order.check_prompt)
IDLE_MACHINE = Law("idle machine", "no job waits while nothing runs", queue_order.check_idle)
EASY_HEAD = Law("easy head", "the head starts no later than any shadow time it was given", easy_head.check)
MAINTENANCE = Law(
    "maintenance", "no job is started that might run into known maintenance", outages.check_planned
)
PROMISE = Law("promise", "no job starts later than it was promised", promise.kept)
REDIRECTIONS = Law(
    "redirections", "a job is redirected once, at an arrival, alone, to a group it fits", redirections.check
)
LATEST_END = Law("latest end", "no job ends later than it was told; deadlines are kept", latest_end.check)
DEFINITIVE_END = Law(
    "latest end", "no job without a deadline ends later than it was told", latest_end.check_definitive
)
NODE_SIZE = Law("node size", "each job is on one node, wide and large enough", node_size.check_of("fits"))
NODE_ORDER = Law(
    "node order",
    "where files make no difference, starts and nodes are those of FCFS on cores",
    node_order.check_of((), "fits"),
)
FILE_WAITS = Law(
    "file waits",
    "a job waits for its file exactly as long as nobody has it there",
    node_files.waits_of("contiguous", big_first=False),
)
FILE_COUNTS = Law(
    "file counts",
    "loads and re-uses are the jobs with a file",
    node_files.counts_of("contiguous", big_first=False),
)
PLANNED_AREAS = Law(
    "planned areas",
    "jobs on larger nodes stay within the areas planned",
    planned_areas.check_of("max", "all", "plan"),
)
"""Of policies on nodes, here with the defaults of their parameters."""
