"""What Slurm's controller knows: the rows of its tables, and the tables in one tuple.

Times are whole seconds on the log's clock, as Slurm has them; time limits are minutes, memory is MB.
Sets of nodes are rows of bytes, 1 where a node is in the set, and for backfill rows of words, 64 nodes to a
word (:mod:`~headway.policies.slurm.bits`). -1 stands for "not given" and "no limit".
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from headway.engine.tables import Table
from headway.jit.kernels import by_address

Sets = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.float64]

UNSET = -1
RESOURCE = 64
"""What a reason counts more for each resource: 64 x :class:`Tres` + :class:`Reason`."""


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
    HOLDS = 85
    """What it holds of each resource (:class:`Tres`) while it runs; as many rows as there are resources."""


class Adapted(IntEnum):
    """What a job asks for in one of its partitions."""

    CPUS = 0
    """-1: it asks for more memory than the partition gives."""
    CPUS_PER_TASK = 1
    MEMORY_CPU = 2
    NODE_CPUS = 3


class SlurmNode(IntEnum):
    """What a node has beyond the engine's rows."""

    WEIGHT = 0
    THREADS = 1
    """CPUs of a core: the least that can be given."""
    USABLE = 2
    """1: yes; less: it is down or drained, for so many reasons at once."""
    COMPLETING = 3
    """Runs that ended on it whose epilog is not over."""
    IDLE_SINCE = 5
    """When the last job on it ended."""
    OFF_AFTER = 6
    """How long it is idle before it is switched off; -1: it never is."""
    BOOT_TAKES = 9
    """How long it takes to come back."""
    KIND = 7
    """The same for nodes that differ in their names only; under select/linear lighter ones have less."""
    SET_WEIGHT = 4
    """Its weight as the last tests left it: jobs with generic resources make nodes lighter for others, limits
    on nodes make those heavier that would count anew."""
    WEIGHT_BEFORE = 8
    """The same when the last cycle began."""


class Partition(IntEnum):
    """A partition."""

    TIER = 0
    FACTOR = 1
    MAX_MINUTES = 2
    MIN_NODES = 3
    MAX_NODES = 4
    MAX_CPUS = 5
    """CPUs of a node that its jobs may have together."""
    MEMORY_CPU = 6
    MEMORY_NODE = 7
    EXCLUSIVE = 8
    QOS = 9
    UP = 10
    NODES = 11
    FAILED = 12
    """Whether a job of it was refused in the present pass."""
    TESTED = 13
    """Jobs of it that the present pass has looked at."""
    PREEMPT = 14
    """:class:`Mode` of preempting its jobs."""
    GRACE = 15
    ALIKE = 16
    """Whether all its nodes have the same CPUs, memory and weight."""
    LEVEL = 17
    """Which level its jobs are on, where jobs are suspended for others; the first, if they take turns."""
    ROWS = 18
    """How many of its jobs may have the same core and take turns on it."""
    ROWS_PREEMPTING = 19
    """The same for jobs that may preempt one of another QOS there by suspension."""
    CPUS_ROW = 20
    """Which of the nodes' further rows has what is left of MAX_CPUS; -1: it has no such bound."""
    LEAST_LOADED = 21
    """Whether jobs take the least loaded nodes first (LLN)."""
    KEEPS_NODES = 22
    """Whether each of its jobs lets nobody but its user on its nodes (ExclusiveUser)."""
    OVER_TIME = 23
    """How many seconds beyond their limit its jobs may run; -1: as long as they like."""


class Record(IntEnum):
    """An entry of the queue: a job in one of its partitions."""

    JOB = 0
    PARTITION = 1
    TIER = 2
    PRIORITY = 3
    PLACE = 4
    """Of the partition in the job's list."""


class Slot(IntEnum):
    """A stretch of time in backfill's plan table; its set of nodes is free of plans."""

    BEGIN = 0
    END = 1
    NEXT = 2
    FREE = 3
    """How many nodes that the job at hand could have are free of plans in it."""
    RISES = 4
    """Whether a node that the job at hand could have is free in the next slot and not in this one."""
    LACKED = 5
    """The end of the last slot before this one with fewer nodes than the job at hand wants; 0: none."""
    KNOWN = 6
    """For which kinds of jobs FREE and RISES are kept in ``surveys``: a bit for each kind."""
    ORDER = 7
    """Not of a slot: the slots of a window one after the other."""


class Plan(IntEnum):
    """A start that the present cycle has planned."""

    JOB = 0
    START = 1
    END = 2
    """As entered in the table: rounded down."""


