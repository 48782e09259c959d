"""Advance reservations, section 11: what they take from jobs without one, and give to those with one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .machine import Job, Machine, Partition
from .state import Window


@dataclass(frozen=True)
class Reservation:
    name: str
    start: int
    end: int
    nodes: int
    users: frozenset[str] = frozenset()
    maintenance: bool = False
    flex: bool = False
    overlap: bool = False
    all_nodes: bool = False
    """Made with nodes=ALL: a job that it hinders is moved behind it."""


class Reservations:
    """Windows of jobs among reservations; strict on both ends: touching is no overlap."""

    def __init__(self, machine: Machine, reservations: Iterable[Reservation], now: int) -> None:
        self.machine = machine
        self.reservations = list(reservations)
        self.now = now

    def window(self, job: Job, partition: Partition, start: int, limit: int) -> Window | None:
        if job.reservation:
            return self.inside(job, start, limit)
        touched = False
        for _ in range(11):
            taken = 0
            behind = 0
            for one in self.overlapping(start, limit):
                if one.all_nodes or (one.maintenance and not partition.nodes & ~one.nodes):
                    behind = one.end
                    break
                taken |= one.nodes
                touched |= bool(one.nodes & partition.nodes)
            if not behind:
                return Window(start, self.machine.all_nodes & ~taken, self.next_end(start) if touched else 0)
            start = behind
        return None

    def overlapping(self, start: int, limit: int) -> list[Reservation]:
        end = start + 60 * limit
        return [one for one in self.reservations if start < one.end and end > one.start]

    def next_end(self, start: int) -> int:
        """The earliest end of any reservation at or after start, rounded up to the resolution; 0 if none."""
        ends = [one.end for one in self.reservations if start <= one.end]
        resolution = self.machine.settings.bf_resolution
        return -(-min(ends) // resolution) * resolution if ends else 0

    def inside(self, job: Job, start: int, limit: int) -> Window | None:
        mine = next((one for one in self.reservations if one.name == job.reservation), None)
        if mine is None or (self.now < mine.start and not mine.flex):
            return None
        if start >= mine.end and not mine.flex:
            return None
        nodes = self.machine.all_nodes if mine.flex else mine.nodes
        for one in self.overlapping(start, limit):
            may = mine.maintenance or (mine.overlap and not one.maintenance)
            if one is not mine and not may:
                nodes &= ~one.nodes
        return Window(start, nodes)
