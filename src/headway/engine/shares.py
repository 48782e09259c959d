"""What runs hold of named nodes: CPUs, memory, accelerators, or a node alone; of each as much as it has.

A policy proposes a share of a node for each node it chose, one after the other; the verb that starts the job
checks them and takes them. When the run ends they come free.
"""

from __future__ import annotations

from headway.engine.tables import NODE_ROWS, SHARE_ROWS, Nodes, State
from headway.jit.kernels import kernel


@kernel
def propose(state: State, place: int, node: int, cpus: int, memory: int, alone: int) -> None:
    """Let the share number ``place`` of the job that is to start next be this; memory in MB."""
    entry = state.clock.shares + place
    state.shares.node[entry] = node
    state.shares.cpus[entry] = cpus
    state.shares.memory_mb[entry] = memory
    state.shares.alone[entry] = alone
    for further in range(SHARE_ROWS, state.shares.shape[0]):
        state.shares[further, entry] = 0


@kernel
def propose_further(state: State, place: int, resource: int, count: int) -> None:
    """Let the share number ``place`` also have so much of one of the nodes' further resources."""
    state.shares[SHARE_ROWS + resource, state.clock.shares + place] = count


@kernel
def proposed_cpus(state: State, count: int) -> int:
    """CPUs of the proposed shares in all; -1 where a node has not as much free as was proposed of it."""
    cpus, first = 0, state.clock.shares
    for entry in range(first, first + count):
        node = state.shares.node[entry]
        busy = state.nodes.runs[node] > 0
        if (
            state.shares.cpus[entry] > state.nodes.free_cpus[node]
            or state.shares.memory_mb[entry] > state.nodes.free_memory[node]
            or state.nodes.alone[node] > 0
            or (busy and state.shares.alone[entry] > 0)
        ):
            return -1
        for further in range(state.shares.shape[0] - SHARE_ROWS):
            if state.shares[SHARE_ROWS + further, entry] > state.nodes[NODE_ROWS + further, node]:
                return -1
        cpus += state.shares.cpus[entry]
    return cpus


@kernel
def hold(state: State, nodes: Nodes, entry: int, sign: int) -> int:
    """Take a share from its node (sign 1), or give it back (-1), in a table of nodes; the number of the node.

    The table is the engine's own, or a copy in which a policy tries what would be.
    """
    node = state.shares.node[entry]
    nodes.free_cpus[node] -= sign * state.shares.cpus[entry]
    nodes.free_memory[node] -= sign * state.shares.memory_mb[entry]
    nodes.alone[node] += sign * state.shares.alone[entry]
    nodes.runs[node] += sign
    for further in range(state.shares.shape[0] - SHARE_ROWS):
        nodes[NODE_ROWS + further, node] -= sign * state.shares[SHARE_ROWS + further, entry]
    return int(node)


@kernel
def hold_aside(state: State, entry: int, sign: int) -> None:
    """The same for what a suspended run keeps of a share: memory and further resources, no CPUs."""
    node = state.shares.node[entry]
    state.nodes.free_memory[node] -= sign * state.shares.memory_mb[entry]
    for further in range(state.shares.shape[0] - SHARE_ROWS):
        state.nodes[NODE_ROWS + further, node] -= sign * state.shares[SHARE_ROWS + further, entry]


@kernel
def take_shares(state: State, count: int) -> None:
    """Take the proposed shares for the run that was opened last."""
    first = state.clock.shares
    for entry in range(first, first + count):
        hold(state, state.nodes, entry, 1)
    state.clock.shares = first + count


@kernel
def end_of_shares(state: State, run: int) -> int:
    """Where the shares of a run end."""
    following = run + 1
    return int(state.runs.share[following] if following < state.clock.runs else state.clock.shares)


@kernel
def free_shares(state: State, nodes: Nodes, run: int) -> None:
    """Give back what a run holds, in the engine's table of nodes or in a copy."""
    for entry in range(state.runs.share[run], end_of_shares(state, run)):
        hold(state, nodes, entry, -1)


@kernel
def keep_aside(state: State, run: int, sign: int) -> None:
    """Let a run that was suspended keep its memory and further resources (sign 1), or no longer (-1)."""
    for entry in range(state.runs.share[run], end_of_shares(state, run)):
        hold_aside(state, entry, sign)


@kernel
def exchange(state: State, run: int, old: int, new: int) -> None:
    """Let a run hold of one further resource what it holds of another, of which it then holds nothing."""
    for entry in range(state.runs.share[run], end_of_shares(state, run)):
        node, held = state.shares.node[entry], state.shares[SHARE_ROWS + old, entry]
        state.shares[SHARE_ROWS + old, entry] = 0
        state.shares[SHARE_ROWS + new, entry] = held
        state.nodes[NODE_ROWS + old, node] += held
        state.nodes[NODE_ROWS + new, node] -= held


@kernel
def propose_again(state: State, run: int) -> int:
    """Propose the shares that a run had; how many they are."""
    first, last, count = state.runs.share[run], end_of_shares(state, run), 0
    for entry in range(first, last):
        for row in range(state.shares.shape[0]):
            state.shares[row, state.clock.shares + count] = state.shares[row, entry]
        count += 1
    return count


@kernel
def shares_crowded(state: State) -> bool:
    """Whether an instant may start more than the table of shares can hold: every CPU may become one."""
    return bool(
        state.nodes.shape[1] > 0 and state.clock.shares + state.clock.node_cpus > state.shares.shape[1]
    )
