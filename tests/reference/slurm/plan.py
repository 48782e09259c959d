"""Backfill's table of plans, sections 5.1 and 5.2: slots of time with the nodes free of plans in each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Slot:
    begin: int
    end: int
    free: int


class PlanTable:
    """Slots in order of time; `records` counts every split ever made and is bounded by the configuration."""

    def __init__(self, now: int, window: int, resolution: int, nodes: int, ends_up: bool = False) -> None:
        self.resolution = resolution
        self.ends_up = ends_up
        """Whether ends are rounded up (since 24.11), not down."""
        self.slots = [Slot(self.floor(now), self.floor(now + window), nodes)]
        self.records = 1
        self._before = 0

    def floor(self, t: int) -> int:
        return t // self.resolution * self.resolution

    def end(self, t: int) -> int:
        """The end of what lasts until t."""
        return -(-t // self.resolution) * self.resolution if self.ends_up else self.floor(t)

    def add(self, start: int, end: int, nodes: int) -> None:
        """Hold nodes from start to end; at most one pair of equal neighbours is merged afterwards."""
        start = max(start, self.slots[0].begin)
        end = max(end, start + self.resolution)
        first = self._cut_at(start)
        if first is None:
            return
        last = len(self.slots) - 1
        for j in range(first, len(self.slots)):
            slot = self.slots[j]
            if end < slot.end:
                self.slots.insert(j + 1, Slot(end, slot.end, slot.free))
                self.records += 1
                slot.end = end
            slot.free &= ~nodes
            last = j
            if slot.end == end:
                break
        self._merge(last, end)

    def _cut_at(self, start: int) -> int | None:
        """Index of the first slot to change; a slot of no length may remain before it."""
        for j, slot in enumerate(self.slots):
            if slot.end > start:
                self.slots.insert(j + 1, Slot(start, slot.end, slot.free))
                slot.end = start
                self.records += 1
                self._before = max(j - 1, 0)
                return j + 1
            if slot.end == start:
                self._before = max(j - 1, 0)
                return j + 1
        return None

    def _merge(self, last: int, end: int) -> None:
        """Scan from the slot before the cut to the one after the end; merge the first equal neighbours."""
        reached = self.slots[last].end == end and last + 1 < len(self.slots)
        stop = last + 1 if reached else len(self.slots)
        for i in range(self._before, min(stop, len(self.slots) - 1)):
            if self.slots[i].free == self.slots[i + 1].free:
                self.slots[i].end = self.slots[i + 1].end
                del self.slots[i + 1]
                return

    def overlaps(self, start: int, end: int, nodes: int) -> bool:
        """Whether a slot between start and end lacks one of the nodes."""
        return any(slot.end > start and slot.begin < end and nodes & ~slot.free for slot in self.slots)
