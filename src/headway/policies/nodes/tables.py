"""What the node policies remember: job rows behind the engine's, and their own tables in one tuple.

Nodes are numbered in the order of ties: by memory, then as the platform lists them. Times are µs, sizes are
in bytes.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from headway.engine.tables import JOB_ROWS, State, Table
from headway.jit.kernels import by_address, kernel


class Use(IntEnum):
    """Job rows behind the engine's. A use is a job on a node, done, running or planned."""

    FILE = JOB_ROWS
    LOW = JOB_ROWS + 1
    """The nodes LOW to HIGH - 1 may run the job."""
    HIGH = JOB_ROWS + 2
    SIZE_CLASS = JOB_ROWS + 3
    ON = JOB_ROWS + 4
    """The node; from BEGIN to END (its walltime, or the real end once it has ended)."""
    BEGIN = JOB_ROWS + 5
    LOADED = JOB_ROWS + 6
    """From when on its file is there."""
    END = JOB_ROWS + 7
    NODE_NEXT = JOB_ROWS + 8
    """Uses are linked twice, by node and by file."""
    NODE_PREVIOUS = JOB_ROWS + 9
    FILE_NEXT = JOB_ROWS + 10
    FILE_PREVIOUS = JOB_ROWS + 11
    PASS_NEXT = JOB_ROWS + 12
    """Links a pass's plans."""
    ENDED_NEXT = JOB_ROWS + 13
    SETTLED_USE = JOB_ROWS + 14
    """Whether `lru` has taken it in."""
    RESIDENT_NEXT = JOB_ROWS + 15
    """A file in memory is known by the use that brought it: linked by node (RESIDENT_ELSEWHERE: by file)."""
    RESIDENT_LAST = JOB_ROWS + 16
    RESIDENT_GOOD = JOB_ROWS + 17
    RESIDENT_ELSEWHERE = JOB_ROWS + 18
    REPLAY_NEXT = JOB_ROWS + 19
    REPLAY_LAST = JOB_ROWS + 20
    REPLAY_GOOD = JOB_ROWS + 21
    OWN_LOAD = JOB_ROWS + 22
    ALIVE = JOB_ROWS + 23
    """Until its end has been looked at."""


MORE_ROWS = len(Use)

CONTIGUOUS, UNTIL_NEXT_START, LRU = range(3)
FIXED, LEO, LEM = range(3)
IDLE = -(1 << 62)
"""Availability of a core that nothing runs on."""
FAR = 1 << 61
"""Later than anything; what a core that a node does not have is available at."""
NIL = -1
QUOTIENTS = 96
"""Quotients kept of a continued fraction: two numbers of 63 bits have at most 92 together."""


class Rule(IntEnum):
    """A parameter of the policy."""

    PRESENCE = 0
    """How long a file stays on a node: CONTIGUOUS, UNTIL_NEXT_START or LRU."""
    BACKFILL = 1
    """Whether jobs may be planned in windows before the last planned end."""
    WEIGHTS = 2
    """Whether the weights are FIXED, or sometimes those of EFT: by node (LEO) or by load (LEM)."""
    SCALE = 3
    """Scores are whole multiples of 1 / SCALE µs; X, Y and Z are the weights times SCALE."""
    X = 4
    Y = 5
    Z = 6
    THRESHOLD = 7
    """How many nodes must run a job for LEM."""
    MOST_AHEAD = 8
    """Starts later than this from now have scores that cannot be compared exactly."""
    MOST_EVICTED = 9
    """The same for load times of files that are pushed out."""
    WATCHED = 10
    """The job whose scores are written down; NIL: none."""
    FORM = 11
    """Which of the two forms of a policy by memory sizes: allowance=mean, or form=ratio."""
    ORIGIN = 12
    """When the first job is submitted."""
    KNOWN_FROM = 13
    """From when on the jobs are known that areas are planned from."""
    AT_ONCE = 14
    """Whether a job may go to a larger memory size only where it starts at once."""


