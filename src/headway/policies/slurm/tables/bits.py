"""Sets of nodes as bits, 64 nodes to a word: what backfill works on.

The rest of the controller has a byte for each node, which is handier where nodes are looked at one by one;
:func:`unpack` and :func:`pack` lead from one to the other.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from headway.engine.tables import Table
from headway.jit.kernels import count_bits, kernel, lowest_bit
from headway.policies.slurm.tables.controller import Memory

BITS = 64
SHIFT, WITHIN = 6, 63
"""A node's word is ``node >> SHIFT``, its place in it ``node & WITHIN``."""
ONE = np.int64(1)
"""Of the words' own type: shifted by 63 it is a word with the sign bit alone."""
ALL = np.int64(-1)


def words_for(nodes: int) -> int:
    """Words that a set of nodes takes."""
    return -(-nodes // BITS)


def packed(rows: npt.NDArray[np.uint8], nodes: int) -> Table:
    """Rows of bytes, one for a node, as rows of words."""
    bits = np.zeros((len(rows), words_for(nodes) * BITS), np.uint8)
    bits[:, :nodes] = rows[:, :nodes] > 0
    return np.packbits(bits, axis=1, bitorder="little").view("<i8").astype(np.int64)


@kernel
def put(sets: Table, row: int, node: int) -> None:
    """Put a node into a set."""
    sets[row, node >> SHIFT] |= ONE << (node & WITHIN)


@kernel
def drop(sets: Table, row: int, node: int) -> None:
    """Take a node from a set."""
    sets[row, node >> SHIFT] &= ~(ONE << (node & WITHIN))


@kernel
def has(sets: Table, row: int, node: int) -> bool:
    """Whether a node is in a set."""
    return bool((sets[row, node >> SHIFT] >> (node & WITHIN)) & 1)


@kernel
def empty(sets: Table, row: int) -> None:
    """Let a set have no node."""
    for word in range(sets.shape[1]):
        sets[row, word] = 0


@kernel
def copy_set(a: Table, i: int, b: Table, j: int) -> None:
    """Let the set ``b[j]`` be ``a[i]``."""
    for word in range(a.shape[1]):
        b[j, word] = a[i, word]


@kernel
def size_of(sets: Table, row: int) -> int:
    """How many nodes a set has."""
    count = 0
    for word in range(sets.shape[1]):
        count += count_bits(sets[row, word])
    return count


@kernel
def common_nodes(a: Table, i: int, b: Table, j: int) -> int:
    """How many nodes two sets have in common."""
    count = 0
    for word in range(a.shape[1]):
        count += count_bits(a[i, word] & b[j, word])
    return count


@kernel
def meet(a: Table, i: int, b: Table, j: int) -> bool:
    """Whether two sets have a node in common."""
    common = 0
    for word in range(a.shape[1]):
        common |= a[i, word] & b[j, word]
    return common != 0


@kernel
def first_node(sets: Table, row: int) -> int:
    """The first node of a set; -1 where it is empty."""
    for word in range(sets.shape[1]):
        if sets[row, word] != 0:
            return word * BITS + lowest_bit(sets[row, word])
    return -1


@kernel
def next_node(sets: Table, row: int, node: int) -> int:
    """The first node of a set from ``node`` on; -1 where there is none."""
    word = node >> SHIFT
    if word >= sets.shape[1]:
        return -1
    left = sets[row, word] & (ALL << (node & WITHIN))
    while left == 0:
        word += 1
        if word == sets.shape[1]:
            return -1
        left = sets[row, word]
    return word * BITS + lowest_bit(left)


@kernel
def put_range(sets: Table, row: int, first: int, count: int) -> None:
    """Put neighbouring nodes into a set."""
    node, end = first, first + count
    while node < end:
        within = node & WITHIN
        here = min(BITS - within, end - node)
        mask = ALL if here == BITS else ((ONE << here) - 1) << within
        sets[row, node >> SHIFT] |= mask
        node += here


@kernel
def unpack(memory: Memory, row: int) -> None:
    """Write a set of bits as bytes."""
    for node in range(memory.nodes.shape[1]):
        memory.sets[row, node] = (memory.words_sets[row, node >> SHIFT] >> (node & WITHIN)) & 1


@kernel
def pack_set(memory: Memory, row: int) -> None:
    """Write a set of bytes as bits."""
    empty(memory.words_sets, row)
    for node in range(memory.nodes.shape[1]):
        if memory.sets[row, node] > 0:
            put(memory.words_sets, row, node)


@kernel
def pack_row(memory: Memory, what: int, row: int) -> None:
    """Write the nodes that have something in a row (:class:`Work`) as bits."""
    empty(memory.words_sets, row)
    for node in range(memory.nodes.shape[1]):
        if memory.work[what, node] > 0:
            put(memory.words_sets, row, node)
