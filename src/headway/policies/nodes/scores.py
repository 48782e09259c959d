"""Which node a job is planned on: the lowest score A + X B + Y C + Z D, ties in the order of nodes.

A is the earliest start there, B the wait for the file at A, C the load times of the files it would push out
(times its share of the cores), D the copies on other nodes times the load time, where it has to load.

Scores are exact: whole multiples of 1 / SCALE µs, counted from now. Only nodes that could win are looked at
closely: nodes where the file is or will be (the chains of the file lead there), then those whose start and
load time alone do not exceed the best score.
"""

from __future__ import annotations

from headway.engine.tables import PROCS, TOO_FAR, WALL, State
from headway.engine.verbs import refuse
from headway.jit import kernel, routine
from headway.policies.nodes.cores import available
from headway.policies.nodes.layout import (
    AT_ONCE,
    BACKFILL,
    BEST_START,
    BEST_WAIT,
    BUSY_NODES,
    FAR,
    FILE,
    FILE_NEXT,
    FILES,
    FIXED,
    HIGH,
    LEM,
    LEO,
    LOW,
    LRU,
    MOST_AHEAD,
    MOST_EVICTED,
    NIL,
    NODES,
    ON,
    PRESENCE,
    RESIDENT_ELSEWHERE,
    RULE,
    SCALE,
    SEEN_BUSY,
    SEEN_ENTRIES,
    SIZE_CLASS,
    SPEEDS,
    STAMP,
    T_CLASS_FROM,
    T_COPY,
    T_CORES,
    T_FILE_PLANS,
    T_FILE_RESIDENT,
    T_FILE_USES,
    T_LOAD,
    T_MARK,
    T_ROW,
    T_SEEN,
    T_START,
    T_UNTIL,
    T_WAIT,
    THRESHOLD,
    THRESHOLD_OVER,
    WATCHED,
    X,
    Y,
    Z,
    cell,
    load_time,
    note,
    put,
)
from headway.policies.nodes.lru import replayed_wait
from headway.policies.nodes.turn import wait_for_file
from headway.policies.nodes.uses import evicted, wait_by_use
from headway.policies.nodes.windows import earliest, fits_first


@kernel
def begins(state: State, t: int, node: int, job: int) -> int:
    """A: when the job can start on the node; FAR where it is too wide."""
    procs = state.jobs[PROCS, job]
    at = available(state, node, procs)
    if at >= FAR:
        return FAR
    at = earliest(state, t, node, procs, state.jobs[WALL, job]) if note(state, BACKFILL) else max(t, at)
    return FAR if at > t and node >= own_nodes_end(state, job) else at


@kernel
def own_nodes_end(state: State, job: int) -> int:
    """The first node on which the job has to start at once, if at all; where it need not, the end of them."""
    if note(state, AT_ONCE) == 0:
        return int(state.jobs[HIGH, job])
    return cell(state, T_CLASS_FROM, state.jobs[SIZE_CLASS, job] + 1)


@routine
def count_copies(state: State, t: int, file: int, stamp: int) -> int:
    """Mark the nodes that hold the file now or are loading it; how many they are."""
    copies = 0
    lru = note(state, PRESENCE) == LRU
    for chain in range(2 if lru else 1):
        use = cell(state, T_FILE_USES if chain == 0 else T_FILE_RESIDENT, file)
        while use != NIL:
            node = state.jobs[ON, use]
            if cell(state, T_COPY, node) != stamp:
                wait = (
                    replayed_wait(state, node, file, t, False) if lru else wait_by_use(state, use, t)
                )  # fmt: skip
                if wait < FAR:
                    put(state, T_COPY, node, stamp)
                    copies += 1
            use = state.jobs[FILE_NEXT if chain == 0 else RESIDENT_ELSEWHERE, use]
    return copies


