"""Sets of nodes as bits: what the words say is what the bytes said."""

from __future__ import annotations

import numpy as np

from headway.engine.tables import Table
from headway.jit import kernels
from headway.policies.slurm.tables.bits import first_node, has, packed, put_range, size_of, words_for

WORDS = [0, 1, -1, 8, -(1 << 63), (1 << 62) | 4, -2, 0x5555555555555555]


@kernels.entry
def bits_of(word: int) -> int:
    return int(1000 * kernels.count_bits(word) + kernels.lowest_bit(word))


@kernels.entry
def with_range(sets: Table, first: int, count: int) -> int:
    put_range(sets, 0, first, count)
    return int(1000 * size_of(sets, 0) + first_node(sets, 0) + has(sets, 0, first))


def test_bits_are_counted_and_found_as_plain_python_does() -> None:
    for word in WORDS:
        assert bits_of(word) == 1000 * kernels._count_bits(word) + kernels._lowest_bit(word)
    assert [kernels._count_bits(word) for word in WORDS] == [0, 1, 64, 1, 1, 2, 63, 32]
    assert [kernels._lowest_bit(word) for word in WORDS] == [64, 0, 0, 3, 63, 2, 1, 0]


def test_a_range_of_nodes_crosses_words() -> None:
    for first, count in ((0, 1), (63, 1), (60, 10), (0, 64), (5, 180), (64, 128)):
        sets, bytes_ = np.zeros((1, 3), np.int64), np.zeros((1, 192), np.uint8)
        bytes_[0, first : first + count] = 1
        assert with_range(sets, first, count) == 1000 * count + first + 1
        assert sets.tolist() == packed(bytes_, 192).tolist()


def test_a_set_has_as_many_words_as_it_needs() -> None:
    assert [words_for(nodes) for nodes in (1, 64, 65, 1000)] == [1, 1, 2, 16]