class SlurmClock(IntEnum):
    """When what happened last."""

    FULL_NEXT = 0
    """When the next full pass is due, in ms: a minute of the background loop is a little longer than one."""
    PASS = 1
    """The last pass that the background loop asked for."""
    COUNT = 2
    """Requests for a pass since then."""
    ASKED = 44
    """A pass that is asked for and has to wait for the least time after the last: 1; a full one: 2."""
    PASSED = 45
    """The last pass of the main loop."""
    CYCLE_END = 3
    CYCLE_NEXT = 4
    """Backfill sleeps until then, in ms."""
    STAMP = 5
    """The last change of jobs or nodes."""
    PRIORITY_NEXT = 6
    PRIORITY_LAST = 7
    QUEUED = 8
    """Records in the queue."""
    RUNNING = 9
    """Entries in the list of running jobs."""
    COMPLETING = 10
    """Entries in the heap of epilogs."""
    SLOTS = 11
    """Records of the plan table used in this cycle."""
    PLANS = 12
    CYCLES = 13
    PASSES = 14
    BASIC = 15
    """The priority that the next job gets without factors."""
    PENDING = 16
    """Jobs that wait."""
    STAMPED = 17
    """Whether the present cycle changed a time stamp: it planned a job on idle nodes, or put a start off."""
    SEARCHED = 18
    """Jobs that the present cycle has searched a start for."""
    SEARCHES = 19
    """Searches for a start, in all."""
    CHANGED = 20
    """When something last changed that a cycle's outcome depends on."""
    DRAWN = 22
    """The last number drawn, from which the next one comes."""
    UNSURE = 24
    """Whether the last cycle stopped before it was known if it changes a time stamp."""
    IDLE_SINCE = 25
    """Since when nothing runs and nothing more will come while jobs wait; 0 where that is not so."""
    DELAYED = 23
    """Whether it was drawn how late the next cycle is."""
    CYCLE_STARTS = 21
    """Jobs that the present cycle has started."""
    HAPPENED = 26
    """Happenings that are past."""
    RETURNED = 27
    """Jobs that come back to the queue when the present pass is over."""
    GRACES = 29
    """Entries in the heap of victims that have some time left."""
    VICTIMS = 28
    """Entries in the list of jobs that may be preempted."""
    BOOTING = 31
    """Nodes that are coming back, among the entries in the heap of epilogs."""
    SLICE_NEXT = 32
    """When the next time slice begins."""
    TURNS = 33
    """Places given so far in the order of turns."""
    RESET_DUE = 35
    """Whether the next calculation of priorities forgets all usage."""
    LOOKS_AHEAD = 34
    """Whether nodes are sought that will be free later, not now."""
    OF_PASS = 36
    """The second that the present pass or cycle is of; a cycle that is made up for is over."""
    UNDEALT = 37
    """Whether a job has ended since those that take turns were dealt to rows."""
    AGELESS_FROM = 38
    """Where ages are limited, the jobs from here on up to AGELESS_TO may have none yet."""
    AGELESS_TO = 39
    ENDS_LAID = 40
    """Whether the table AFTER has the ends of the jobs that run now; -1: there are too many."""
    OPENINGS = 41
    """Rows of openings that are laid for them."""
    LAST_ARRAY = 43
    """The array of the task that backfill planned last."""
    BY_KIND = 42
    """Whether a start is tried, which select/linear does kind by kind of nodes, the lightest first."""
    UNSETTLED = 30
    """Whether jobs were suspended since it was last found out who may go on."""


class Choice(IntEnum):
    """How a constraint chooses nodes: its parts are further sets of nodes with features."""

    FIRST = 0
    PARTS = 1
    """0: any of the allowed nodes."""
    NODES = 2
    """Of a part: how many nodes are to be of it; 0: all, or all of another part."""


class Factor(IntEnum):
    """Numbers of a partition, a QOS or an association that priority reads, from 0 to 1."""

    PARTITION = 0
    QOS = 1
    ASSOCIATION = 2


class Tres(IntEnum):
    """What limits, bills and weights of the priority count; generic resources follow."""

    CPU = 0
    MEMORY = 1
    NODE = 2
    BILLING = 3


