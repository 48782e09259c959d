"""What the node policies remember: job rows behind the engine's, and their own tables in one tuple.

Nodes are numbered in the order of ties: by memory, then as the platform lists them. Times are µs, sizes are
in bytes.
"""

from __future__ import annotations

from typing import NamedTuple

from headway.engine.tables import JobTable, State, Table
from headway.jit.kernels import by_address, kernel
from headway.jit.rows import Entries, Row, Rows


class Uses(JobTable):
    """Job rows behind the engine's. A use is a job on a node, done, running or planned."""

    file: Row
    low: Row  # The nodes LOW to HIGH - 1 may run the job.
    high: Row
    size_class: Row
    on: Row  # The node; from BEGIN to END (its walltime, or the real end once it has ended).
    begin: Row
    loaded: Row  # From when on its file is there.
    end: Row
    node_next: Row  # Uses are linked twice, by node and by file.
    node_previous: Row
    file_next: Row
    file_previous: Row
    pass_next: Row  # Links a pass's plans.
    ended_next: Row
    settled_use: Row  # Whether `lru` has taken it in.
    # A file in memory is known by the use that brought it: linked by node (RESIDENT_ELSEWHERE: by file).
    resident_next: Row
    resident_last: Row
    resident_good: Row
    resident_elsewhere: Row
    replay_next: Row
    replay_last: Row
    replay_good: Row
    own_load: Row
    alive: Row  # Until its end has been looked at.


MORE_ROWS = len(Uses)

CONTIGUOUS, UNTIL_NEXT_START, LRU = range(3)
FIXED, LEO, LEM = range(3)
IDLE = -(1 << 62)
"""Availability of a core that nothing runs on."""
FAR = 1 << 61
"""Later than anything; what a core that a node does not have is available at."""
NIL = -1
QUOTIENTS = 96
"""Quotients kept of a continued fraction: two numbers of 63 bits have at most 92 together."""


class Rules(Entries):
    """A parameter of the policy."""

    presence: int  # How long a file stays on a node: CONTIGUOUS, UNTIL_NEXT_START or LRU.
    backfill: int  # Whether jobs may be planned in windows before the last planned end.
    weights: int  # Whether the weights are FIXED, or sometimes those of EFT: by node (LEO) or by load (LEM).
    scale: int  # Scores are whole multiples of 1 / SCALE µs; X, Y and Z are the weights times SCALE.
    x: int
    y: int
    z: int
    threshold: int  # How many nodes must run a job for LEM.
    most_ahead: int  # Starts later than this from now have scores that cannot be compared exactly.
    most_evicted: int  # The same for load times of files that are pushed out.
    watched: int  # The job whose scores are written down; NIL: none.
    form: int  # Which of the two forms of a policy by memory sizes: allowance=mean, or form=ratio.
    origin: int  # When the first job is submitted.
    known_from: int  # From when on the jobs are known that areas are planned from.
    at_once: int  # Whether a job may go to a larger memory size only where it starts at once.


class Notes(Entries):
    """A number that changes while the policy runs."""

    instant: int  # The instant at hand.
    settled: int  # The first run of which `lru` and starts are not settled.
    stamp: int  # What marks in tables are made with; each search has a new one.
    busy_nodes: int  # Nodes that run something.
    plans: int  # The chain of plans of this pass.
    ended_now: int  # The chain of uses that ended at this instant.
    best_start: int  # What `choose` found: start and wait for the file on the best node.
    best_wait: int
    loads: int  # Starts that loaded their file, and starts that found it there or coming.
    reuses: int
    wait_sum: int  # Waits of all starts so far, and how many they are.
    wait_count: int
    seen_busy: int  # Nodes that ran something when the watched job was planned.


class Nodes(Rows):
    """What is known of a node."""

    cores: Row
    speed: Row  # Its class of bandwidth.
    memory: Row
    busy: Row  # Jobs that run on it.
    last_start: Row  # The last start on it, and the last one before that instant.
    start_before: Row
    uses: Row  # The first of its real uses.
    plans: Row  # The first of its planned uses; for `lru` the latest, and FIRST_PLAN the earliest.
    first_plan: Row
    resident: Row  # The first of the files in its memory.
    points: Row  # The first point of its profile; NIL: it has none.
    # The stamp of the search that last found the file there, its start and wait there; negative: judged.
    mark: Row
    start: Row
    wait: Row
    copy: Row  # The stamp of the search that last counted a copy there.
    replay: Row  # The first of the files in its memory as `lru` replays it.
    # The file of all jobs of LAST_START, and of START_BEFORE; NIL: they have several, or one has none.
    last_file: Row
    file_before: Row


class Files(Rows):
    """What is known of a file."""

    size: Row
    uses: Row  # The first of its real uses.
    plans: Row  # The first of its planned uses.
    resident: Row  # The first of its copies in memory.
    mark: Row  # The stamp of the search that last met it, and the latest end of a use that it found.
    last: Row


class Points(Rows):
    """A point of a node's profile, for conservative backfilling."""

    time: Row
    free: Row  # Cores free from it on to the next.
    pin: Row  # Cores of jobs of no length at it.
    next: Row


class Seen(Rows):
    """What a node had to offer to the job that is watched."""

    start: Row
    wait: Row
    evicted: Row  # Load time of what it would push out.
    copies: Row  # Copies elsewhere.
    loads: Row  # Whether it would load the file itself.


@by_address
class Memory(NamedTuple):
    """The tables of the node policies."""

    rules: Rules
    notes: Notes
    nodes: Nodes
    """[row, node]"""
    files: Files
    """[row, file]"""
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
    points: Points
    """[row, point]"""
    class_from: Table
    """[size] the first node of each memory size, then how many nodes there are."""
    planned_area: Table
    """[size of the nodes, size of the jobs] what jobs may use of larger nodes."""
    used_area: Table
    """[size of the nodes, size of the jobs] what they have used, in processors x µs."""
    planned_cores: Table
    """[k, size of the nodes, size of the jobs] with form=ratio: how many cores of larger nodes jobs may use
    on average, as the quotients of a continued fraction; NIL behind the last one."""
    seen: Seen
    """[row, node]"""


@kernel
def load_time(state: State, node: int, file: int) -> int:
    """How long the node takes to load a file."""
    return int(state.memory.loads[state.memory.nodes.speed[node], file])