@kernel
def mark_holders(state: State, t: int, job: int, table: int, following: int, stamp: int, lru: bool) -> None:
    """The wait for the file on each node that a chain of its uses, or of its copies in memory, leads to."""
    file = state.jobs[FILE, job]
    use = cell(state, table, file)
    while use != NIL:
        node = state.jobs[ON, use]
        if state.jobs[LOW, job] <= node < state.jobs[HIGH, job]:
            if cell(state, T_MARK, node) != stamp:
                put(state, T_MARK, node, stamp)
                put(state, T_WAIT, node, FAR)
                at = begins(state, t, node, job)
                put(state, T_START, node, at)
                if lru and at < FAR:
                    put(state, T_WAIT, node, replayed_wait(state, node, file, at, True))
            at, shortest = cell(state, T_START, node), cell(state, T_WAIT, node)
            if not lru and at < FAR and shortest > 0:
                put(state, T_WAIT, node, min(shortest, wait_by_use(state, use, at)))
        use = state.jobs[following, use]


@kernel
def pushed_out(state: State, t: int, node: int, job: int, at: int, y: int) -> int:
    """Y C, with C the load times of what the job pushes out, times its share of the cores."""
    if y == 0 or state.jobs[FILE, job] < 0:
        return 0
    total = evicted(state, t, node, state.jobs[FILE, job], at)
    if total > note(state, MOST_EVICTED):
        refuse(state, TOO_FAR, job)
        return 0
    return int(y // cell(state, T_CORES, node) * state.jobs[PROCS, job] * total)


@kernel
def latest_start(t: int, best: int, floor: int, scale: int) -> int:
    """The latest start with which a node can still have a score as low as the best."""
    return FAR - 1 if best == FAR else t + (best - floor) // scale


@kernel
def later_than(state: State, t: int, node: int, procs: int, walltime: int, latest: int) -> bool:
    """Whether it is plain that the first window long enough begins later than that."""
    if fits_first(state, t, node, procs, walltime):
        return False
    return cell(state, T_UNTIL, (procs - 1) * note(state, NODES) + node) > max(latest, t)


@routine
def choose(state: State, t: int, job: int) -> int:
    """The node with the lowest score; start and wait for the file there are left in the notes."""
    file, procs = state.jobs[FILE, job], state.jobs[PROCS, job]
    low, high = state.jobs[LOW, job], state.jobs[HIGH, job]
    own_end = own_nodes_end(state, job)
    scale, x, y, z = note(state, SCALE), note(state, X), note(state, Y), note(state, Z)
    rule, lru, backfill = note(state, RULE), note(state, PRESENCE) == LRU, note(state, BACKFILL) != 0
    if rule == LEM and note(state, BUSY_NODES) * note(state, THRESHOLD_OVER) < note(state, NODES) * note(
        state, THRESHOLD
    ):
        x, y, z = scale, 0, 0
    # Without weights nobody asks where files are, unless the plans are to be looked at.
    if rule == FIXED and x == 0 and y == 0 and z == 0 and note(state, WATCHED) == NIL:
        file = NIL
    stamp = note(state, STAMP) + 1
    state.options[STAMP] = stamp
    copies = count_copies(state, t, file, stamp) if z > 0 and file >= 0 else 0
    least = 0
    if file >= 0:
        least = FAR
        for speed in range(note(state, SPEEDS)):
            least = min(least, cell(state, T_LOAD, speed * note(state, FILES) + file))
    floor = least * (scale if rule == LEO else x)
    later_floor = least * x
    one_speed = note(state, SPEEDS) == 1
    best, best_node, best_at, best_wait = FAR, NIL, FAR, 0
    if file >= 0:
        for chain in range(3 if lru else 2):
            table = T_FILE_USES if chain == 0 else T_FILE_PLANS if chain == 1 else T_FILE_RESIDENT
            following = FILE_NEXT if chain < 2 else RESIDENT_ELSEWHERE
            mark_holders(state, t, job, table, following, stamp, lru)
        for chain in range(3 if lru else 2):
            table = T_FILE_USES if chain == 0 else T_FILE_PLANS if chain == 1 else T_FILE_RESIDENT
            following = FILE_NEXT if chain < 2 else RESIDENT_ELSEWHERE
            use = cell(state, table, file)
            while use != NIL:
                node = state.jobs[ON, use]
                use = state.jobs[following, use]
                if cell(state, T_MARK, node) != stamp or cell(state, T_WAIT, node) == FAR:
                    continue
                put(state, T_MARK, node, -stamp)
                at, wait = cell(state, T_START, node), cell(state, T_WAIT, node)
                ahead = at - t
                if ahead > note(state, MOST_AHEAD):
                    refuse(state, TOO_FAR, job)
                    continue
                eager = rule == LEO and ahead == 0
                score = scale * ahead + (scale if eager else x) * wait
                if score > best:
                    continue
                score += pushed_out(state, t, node, job, at, 0 if eager else y)
                if score < best or (score == best and node < best_node):
                    best, best_node, best_at, best_wait = score, node, at, wait
    # No other node can do better than to start now with the shortest load.
    if best < floor:
        low = high
    # A node where the cores come free after `latest` is worse than the best one even with the shortest load.
    latest = latest_start(t, best, later_floor, scale)
    held = best_node != NIL
    rows = note(state, T_ROW) + note(state, NODES) * (procs - 1)
    for node in range(low, high):
        at = state.options[rows + node]
        if at > latest and at > t:
            continue
        if best <= floor and best_node < node:
            break
        ahead = max(at - t, 0)
        if ahead > note(state, MOST_AHEAD):
            refuse(state, TOO_FAR, job)
            continue
        own = 0
        if file >= 0:
            own = least if one_speed else load_time(state, node, file)
        if scale * ahead + (scale if rule == LEO and ahead == 0 else x) * own > best or (
            held and cell(state, T_MARK, node) == -stamp
        ):
            continue
        if backfill:
            if later_than(state, t, node, procs, state.jobs[WALL, job], latest):
                continue
            at = earliest(state, t, node, procs, state.jobs[WALL, job])
            ahead = at - t
            if ahead > note(state, MOST_AHEAD):
                refuse(state, TOO_FAR, job)
                continue
        else:
            at = max(at, t)
        if at > t and node >= own_end:
            continue
        eager = rule == LEO and ahead == 0
        by = scale if eager else x
        score = scale * ahead + by * own
        if file >= 0 and z > 0 and not eager:
            elsewhere = copies - (1 if cell(state, T_COPY, node) == stamp else 0)
            score += z * elsewhere * own
        if score > best or (score == best and node > best_node):
            continue
        score += pushed_out(state, t, node, job, at, 0 if eager else y)
        if score < best or (score == best and node < best_node):
            best, best_node, best_at, best_wait = score, node, at, own
            latest = latest_start(t, best, later_floor, scale)
    state.options[BEST_START] = best_at
    state.options[BEST_WAIT] = best_wait
    return best_node


@routine
def look_closely(state: State, t: int, job: int) -> None:
    """Note A, B, C and D of every node for a job that is watched."""
    file = state.jobs[FILE, job]
    state.options[SEEN_BUSY] = note(state, BUSY_NODES)
    stamp = note(state, STAMP) + 1
    state.options[STAMP] = stamp
    copies = count_copies(state, t, file, stamp) if file >= 0 else 0
    for node in range(note(state, NODES)):
        at = FAR
        if state.jobs[LOW, job] <= node < state.jobs[HIGH, job]:
            at = begins(state, t, node, job)
        wait, total, elsewhere, loads = 0, 0, 0, 0
        if at < FAR and file >= 0:
            wait = wait_for_file(state, node, file, at, True)
            loads = 1 if wait == FAR else 0
            if loads:
                wait = load_time(state, node, file)
                elsewhere = copies - (1 if cell(state, T_COPY, node) == stamp else 0)
            total = evicted(state, t, node, file, at)
        place = node * SEEN_ENTRIES
        put(state, T_SEEN, place, at)
        put(state, T_SEEN, place + 1, wait)
        put(state, T_SEEN, place + 2, total)
        put(state, T_SEEN, place + 3, elsewhere)
        put(state, T_SEEN, place + 4, loads)