class Holder(IntEnum):
    """Who sets limits and is charged: QOS first, then associations."""

    PARENT = 0
    """The association above; -1 for the root and for QOS."""
    SHARES = 1
    IS_USER = 2
    RUNNING = 3
    NO_DECAY = 4
    OVER_PARTITION = 5
    """A QOS whose limits come before those of the partition's."""
    MIN_PRIORITY = 6
    NO_RESERVE = 7
    GRP_JOBS = 8
    GRP_WALL = 9
    MAX_JOBS = 10
    """Of an association."""
    MAX_WALL = 11
    MAX_JOBS_USER = 12
    MAX_JOBS_ACCOUNT = 13
    PRIORITY = 15
    """Of a QOS."""
    EXEMPT = 16
    """How long a job of a QOS runs before it may be preempted; -1: as the site has it."""
    PREEMPT = 17
    """:class:`Mode` of preempting jobs of a QOS."""
    GRACE = 18
    SUBMITTED = 19
    """Jobs that wait or run."""
    GRP_SUBMIT = 20
    MAX_SUBMIT = 21
    """Of an association."""
    MAX_SUBMIT_USER = 22
    WAIVES = 23
    """Which bounds of partitions do not bind jobs of a QOS (:class:`Waiver`, as bits)."""
    MAX_SUBMIT_ACCOUNT = 14
    BLOCKED = 24
    """Until when the present cycle plans nobody of a QOS, because a limit stopped one (assoc_limit_stop)."""
    AGEING = 25
    """Waiting jobs that gain age, where that is limited."""
    GRP_AGEING = 26
    MAX_AGEING = 27
    """Of an association."""
    MAX_AGEING_USER = 28
    MAX_AGEING_ACCOUNT = 29


class Cap(IntEnum):
    """Limits that are counted by resource."""

    GRP = 0
    GRP_MINS = 1
    GRP_RUN_MINS = 2
    MAX_JOB = 3
    MAX_NODE = 4
    MAX_MINS_JOB = 5
    MIN_JOB = 6
    MAX_USER = 7
    MAX_ACCOUNT = 8


class Usage(IntEnum):
    """Numbers of a QOS or an association that change."""

    RAW = 0
    """Billing seconds, decayed."""
    WALL = 1
    FAIRSHARE = 2
    """The fair share factor of a user, as last calculated."""
    SHARES_NORM = 3
    LEVEL = 4
    EFFECTIVE = 5
    FACTOR = 6
    """UsageFactor of a QOS."""
    SHARES_PRODUCT = 7
    """Parts of the shares multiplied up to the root."""
    LIMIT_FACTOR = 8
    """What a minute of a job of a QOS counts for limits before it starts: UsageFactor if UsageFactorSafe."""


