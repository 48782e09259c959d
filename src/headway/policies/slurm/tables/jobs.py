"""Rows of Slurm's tables: the jobs."""

from __future__ import annotations

from enum import IntEnum


class SlurmJob(IntEnum):
    """What a job asks for, and what became of it."""

    MIN_NODES = 0
    MAX_NODES = 1
    """-1: as many as it takes."""
    CPUS = 2
    TASKS = 3
    CPUS_PER_TASK = 4
    MEMORY_NODE = 5
    """-1 not asked; 0: all that a node has."""
    MEMORY_CPU = 6
    EXCLUSIVE = 7
    FEATURES = 8
    """Which of the sets of nodes its constraint allows."""
    PARTITIONS = 9
    """Which of the lists of partitions it may run in."""
    QOS = 10
    ASSOCIATION = 11
    USER = 12
    ACCOUNT = 13
    LIMIT = 14
    """Its time limit in minutes; -1: that of the partition."""
    BEGIN = 15
    """When it may start at the earliest."""
    ACCRUED = 16
    """Since when its age counts."""
    NICE = 17
    PRIORITY = 18
    REASON = 19
    """Why it waits, or waited last (:class:`Reason`; of a limit, RESOURCE tells the resource, too)."""
    PARTITION = 20
    """Where it runs."""
    STARTED = 21
    ENDS = 22
    """When its limit is reached, once it runs; when it was over, once it is."""
    PLANNED = 23
    """When backfill last planned its start; -1 never."""
    PLANNED_NODE = 24
    """The first node of that plan."""
    LOOP = 25
    """Which loop started it: 0 the main one, 1 backfill."""
    SIZE = 26
    """CPUs that the size factor counts."""
    TESTED = 27
    """The number of the last cycle that searched for a start of it."""
    ENTERED = 28
    """When it came to the controller."""
    LIMITED = 29
    """The last limit that held it, as REASON; 0 none."""
    PLANNED_AT = 30
    """When backfill planned that start."""
    PLANNED_NODES = 31
    """How many nodes the plan has."""
    AGE_POINTS = 32
    """What its age, fair share and size give of its priority, as last calculated."""
    FAIRSHARE_POINTS = 33
    SIZE_POINTS = 34
    FIRST_PRIORITY = 35
    """The same at submission."""
    FIRST_FAIRSHARE = 36
    FIRST_SIZE = 37
    SIZED = 38
    """Whether a search may change the CPUs that the size factor counts: 1 no, 0 the first, -1 each."""
    FIRST_TASK = 39
    """The first task of its array; itself where it is in none."""
    ARRAY = 40
    """The number of its array; -1: none."""
    KEPT_BACK = 41
    """Whether more than time may keep it from being looked at: a hold, or dependencies not met yet."""
    HELD = 42
    DEPENDS = 43
    """Where its dependencies begin, and how many they are; several jobs may share them."""
    DEPENDENCIES = 44
    DEPENDS_ON_ANY = 45
    """Whether one met dependency is enough."""
    SUCCEEDS = 46
    """Whether its program ends well if nothing stops it."""
    OUTCOME = 47
    """:class:`Outcome`, once it and its epilog are over."""
    RESERVATION = 48
    """Which reservation it is for; -1: none."""
    MINUTES_MIN = 49
    """The time limit that backfill may shorten it to; -1: none."""
    REQUIRED = 50
    """Which of the sets of nodes it must have; 0: none."""
    REQUEUES = 51
    """Whether it waits again when its nodes are lost or it is preempted; else it is lost."""
    TOOK_VICTIMS = 52
    """When it last had others preempted."""
    ATTEMPTS = 53
    """How often it has started."""
    GOES_AT = 54
    """When it has to go, as a victim with some time left; -1: it has not."""
    LICENCES = 55
    """Whether it takes any licences."""
    LENGTH = 56
    """The time limit in minutes that it runs with: backfill may have shortened it."""
    PREEMPTED_BY = 57
    """The job that last took its place; -1: none."""
    SUSPENDED_AT = 58
    """Since when it is suspended; -1: it is not."""
    RESUMED_AT = 59
    """When it last went on after a suspension; -1: never."""
    GOES_ON = 60
    """Whether it may run while jobs of higher tiers do; set anew for each such question."""
    DEADLINE = 61
    """When it must have ended; -1: it has no deadline."""
    KILL_INVALID = 62
    """Whether it is cancelled when a dependency can never be met; else it waits for ever."""
    ACCEPTED = 63
    """Whether limits on submission do not turn it away, because the log shows that the site accepted it."""
    ROW = 64
    """Which of the jobs on its cores it is, where several of a partition take turns on them."""
    TURN = 65
    """Its place in the order of turns, once it runs."""
    STANDING = 66
    """:class:`Standing`, once it runs."""
    ADAPTED = 67
    """Where what it asks for in each of its partitions stands, if they differ in that; -1: they do not."""
    NODE_CPUS = 68
    """CPUs that each of its nodes must give it at least."""
    CANCELLED = 69
    """Whether its user cancelled it while it waited, as the log has it, and so does in a simulation."""
    TOOK_IN = 70
    """Which pass or cycle that was, by number: the job is not looked at in its other partitions then."""
    TASKS_PER_NODE = 71
    """How many of its tasks each node gets (--ntasks-per-node); 0: as many as there is room for."""
    CONTIGUOUS = 72
    """Whether its nodes must stand side by side."""
    RAN = 73
    """Whether it ran before the simulation began: it starts as it comes."""
    SINCE = 74
    """When it was submitted, if that was before the simulation began; -1: it comes when it is submitted."""
    KEEPS_NODES = 75
    """Whether it lets nobody but its user on its nodes (--exclusive=user)."""
    SWITCHES = 76
    """On how many switches it wants to run at most (--switches); 0: it does not say."""
    SWITCH_WAIT = 77
    """How long it waits for that, in seconds after its submission."""
    GONE = 78
    """Whether it is taken to have ended in the trial table, where jobs take turns."""
    CPUS_EACH = 79
    """CPUs that it holds for each that it uses: the threads of a core where it leaves all but one idle."""
    UNITS = 80
    """How many units of its generic resources it wants on all nodes together; 0: one on each node."""
    BY_TASK = 81
    """Whether each task has one of these units."""
    MEMORY_UNIT = 82
    """MB for each unit; 0: its memory is not counted so."""
    CPUS_UNIT = 83
    """CPUs for each unit; 0: it may have any beside them."""
    ANY_TASKS = 84
    """Whether it leaves open how many tasks it has."""
    LISTED = 85
    """Its place in Slurm's list of jobs; -1: it waits in the entry of its array."""
    GRES_FOUND = 86
    """Generic resources of the nodes that it would get if all were idle, while limits count them; else -1."""
    HOLDS = 87
    """What it holds of each resource (:class:`Tres`) while it runs; as many rows as there are resources."""


class Adapted(IntEnum):
    """What a job asks for in one of its partitions."""

    CPUS = 0
    """-1: it asks for more memory than the partition gives."""
    CPUS_PER_TASK = 1
    MEMORY_CPU = 2
    NODE_CPUS = 3
