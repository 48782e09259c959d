"""Rows of Slurm's tables: the jobs."""

from __future__ import annotations

from headway.jit.rows import Each, Row, Rows


class SlurmJobs(Rows):
    """What a job asks for, and what became of it."""

    min_nodes: Row
    max_nodes: Row  # -1: as many as it takes.
    cpus: Row
    tasks: Row
    cpus_per_task: Row
    memory_node: Row  # -1 not asked; 0: all that a node has.
    memory_cpu: Row
    exclusive: Row
    features: Row  # Which of the sets of nodes its constraint allows.
    partitions: Row  # Which of the lists of partitions it may run in.
    qos: Row
    association: Row
    user: Row
    account: Row
    limit: Row  # Its time limit in minutes; -1: that of the partition.
    begin: Row  # When it may start at the earliest.
    accrued: Row  # Since when its age counts.
    nice: Row
    priority: Row
    # Why it waits, or waited last (:class:`Reason`; of a limit, RESOURCE tells the resource, too).
    reason: Row
    partition: Row  # Where it runs.
    started: Row
    ends: Row  # When its limit is reached, once it runs; when it was over, once it is.
    planned: Row  # When backfill last planned its start; -1 never.
    planned_node: Row  # The first node of that plan.
    loop: Row  # Which loop started it: 0 the main one, 1 backfill.
    size: Row  # CPUs that the size factor counts.
    tested: Row  # The number of the last cycle that searched for a start of it.
    entered: Row  # When it came to the controller.
    limited: Row  # The last limit that held it, as REASON; 0 none.
    planned_at: Row  # When backfill planned that start.
    planned_nodes: Row  # How many nodes the plan has.
    age_points: Row  # What its age, fair share and size give of its priority, as last calculated.
    fairshare_points: Row
    size_points: Row
    first_priority: Row  # The same at submission.
    first_fairshare: Row
    first_size: Row
    # Whether a search may change the CPUs that the size factor counts: 1 no, 0 the first, -1 each.
    sized: Row
    first_task: Row  # The first task of its array; itself where it is in none.
    array: Row  # The number of its array; -1: none.
    # Whether more than time may keep it from being looked at: a hold, or dependencies not met yet.
    kept_back: Row
    held: Row
    depends: Row  # Where its dependencies begin, and how many they are; several jobs may share them.
    dependencies: Row
    depends_on_any: Row  # Whether one met dependency is enough.
    succeeds: Row  # Whether its program ends well if nothing stops it.
    outcome: Row  # :class:`Outcome`, once it and its epilog are over.
    reservation: Row  # Which reservation it is for; -1: none.
    minutes_min: Row  # The time limit that backfill may shorten it to; -1: none.
    required: Row  # Which of the sets of nodes it must have; 0: none.
    requeues: Row  # Whether it waits again when its nodes are lost or it is preempted; else it is lost.
    took_victims: Row  # When it last had others preempted.
    attempts: Row  # How often it has started.
    goes_at: Row  # When it has to go, as a victim with some time left; -1: it has not.
    licences: Row  # Whether it takes any licences.
    length: Row  # The time limit in minutes that it runs with: backfill may have shortened it.
    preempted_by: Row  # The job that last took its place; -1: none.
    suspended_at: Row  # Since when it is suspended; -1: it is not.
    resumed_at: Row  # When it last went on after a suspension; -1: never.
    goes_on: Row  # Whether it may run while jobs of higher tiers do; set anew for each such question.
    deadline: Row  # When it must have ended; -1: it has no deadline.
    kill_invalid: Row  # Whether it is cancelled when a dependency can never be met; else it waits for ever.
    # Whether limits on submission do not turn it away, because the log shows that the site accepted it.
    accepted: Row
    row: Row  # Which of the jobs on its cores it is, where several of a partition take turns on them.
    turn: Row  # Its place in the order of turns, once it runs.
    standing: Row  # :class:`Standing`, once it runs.
    # Where what it asks for in each of its partitions stands, if they differ in that; -1: they do not.
    adapted: Row
    node_cpus: Row  # CPUs that each of its nodes must give it at least.
    # Whether its user cancelled it while it waited, as the log has it, and so does in a simulation.
    cancelled: Row
    # Which pass or cycle that was, by number: the job is not looked at in its other partitions then.
    took_in: Row
    # How many of its tasks each node gets (--ntasks-per-node); 0: as many as there is room for.
    tasks_per_node: Row
    contiguous: Row  # Whether its nodes must stand side by side.
    ran: Row  # Whether it ran before the simulation began: it starts as it comes.
    # When it was submitted, if that was before the simulation began; -1: it comes when it is submitted.
    since: Row
    keeps_nodes: Row  # Whether it lets nobody but its user on its nodes (--exclusive=user).
    switches: Row  # On how many switches it wants to run at most (--switches); 0: it does not say.
    switch_wait: Row  # How long it waits for that, in seconds after its submission.
    gone: Row  # Whether it is taken to have ended in the trial table, where jobs take turns.
    # CPUs that it holds for each that it uses: the threads of a core where it leaves all but one idle.
    cpus_each: Row
    units: Row  # How many units of its generic resources it wants on all nodes together; 0: one on each node.
    by_task: Row  # Whether each task has one of these units.
    memory_unit: Row  # MB for each unit; 0: its memory is not counted so.
    cpus_unit: Row  # CPUs for each unit; 0: it may have any beside them.
    any_tasks: Row  # Whether it leaves open how many tasks it has.
    listed: Row  # Its place in Slurm's list of jobs; -1: it waits in the entry of its array.
    # Generic resources of the nodes that it would get if all were idle, while limits count them; else -1.
    gres_found: Row
    # What it holds of each resource (:class:`Tres`) while it runs; as many rows as there are resources.
    holds: Row


class Adapted(Rows):
    """What a job asks for in one of its partitions."""

    cpus: Each  # -1: it asks for more memory than the partition gives.
    cpus_per_task: Each
    memory_cpu: Each
    node_cpus: Each