@by_address
class Memory(NamedTuple):
    """The tables of Slurm's controller."""

    clock: Table
    """[Clock]"""
    settings: Table
    """[Setting]"""
    weights: Numbers
    """[Weight]"""
    jobs: Table
    """[Job, job]"""
    nodes: Table
    """[Node, node]"""
    partitions: Table
    """[Partition, partition]"""
    members: Sets
    """[partition, node]"""
    lists: Table
    """[list of partitions, place] partitions of a job; -1 behind the last."""
    standing: Table
    """[list of partitions, place] why jobs with this list may not use the partition (:class:`Reason`)."""
    adapted: Table
    """[place in the list x Adapted, job with ADAPTED] what jobs ask for in each of their partitions."""
    features: Sets
    """[features, node] nodes that a constraint allows and that are large enough for those who have it."""
    choices: Table
    """[Choice, features] how nodes with features are chosen."""
    factors: Numbers
    """[Factor, partition | QOS | association]"""
    holders: Table
    """[Holder, QOS, then association]"""
    caps: Table
    """[Cap x holders + holder, resource]"""
    held: Table
    """[holder, resource] what running jobs hold."""
    users: Table
    """[QOS x users + user, resource, then running jobs] what a user's jobs of a QOS hold."""
    accounts: Table
    """[QOS x accounts + account, resource, then running jobs]"""
    submitted_by_user: Table
    """[QOS x users + user] jobs that wait or run."""
    submitted_by_account: Table
    """[QOS x accounts + account]"""
    ageing_by_user: Table
    """[QOS x users + user] jobs that wait and gain age, where that is limited."""
    ageing_by_account: Table
    """[QOS x accounts + account]"""
    usage: Numbers
    """[Usage, holder]"""
    used: Numbers
    """[holder, resource] decayed seconds."""
    queue: Table
    """[Record, place] the waiting jobs in order."""
    running: Table
    """[end by limit | job, place] sorted by the end, then by the start."""
    epilogs: Table
    """[time | run, place] a heap of nodes that become free; -1 - node where one is switched on."""
    trial: Table
    """[engine's node row, node] what would be free if some running jobs were over."""
    work: Table
    """[Work, node] space for the choice of nodes."""
    sets: Sets
    """[Scratch, node] sets that a search works on."""
    slots: Table
    """[Slot, record]"""
    least: Table
    """[engine's node row, node] the least that is free over a time (EASY and conservative on named nodes)."""
    instant: Table
    """[engine's node row, node] what is free at an instant of it."""
    claims: Table
    """[place x node rows + node row, node] what a reservation of theirs changes."""
    surveys: Table
    """[slot, kind of jobs] what was found out about a slot: 2 x FREE + RISES."""
    plans: Table
    """[Plan, place] the plans of the present cycle."""
    counts: Table
    """[Count, user | partition | association | user x partition] what the present cycle has searched for."""
    billing: Numbers
    """[partition, resource] what a unit of a resource is billed."""
    ranks: Table
    """[Rank, association] space to rank users in."""
    arrays: Table
    """[Array, array]"""
    dependencies: Table
    """[Dependency, entry]"""
    happenings: Table
    """[Happening, place] by time."""
    reservations: Table
    """[Reservation, reservation]"""
    reserved: Sets
    """[reservation, node] its nodes."""
    gres_total: Table
    """[resource, node] generic resources of nodes, and MAX_CPUS of partitions that have it; then, where jobs
    are suspended for others, for each level the CPUs of nodes as bits: the engine's further rows."""
    gres_asked: Table
    """[resource, job] what jobs want of each node of its generic resources, or as a unit of them; nothing of
    MAX_CPUS."""
    gres_of: Table
    """[resource] of one of a type: the resource without it; -1: it has none."""
    gres_tres: Table
    """[resource] its place among the resources that are counted (:class:`Tres`); -1: it is not."""
    tres_weights: Numbers
    """[resource] what asking for it weighs in the priority (PriorityWeightTRES)."""
    tres_whole: Numbers
    """[partition, resource] of how much a request is a part: what the partition has, or one of each."""
    licences: Table
    """[Licence, licence]"""
    licences_asked: Table
    """[licence, job]"""
    required: Sets
    """[set, node] nodes that jobs must have; the first is empty."""
    switches: Table
    """[Switch, switch] where nodes are chosen by the tree of switches; else there are none."""
    switch_steps: Table
    """[switch, switch] links on the way from one to the other; -1: there is none."""
    levels: Table
    """[Level, level] from the lowest tier up; none where nobody is suspended for others."""
    imagined: Table
    """[engine's node row, node] what would be free if jobs of lower levels were suspended."""
    going: Table
    """[word, node] CPUs of jobs that go on, as bits."""
    may_preempt: Table
    """[QOS, QOS] whether jobs of the one may preempt those of the other."""
    victims: Table
    """[Victim, place] running jobs that the one at hand may preempt."""
    graces: Table
    """[time | job, place] a heap of victims that have some time left."""
    returned: Table
    """[place] jobs that come back to the queue when the present pass is over."""
    words_members: Table
    """[partition, word] ``members`` again, 64 nodes to a word."""
    words_features: Table
    """[features, word] ``features`` again."""
    words_switches: Table
    """[switch, word] the nodes below a switch."""
    words_sets: Table
    """[Scratch, word] sets that a search works on."""
    words_free: Table
    """[slot, word] nodes of a slot that are free of plans."""
    licences_left: Table
    """[slot, licence] licences that plans and running jobs leave in a slot (bf_licenses)."""
    words_folded: Table
    """[slot, word] nodes that are free of plans in a slot and in all behind it that are folded with it."""
    words_planned: Table
    """[place, word] the nodes of the plans."""
    words_held: Table
    """[place, word] the nodes of the running jobs, in the order of their ends; as far as there is room."""
    words_over: Table
    """[place, word] nodes on which nothing runs any more when these jobs and all before them are over."""
    after: Table
    """[row, end] what a node has free after the end of a job on it, with rows as in the engine's table of
    nodes and behind them the place of the job; node by node, in the order of their ends."""
    openings: Table
    """[row, node] the place of the end from which on a node will do for jobs that ask for the same."""
    words_open: Table
    """[row, word] nodes that will do for them as things are."""
    opened_for: Table
    """[row, term] what those ask for: partition, features, terms for each node, generic resources."""


class Count(IntEnum):
    """Whose jobs a cycle counts."""

    USER = 0
    PARTITION = 1
    ASSOCIATION = 2
    USER_PARTITION = 3
    PLANNED = 4
    """Plans in a partition."""


class Rank(IntEnum):
    """Space to rank users in."""

    ORDER = 0
    """Associations by parent, then as they are served."""
    FIRST = 1
    """Where the children of an association begin in that order."""
    COUNT = 2
    NEXT = 3
    """The child that is looked at next."""
    TIED = 4