class Note(IntEnum):
    """A number that changes while the policy runs."""

    INSTANT = 0
    """The instant at hand."""
    SETTLED = 1
    """The first run of which `lru` and starts are not settled."""
    STAMP = 2
    """What marks in tables are made with; each search has a new one."""
    BUSY_NODES = 3
    """Nodes that run something."""
    PLANS = 4
    """The chain of plans of this pass."""
    ENDED_NOW = 5
    """The chain of uses that ended at this instant."""
    BEST_START = 6
    """What `choose` found: start and wait for the file on the best node."""
    BEST_WAIT = 7
    LOADS = 8
    """Starts that loaded their file, and starts that found it there or coming."""
    REUSES = 9
    WAIT_SUM = 10
    """Waits of all starts so far, and how many they are."""
    WAIT_COUNT = 11
    SEEN_BUSY = 12
    """Nodes that ran something when the watched job was planned."""


class Node(IntEnum):
    """What is known of a node."""

    CORES = 0
    SPEED = 1
    """Its class of bandwidth."""
    MEMORY = 2
    BUSY = 3
    """Jobs that run on it."""
    LAST_START = 4
    """The last start on it, and the last one before that instant."""
    START_BEFORE = 5
    USES = 6
    """The first of its real uses."""
    PLANS = 7
    """The first of its planned uses; for `lru` the latest, and FIRST_PLAN the earliest."""
    FIRST_PLAN = 8
    RESIDENT = 9
    """The first of the files in its memory."""
    POINTS = 10
    """The first point of its profile; NIL: it has none."""
    MARK = 11
    """The stamp of the search that last found the file there, its start and wait there; negative: judged."""
    START = 12
    WAIT = 13
    COPY = 14
    """The stamp of the search that last counted a copy there."""
    REPLAY = 15
    """The first of the files in its memory as `lru` replays it."""
    LAST_FILE = 16
    """The file of all jobs of LAST_START, and of START_BEFORE; NIL: they have several, or one has none."""
    FILE_BEFORE = 17


class File(IntEnum):
    """What is known of a file."""

    SIZE = 0
    USES = 1
    """The first of its real uses."""
    PLANS = 2
    """The first of its planned uses."""
    RESIDENT = 3
    """The first of its copies in memory."""
    MARK = 4
    """The stamp of the search that last met it, and the latest end of a use that it found."""
    LAST = 5


class Point(IntEnum):
    """A point of a node's profile, for conservative backfilling."""

    TIME = 0
    FREE = 1
    """Cores free from it on to the next."""
    PIN = 2
    """Cores of jobs of no length at it."""
    NEXT = 3


class Seen(IntEnum):
    """What a node had to offer to the job that is watched."""

    START = 0
    WAIT = 1
    EVICTED = 2
    """Load time of what it would push out."""
    COPIES = 3
    """Copies elsewhere."""
    LOADS = 4
    """Whether it would load the file itself."""


@by_address
class Memory(NamedTuple):
    """The tables of the node policies."""

    rules: Table
    """[Rule]"""
    notes: Table
    """[Note]"""
    nodes: Table
    """[Node, node]"""
    files: Table
    """[File, file]"""
    loads: Table
    """[class of bandwidth, file] how long it takes to load."""
    base: Table
    """[node, k] when k + 1 cores are free of running jobs."""
    plan: Table
    """[k, node] the same with what the present pass has planned."""
    until: Table
    """[k, node] until when they stay free in that plan."""
    open: Table
    """[k] nodes on which k cores are free now in that plan."""
    points: Table
    """[Point, point]"""
    class_from: Table
    """[size] the first node of each memory size, then how many nodes there are."""
    planned_area: Table
    """[size of the nodes, size of the jobs] what jobs may use of larger nodes."""
    used_area: Table
    """[size of the nodes, size of the jobs] what they have used, in processors x µs."""
    planned_cores: Table
    """[k, size of the nodes, size of the jobs] with form=ratio: how many cores of larger nodes jobs may use
    on average, as the quotients of a continued fraction; NIL behind the last one."""
    seen: Table
    """[Seen, node]"""


@kernel
def load_time(state: State, node: int, file: int) -> int:
    """How long the node takes to load a file."""
    return int(state.memory.loads[state.memory.nodes[Node.SPEED, node], file])
