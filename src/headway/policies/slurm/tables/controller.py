"""The tables of Slurm's controller, in one tuple.

Times are whole seconds on the log's clock, as Slurm has them; time limits are minutes, memory is MB.
Sets of nodes are rows of bytes, 1 where a node is in the set, and for backfill rows of words, 64 nodes to a
word (:mod:`~headway.policies.slurm.tables.bits`). -1 stands for "not given" and "no limit". What the rows are
is in ``jobs``, ``sites``, ``passes`` and ``life`` beside this.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from headway.engine.tables import Nodes, Table
from headway.jit.kernels import by_address
from headway.policies.slurm.tables.jobs import Adapted, SlurmJobs
from headway.policies.slurm.tables.life import (
    Arrays,
    Dependencies,
    Happenings,
    Levels,
    Licences,
    Reservations,
    Victims,
)
from headway.policies.slurm.tables.passes import Counts, Plans, Ranks, Records, Slots, SlurmClock, Work
from headway.policies.slurm.tables.settings import Settings, Weights
from headway.policies.slurm.tables.sites import (
    Choices,
    Factors,
    Holders,
    Partitions,
    SlurmNodes,
    Switches,
    Usage,
)

Sets = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.float64]

UNSET = -1


@by_address
class Memory(NamedTuple):
    """The tables of Slurm's controller."""

    clock: SlurmClock
    settings: Settings
    weights: Weights
    jobs: SlurmJobs
    """[row, job]"""
    nodes: SlurmNodes
    """[row, node]"""
    partitions: Partitions
    """[row, partition]"""
    members: Sets
    """[partition, node]"""
    lists: Table
    """[list of partitions, place] partitions of a job; -1 behind the last."""
    standing: Table
    """[list of partitions, place] why jobs with this list may not use the partition (:class:`Reason`)."""
    adapted: Adapted
    """[place in the list x Adapted, job with ADAPTED] what jobs ask for in each of their partitions."""
    features: Sets
    """[features, node] nodes that a constraint allows and that are large enough for those who have it."""
    choices: Choices
    """[row, features] how nodes with features are chosen."""
    factors: Factors
    """[row, partition | QOS | association]"""
    holders: Holders
    """[row, QOS, then association]"""
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
    usage: Usage
    """[row, holder]"""
    used: Numbers
    """[holder, resource] decayed seconds."""
    queue: Records
    """[row, place] the waiting jobs in order."""
    order: Table
    """[now | next, place] entries of the queue while they are sorted as Slurm does it; empty where any order
    does."""
    listed: Records
    """[row, place] the queue as it will be then."""
    running: Table
    """[end by limit | job, place] sorted by the end, then by the start."""
    epilogs: Table
    """[time | run, place] a heap of nodes that become free; -1 - node where one is switched on."""
    trial: Nodes
    """[row, node] what would be free if some running jobs were over."""
    work: Work
    """[row, node] space for the choice of nodes."""
    sets: Sets
    """[Scratch, node] sets that a search works on."""
    slots: Slots
    """[row, record]"""
    least: Nodes
    """[row, node] the least that is free over a time (EASY and conservative on named nodes)."""
    instant: Nodes
    """[row, node] what is free at an instant of it."""
    claims: Table
    """[place x node rows + node row, node] what a reservation of theirs changes."""
    surveys: Table
    """[slot, kind of jobs] what was found out about a slot: 2 x FREE + RISES."""
    plans: Plans
    """[row, place] the plans of the present cycle."""
    counts: Counts
    """[row, user | partition | association | user x partition] what the present cycle has searched for."""
    billing: Numbers
    """[partition, resource] what a unit of a resource is billed."""
    ranks: Ranks
    """[row, association] space to rank users in."""
    arrays: Arrays
    """[row, array]"""
    dependencies: Dependencies
    """[row, entry]"""
    happenings: Happenings
    """[row, place] by time."""
    reservations: Reservations
    """[row, reservation]"""
    reserved: Sets
    """[reservation, node] its nodes."""
    gres_total: Table
    """[resource, node] generic resources of nodes, and CPUs that are counted apart; then, where jobs are
    suspended for others, for each level the CPUs of nodes as bits: the engine's further rows."""
    gres_asked: Table
    """[resource, job] what jobs want of each node of its generic resources, or as a unit of them; nothing of
    the CPUs that are counted apart."""
    gres_of: Table
    """[resource] of one of a type: the resource without it; -1: it has none."""
    gres_tres: Table
    """[resource] its place among the resources that are counted (:class:`Tres`); -1: it is not."""
    tres_weights: Numbers
    """[resource] what asking for it weighs in the priority (PriorityWeightTRES)."""
    tres_whole: Numbers
    """[partition, resource] of how much a request is a part: what the partition has, or one of each."""
    licences: Licences
    """[row, licence]"""
    licences_asked: Table
    """[licence, job]"""
    required: Sets
    """[set, node] nodes that jobs must have; the first is empty."""
    switches: Switches
    """[row, switch] where nodes are chosen by the tree of switches; else there are none."""
    switch_steps: Table
    """[switch, switch] links on the way from one to the other; -1: there is none."""
    levels: Levels
    """[row, level] from the lowest tier up; none where nobody is suspended for others."""
    imagined: Nodes
    """[row, node] what would be free if jobs of lower levels were suspended."""
    going: Table
    """[word, node] CPUs of jobs that go on, as bits."""
    may_preempt: Table
    """[QOS, QOS] whether jobs of the one may preempt those of the other."""
    victims: Victims
    """[row, place] running jobs that the one at hand may preempt."""
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
    after: Nodes
    """[row, end] what a node has free after the end of a job on it, with rows as in the engine's table of
    nodes and behind them the place of the job; node by node, in the order of their ends."""
    openings: Table
    """[row, node] the place of the end from which on a node will do for jobs that ask for the same."""
    words_open: Table
    """[row, word] nodes that will do for them as things are."""
    opened_for: Table
    """[row, term] what those ask for: partition, features, terms for each node, generic resources."""