class Work(IntEnum):
    """Rows of space for the choice of nodes."""

    OFFER = 0
    """CPUs that a node can give the job."""
    TAKEN = 1
    """CPUs that it gives."""
    FIRST = 2
    LAST = 3
    RUN_CPUS = 4
    RUN_NODES = 5
    CHOSEN = 6
    """What it gives, put by."""
    BEST = 9
    """What it gives for the best of several alternatives."""
    NAMED = 10
    """The first required node of a run; -1: it has none."""
    FREE = 11
    """CPUs that are free on a node, whether the job can have them or not."""
    UNITS = 12
    """Units of generic resources that a node can give the job."""
    RUN_UNITS = 13
    DEALT = 14
    """Units that it gives."""
    GPUS = 15
    """What a node has free of the generic resource that a job asks for."""
    COUNT = 16
    """CPUs and these together, by which nodes are small, where a job asks for generic resources."""
    ENDS_FROM = 7
    """The columns of AFTER, up to ENDS_TO, with the ends of running jobs on a node."""
    ENDS_TO = 8


class Switch(IntEnum):
    """A switch of the network, and what the choice of nodes notes about it."""

    LEVEL = 0
    """0 for leaves."""
    PARENT = 1
    """The switch above it; itself where there is none."""
    NODES = 2
    """How many nodes below it may be taken."""
    DISTANCE = 3
    """Steps from the switches in use, all together; -1: some cannot be reached."""
    IN_USE = 4


class Scratch(IntEnum):
    """Sets of nodes that a pass works on."""

    AVAILABLE = 0
    """Nodes that the present pass may still use."""
    CANDIDATES = 1
    WINDOW = 2
    """A: nodes free of plans as long as the job may run."""
    WIDEST = 3
    """All that the job could have."""
    USABLE = 4
    ALLOWED = 5
    """Nodes that reservations leave to the job at hand."""
    BEFORE = 6
    """Nodes on which the job at hand might start if nothing ran."""
    IDLE = 7
    """Nodes on which nothing runs."""
    COMPLETING = 8
    OPEN = 9
    """Nodes on which something could start: usable, not completing, with something free."""
    TAKEN = 10
    """Nodes that were chosen."""
    CHOICE = 11
    """Nodes of one part of a constraint."""
    HELD = 12
    """Nodes that running jobs hold whom a limit counts together."""
    AHEAD = 13
    """Nodes free of plans in the slots of a window behind those whose sets are folded."""
    AROUND = 14
    """Nodes of the job's partition, with its features or without: when one comes free, it tries again."""
    OTHERS = 15
    """Nodes that the users of other jobs keep from the job at hand, or it from them."""
    REACHED = 16
    """Nodes that a job may still take below one switch."""
    LIGHT = 17
    """Those of the weights that it needs."""


class Reason(IntEnum):
    """Why a job waits, by Slurm's own names."""

    NONE = 0
    PRIORITY = 1
    RESOURCES = 2
    BEGIN_TIME = 3
    PARTITION_DOWN = 4
    PARTITION_NODE_LIMIT = 5
    PARTITION_TIME_LIMIT = 6
    QOS_JOB_LIMIT = 7
    QOS_MAX_JOBS_USER = 8
    QOS_MAX_JOBS_ACCOUNT = 9
    QOS_WALL = 10
    QOS_GRP_WALL = 11
    ASSOC_GRP_JOBS = 12
    ASSOC_MAX_JOBS = 13
    ASSOC_MAX_WALL = 14
    ASSOC_GRP_WALL = 15
    QOS_GRP = 16
    QOS_GRP_MINS = 17
    QOS_GRP_RUN_MINS = 18
    QOS_MAX_JOB = 19
    QOS_MAX_NODE = 20
    QOS_MAX_MINS_JOB = 21
    QOS_MIN_JOB = 22
    QOS_MAX_USER = 23
    QOS_MAX_ACCOUNT = 24
    ASSOC_GRP = 25
    ASSOC_GRP_MINS = 26
    ASSOC_GRP_RUN_MINS = 27
    ASSOC_MAX_JOB = 28
    ASSOC_MAX_NODE = 29
    ASSOC_MAX_MINS_JOB = 30
    ASSOC_MIN_JOB = 31
    HELD = 32
    DEPENDENCY = 33
    NEVER_SATISFIED = 34
    ARRAY_LIMIT = 35
    RESERVATION = 36
    LICENCES = 37
    NODES_AWAY = 38
    DEADLINE = 39
    SUBMIT_LIMIT = 40
    PARTITION_CONFIG = 41
    QOS_NOT_ALLOWED = 42
    ACCOUNT_NOT_ALLOWED = 43
    MEMORY_LIMIT = 44
    CANCELLED = 45
