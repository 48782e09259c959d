"""Which node a job is planned on: the lowest score A + X B + Y C + Z D, ties in the order of nodes.

A is the earliest start there, B the wait for the file at A, C the load times of the files it would push out
(times its share of the cores), D the copies on other nodes times the load time, where it has to load.

Scores are exact: whole multiples of 1 / SCALE µs, counted from now. Only nodes that could win are looked at
closely: nodes where the file is or will be (the chains of the file lead there), then those whose start and
load time alone do not exceed the best score.
"""

from __future__ import annotations

from headway.engine.tables import Fault, State
from headway.engine.verbs import refuse
from headway.jit.kernels import kernel, routine
from headway.policies.nodes.cores import available
from headway.policies.nodes.lru import replayed_wait
from headway.policies.nodes.tables import (
    FAR,
    FIXED,
    LEM,
    LEO,
    LRU,
    NIL,
    Files,
    Uses,
    load_time,
)
from headway.policies.nodes.turn import wait_for_file
from headway.policies.nodes.uses import evicted, wait_by_use
from headway.policies.nodes.windows import earliest, fits_first


@kernel
def begins(state: State, t: int, node: int, job: int) -> int:
    """A: when the job can start on the node; FAR where it is too wide."""
    m = state.memory
    procs = state.jobs.procs[job]
    at = available(state, node, procs)
    if at >= FAR:
        return FAR
    at = earliest(state, t, node, procs, state.jobs.wall[job]) if m.rules.backfill else max(t, at)
    return FAR if at > t and node >= own_nodes_end(state, job) else at


@kernel
def own_nodes_end(state: State, job: int) -> int:
    """The first node on which the job has to start at once, if at all; where it need not, the end of them."""
    jobs = Uses(state.jobs)
    m = state.memory
    if m.rules.at_once == 0:
        return int(jobs.high[job])
    return int(m.class_from[jobs.size_class[job] + 1])


@routine
def count_copies(state: State, t: int, file: int, stamp: int) -> int:
    """Mark the nodes that hold the file now or are loading it; how many they are."""
    m = state.memory
    copies = 0
    lru = m.rules.presence == LRU
    for chain in range(2 if lru else 1):
        use = m.files[Files["uses"] if chain == 0 else Files["resident"], file]
        while use != NIL:
            node = Uses(state.jobs).on[use]
            if m.nodes.copy[node] != stamp:
                wait = (
                    replayed_wait(state, node, file, t, False) if lru else wait_by_use(state, use, t)
                )  # fmt: skip
                if wait < FAR:
                    m.nodes.copy[node] = stamp
                    copies += 1
            use = state.jobs[Uses["file_next"] if chain == 0 else Uses["resident_elsewhere"], use]
    return copies


@kernel
def mark_holders(state: State, t: int, job: int, heads: int, following: int, stamp: int, lru: bool) -> None:
    """The wait for the file on each node that a chain of its uses, or of its copies in memory, leads to."""
    jobs = Uses(state.jobs)
    m = state.memory
    file = jobs.file[job]
    use = m.files[heads, file]
    while use != NIL:
        node = jobs.on[use]
        if jobs.low[job] <= node < jobs.high[job]:
            if m.nodes.mark[node] != stamp:
                m.nodes.mark[node] = stamp
                m.nodes.wait[node] = FAR
                at = begins(state, t, node, job)
                m.nodes.start[node] = at
                if lru and at < FAR:
                    m.nodes.wait[node] = replayed_wait(state, node, file, at, True)
            at, shortest = m.nodes.start[node], m.nodes.wait[node]
            if not lru and at < FAR and shortest > 0:
                m.nodes.wait[node] = min(shortest, wait_by_use(state, use, at))
        use = state.jobs[following, use]


@kernel
def pushed_out(state: State, t: int, node: int, job: int, at: int, y: int) -> int:
    """Y C, with C the load times of what the job pushes out, times its share of the cores."""
    jobs = Uses(state.jobs)
    m = state.memory
    if y == 0 or jobs.file[job] < 0:
        return 0
    total = evicted(state, t, node, jobs.file[job], at)
    if total > m.rules.most_evicted:
        refuse(state, Fault.TOO_FAR, job)
        return 0
    return int(y // m.nodes.cores[node] * jobs.procs[job] * total)


@kernel
def latest_start(t: int, best: int, floor: int, scale: int) -> int:
    """The latest start with which a node can still have a score as low as the best."""
    return FAR - 1 if best == FAR else t + (best - floor) // scale


@kernel
def later_than(state: State, t: int, node: int, procs: int, walltime: int, latest: int) -> bool:
    """Whether it is plain that the first window long enough begins later than that."""
    m = state.memory
    if fits_first(state, t, node, procs, walltime):
        return False
    return m.until[procs - 1, node] > max(latest, t)


@kernel
def weights(state: State) -> tuple[int, int, int]:
    """X, Y and Z as they are now: under LEM only the wait for the file counts while few nodes are busy."""
    m = state.memory
    if m.rules.weights == LEM and m.notes.busy_nodes < m.rules.threshold:
        return m.rules.scale, 0, 0
    return m.rules.x, m.rules.y, m.rules.z


@kernel
def shortest_load(state: State, file: int) -> int:
    """The time to load a file on the fastest nodes; 0 for no file."""
    least = 0
    if file >= 0:
        least = FAR
        for speed in range(state.memory.loads.shape[0]):
            least = min(least, state.memory.loads[speed, file])
    return int(least)


@kernel
def is_eager(state: State, ahead: int) -> bool:
    """Whether a job would start at once under LEO, so that only its wait for the file counts, in full."""
    return bool(state.memory.rules.weights == LEO and ahead == 0)


@kernel
def chain_of(number: int) -> tuple[int, int]:
    """The head and the links of a file's uses, of those planned, and of its copies in memory."""
    heads = Files["uses"] if number == 0 else Files["plans"] if number == 1 else Files["resident"]
    return heads, Uses["file_next"] if number < 2 else Uses["resident_elsewhere"]


@routine
def best_holder(state: State, t: int, job: int, stamp: int, x: int, y: int) -> tuple[int, int, int, int]:
    """The lowest score among nodes where the file is or will be; also the node, the start and the wait."""
    jobs = Uses(state.jobs)
    m, file, scale = state.memory, jobs.file[job], state.memory.rules.scale
    lru = m.rules.presence == LRU
    chains = 3 if lru else 2
    for chain in range(chains):
        heads, following = chain_of(chain)
        mark_holders(state, t, job, heads, following, stamp, lru)
    best, best_node, best_at, best_wait = FAR, NIL, FAR, 0
    for chain in range(chains):
        heads, following = chain_of(chain)
        use = m.files[heads, file]
        while use != NIL:
            node = jobs.on[use]
            use = state.jobs[following, use]
            if m.nodes.mark[node] != stamp or m.nodes.wait[node] == FAR:
                continue
            m.nodes.mark[node] = -stamp
            at, wait = m.nodes.start[node], m.nodes.wait[node]
            ahead = at - t
            if ahead > m.rules.most_ahead:
                refuse(state, Fault.TOO_FAR, job)
                continue
            eager = is_eager(state, ahead)
            score = scale * ahead + (scale if eager else x) * wait
            if score > best:
                continue
            score += pushed_out(state, t, node, job, at, 0 if eager else y)
            if score < best or (score == best and node < best_node):
                best, best_node, best_at, best_wait = score, node, at, wait
    return best, best_node, best_at, best_wait


@routine
def best_node_of(
    state: State, t: int, job: int, file: int, stamp: int, by: tuple[int, int, int],
    found: tuple[int, int, int, int],
) -> tuple[int, int, int, int]:  # fmt: skip
    """The same among all nodes, where the best holder is ``found``; ``by`` are the weights X, Y and Z."""
    jobs = Uses(state.jobs)
    m, (x, y, z), (best, best_node, best_at, best_wait) = state.memory, by, found
    scale, procs, walltime = m.rules.scale, jobs.procs[job], jobs.wall[job]
    copies = count_copies(state, t, file, stamp) if z > 0 and file >= 0 else 0
    least, one_speed = shortest_load(state, file), m.loads.shape[0] == 1
    # No other node can do better than to start now with the shortest load.
    floor = least * (scale if m.rules.weights == LEO else x)
    if best < floor:
        return found
    # A node where the cores come free after `latest` is worse than the best one even with the shortest load.
    latest = latest_start(t, best, least * x, scale)
    held, own_end = best_node != NIL, own_nodes_end(state, job)
    for node in range(jobs.low[job], jobs.high[job]):
        at = m.plan[procs - 1, node]
        if at > latest and at > t:
            continue
        if best <= floor and best_node < node:
            break
        ahead = max(at - t, 0)
        if ahead > m.rules.most_ahead:
            refuse(state, Fault.TOO_FAR, job)
            continue
        own = 0
        if file >= 0:
            own = least if one_speed else load_time(state, node, file)
        if scale * ahead + (scale if is_eager(state, ahead) else x) * own > best or (
            held and m.nodes.mark[node] == -stamp
        ):
            continue
        if m.rules.backfill != 0:
            if later_than(state, t, node, procs, walltime, latest):
                continue
            at = earliest(state, t, node, procs, walltime)
            ahead = at - t
            if ahead > m.rules.most_ahead:
                refuse(state, Fault.TOO_FAR, job)
                continue
        else:
            at = max(at, t)
        if at > t and node >= own_end:
            continue
        eager = is_eager(state, ahead)
        score = scale * ahead + (scale if eager else x) * own
        if file >= 0 and z > 0 and not eager:
            elsewhere = copies - (1 if m.nodes.copy[node] == stamp else 0)
            score += z * elsewhere * own
        if score > best or (score == best and node > best_node):
            continue
        score += pushed_out(state, t, node, job, at, 0 if eager else y)
        if score < best or (score == best and node < best_node):
            best, best_node, best_at, best_wait = score, node, at, own
            latest = latest_start(t, best, least * x, scale)
    return best, best_node, best_at, best_wait


@routine
def choose(state: State, t: int, job: int) -> int:
    """The node with the lowest score; start and wait for the file there are left in the notes."""
    m, file = state.memory, Uses(state.jobs).file[job]
    x, y, z = weights(state)
    # Without weights nobody asks where files are, unless the plans are to be looked at.
    if m.rules.weights == FIXED and x == y == z == 0 and m.rules.watched == NIL:
        file = NIL
    stamp = m.notes.stamp + 1
    m.notes.stamp = stamp
    found = FAR, NIL, FAR, 0
    if file >= 0:
        found = best_holder(state, t, job, stamp, x, y)
    _, node, m.notes.best_start, m.notes.best_wait = best_node_of(
        state, t, job, file, stamp, (x, y, z), found
    )
    return node


@routine
def look_closely(state: State, t: int, job: int) -> None:
    """Note A, B, C and D of every node for a job that is watched."""
    jobs = Uses(state.jobs)
    m = state.memory
    file = jobs.file[job]
    m.notes.seen_busy = m.notes.busy_nodes
    stamp = m.notes.stamp + 1
    m.notes.stamp = stamp
    copies = count_copies(state, t, file, stamp) if file >= 0 else 0
    for node in range(m.nodes.shape[1]):
        at = FAR
        if jobs.low[job] <= node < jobs.high[job]:
            at = begins(state, t, node, job)
        wait, total, elsewhere, loads = 0, 0, 0, 0
        if at < FAR and file >= 0:
            wait = wait_for_file(state, node, file, at, True)
            loads = 1 if wait == FAR else 0
            if loads:
                wait = load_time(state, node, file)
                elsewhere = copies - (1 if m.nodes.copy[node] == stamp else 0)
            total = evicted(state, t, node, file, at)
        m.seen.start[node] = at
        m.seen.wait[node] = wait
        m.seen.evicted[node] = total
        m.seen.copies[node] = elsewhere
        m.seen.loads[node] = loads
