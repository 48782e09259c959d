"""A machine whose processors come and go: maintenance, failures, drains.

The clock stops where an outage begins, ends or becomes known; what happens then is done here, between the
ends of that instant and the policy's turn. In one instant the order is: outages end, maintenance becomes
known, processors fail, processors drain, maintenance begins.

On a machine of counted processors an outage hits whoever runs on the processors that it takes, so here they
have numbers: a job that starts gets the lowest free ones. Maintenance takes the highest of those on which
nobody runs; where too few are idle the runs that started last are stopped, and where other maintenance has
the rest, it shares them, so that they are back when the last is over.

A policy is told how many processors more or fewer it has to plan with, and from when to when (``changes``).
How long processors will be down or drained nobody knows: it is planned without them until they are back.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from headway.engine.ranges import Ranges, give, meet, numbers_of, ranges_of, remove, take_lowest
from headway.engine.side_by_side import end_now, lose_now
from headway.engine.tables import (
    CHANGE_ROWS,
    OPEN,
    Changes,
    Ended,
    Runs,
    State,
    World,
)
from headway.errors import PolicyError
from headway.platform import Outage, Outages
from headway.platform.outages import ends
from headway.units import NEVER

if TYPE_CHECKING:
    Numbers = npt.NDArray[np.int64]

MACHINE = 0
# What happens to an outage, in the order of one instant.
ENDS, KNOWN, FAILS, DRAINS, BEGINS = range(5)
FIRST_DEED = {"maintenance": BEGINS, "down": FAILS, "drain": DRAINS}


class Owner(Protocol):
    """The simulation that a machine belongs to."""

    state: State
    world: World


class ChangingMachine:
    """Which processors are there, and who has them."""

    def __init__(self, outages: Outages, procs: int, begin: int) -> None:
        """``outages`` with numbers and ends on a machine of ``procs``; the log begins at ``begin`` (µs)."""
        self.outages, self.procs, self.begins = outages, procs, begin
        self.reset()

    def reset(self) -> None:
        """Nothing has happened yet."""
        self.deeds = sorted(
            (max(time, self.begins), deed, place)
            for place, outage in enumerate(self.outages.outages)
            for deed, time in deeds_of(outage)
            if ends(outage) > self.begins
        )
        self.next = 0
        self.free: Ranges = [(0, self.procs)]
        self.held: dict[int, Ranges] = {}
        """What open runs hold, as far as the log was followed."""
        self.of_run: dict[int, Ranges] = {}
        """What every run held."""
        self.followed = 0
        self.down = np.zeros(self.procs, np.int64)
        """How many failures a processor has at the moment."""
        self.drained = np.zeros(self.procs, np.int64)
        self.windows = np.zeros(self.procs, np.int64)
        """How much maintenance a processor has at the moment."""
        self.window_over = np.zeros(self.procs, np.int64)
        """When the last of it is over."""
        self.gone = np.zeros(self.procs, np.bool_)
        self.planned_from = np.full(self.procs, NEVER)
        self.planned_to = np.full(self.procs, NEVER)
        """From when to when a policy was told to plan without a processor."""
        self.known: dict[int, Outage] = {}
        """Maintenance that is known and not over."""
        self.taken: dict[int, Ranges] = {}
        """The processors that maintenance got."""
        self.told: dict[tuple[int, int], int] = {}
        self.waited_for: dict[int, int] = {}
        """When a run ends really, of runs on processors that drain."""

    # ---- at an instant -----------------------------------------------------------------------------------

    def horizon(self) -> int:
        """When something happens next."""
        following = self.deeds[self.next][0] if self.next < len(self.deeds) else NEVER
        return min(following, min(self.waited_for.values(), default=NEVER))

    def begin(self, owner: Owner) -> None:
        """The simulation begins."""
        self.reset()
        owner.state.clock.horizon = self.horizon()

    def happen(self, owner: Owner) -> None:
        """Let everything happen that is due at the open instant."""
        state = owner.state
        t = int(state.clock.now)
        self.told = defaultdict(int)
        self.follow(state)
        self.follow_estimates(state)
        self.let_go(state, t)
        while self.next < len(self.deeds) and self.deeds[self.next][0] <= t:
            _, deed, place = self.deeds[self.next]
            self.next += 1
            self.do(state, t, deed, place)
        self.wait_for_drained(state, owner.world)
        tell(owner, self.told)
        state.clock.horizon = self.horizon()

    def do(self, state: State, t: int, deed: int, place: int) -> None:
        """Let one thing happen to an outage."""
        outage = self.outages.outages[place]
        numbers = numbers_of(self.taken.get(place, []) if deed == ENDS else outage.processors)
        if deed == KNOWN:
            self.known[place] = outage
            self.told[max(outage.start, t), ends(outage)] -= outage.procs
        elif deed == BEGINS:
            self.told[t, ends(outage)] += outage.procs
            self.take_window(state, t, place)
        elif deed == FAILS:
            self.taken[place] = list(outage.processors)
            self.down[numbers] += 1
            for run in self.runs_on(numbers):
                self.stop(state, run)
            self.look_again(state, t, numbers)
        elif deed == DRAINS:
            self.taken[place] = list(outage.processors)
            self.drained[numbers] += 1
            self.look_again(state, t, numbers)
        else:
            if outage.kind == "maintenance":
                self.known.pop(place, None)
                self.windows[numbers] -= 1
            elif outage.kind == "down":
                self.down[numbers] -= 1
            else:
                self.drained[numbers] -= 1
            self.look_again(state, t, numbers)

    def take_window(self, state: State, t: int, place: int) -> None:
        """Maintenance takes the highest idle processors, stops runs where these are too few, and shares the
        rest with other maintenance."""
        outage = self.outages.outages[place]
        wanted = outage.procs
        idle = self.windows == 0
        idle[numbers_of(part for ranges in self.held.values() for part in ranges)] = False
        latest = sorted(self.held, reverse=True)
        for run in latest:
            if np.count_nonzero(idle) >= wanted:
                break
            idle[numbers_of(self.held[run])] = True
            self.stop(state, run)
        chosen = np.flatnonzero(idle)[-wanted:]
        shared = np.flatnonzero(self.windows)[::-1][: wanted - len(chosen)]
        chosen = np.sort(np.concatenate([chosen, shared]))
        over = np.where(self.windows[chosen] > 0, self.window_over[chosen], 0)
        self.window_over[chosen] = np.maximum(over, ends(outage))
        self.windows[chosen] += 1
        self.taken[place] = ranges_of(chosen)
        self.look_again(state, t, chosen)

    def stop(self, state: State, run: int) -> None:
        """A run loses its processors: its job begins anew, or is lost. Those that drain are gone."""
        numbers = numbers_of(self.held[run])
        give(self.free, self.held.pop(run))
        if self.outages.on_failure == "requeue":
            lose_now(state, run)
        else:
            end_now(state, run, Ended.BY_FAILURE)
        drained = numbers[(self.drained[numbers] > 0) & ~self.gone[numbers]]
        if len(drained):
            self.look_again(state, int(state.clock.now), drained)

    def look_again(self, state: State, t: int, numbers: Numbers) -> None:
        """Whether these processors are there, and until when a policy plans without them."""
        away = (self.down[numbers] > 0) | (self.drained[numbers] > 0)
        window = self.windows[numbers] > 0
        busy = np.zeros(len(numbers), np.bool_)
        since = np.full(len(numbers), t)
        for run in self.runs_on(numbers[self.drained[numbers] > 0]):
            mine = np.isin(numbers, numbers_of(self.held[run]))
            busy |= mine
            since[mine] = state.runs.expected[run]
        gone = (away | window) & ~busy
        change = np.count_nonzero(gone) - np.count_nonzero(self.gone[numbers])
        state.pools.free[MACHINE] -= change
        remove(self.free, ranges_of(numbers[gone & ~self.gone[numbers]]))
        give(self.free, ranges_of(numbers[~gone & self.gone[numbers]]))
        self.gone[numbers] = gone
        begin = np.where(away | window, since, NEVER)
        end = np.where(away, NEVER, self.window_over[numbers])
        end = np.where(begin == NEVER, NEVER, end)
        self.plan_without(t, numbers, begin, end)

    def plan_without(self, t: int, numbers: Numbers, begin: Numbers, end: Numbers) -> None:
        """A policy is to plan without these processors from ``begin`` to ``end``, no more as it was told."""
        for sign, froms, tos in (
            (1, self.planned_from[numbers], self.planned_to[numbers]),
            (-1, begin, end),
        ):
            for first, last in zip(np.maximum(froms, t).tolist(), tos.tolist(), strict=True):
                if first < last:
                    self.told[first, last] += sign
        self.planned_from[numbers], self.planned_to[numbers] = begin, end

    # ---- who has which processors ------------------------------------------------------------------------

    def follow(self, state: State) -> None:
        """Give the runs that started since then their processors, and take back what runs held that ended."""
        runs = state.runs
        now = int(state.clock.now)
        over = [(int(runs.end[run]), run) for run in self.held if runs.end[run] != OPEN]
        heapq.heapify(over)
        last = int(state.clock.runs)
        log = Runs(runs[:, self.followed : last])
        sizes = state.jobs.procs[log.job].tolist()
        starts, finishes = log.start.tolist(), log.end.tolist()
        for place, (procs, start, end) in enumerate(zip(sizes, starts, finishes, strict=True)):
            while over and over[0][0] <= start:
                self.take_back(heapq.heappop(over)[1])
            run = self.followed + place
            self.held[run] = self.of_run[run] = take_lowest(self.free, procs)
            if end != OPEN:
                heapq.heappush(over, (end, run))
        self.followed = last
        while over and over[0][0] <= now:
            self.take_back(heapq.heappop(over)[1])

    def take_back(self, run: int) -> None:
        give(self.free, self.held.pop(run))

    def runs_on(self, numbers: Numbers) -> list[int]:
        """The open runs that hold some of these processors, in order of starting."""
        wanted = ranges_of(numbers)
        return [run for run, parts in self.held.items() if meet(wanted, parts)] if wanted else []

    # ---- processors that drain ---------------------------------------------------------------------------

    def draining(self, run: int) -> Numbers:
        """The processors of a run that drain."""
        numbers = numbers_of(self.of_run[run])
        return numbers[(self.drained[numbers] > 0) & ~self.gone[numbers]]

    def follow_estimates(self, state: State) -> None:
        """A run that outlived its estimate holds processors that drain until the end expected since."""
        for run in self.waited_for:
            self.planned_from[self.draining(run)] = state.runs.expected[run]

    def wait_for_drained(self, state: State, world: World) -> None:
        """Note when the runs end that still hold processors that drain, and how many."""
        state.runs.draining[list(self.waited_for)] = 0
        self.waited_for = {}
        for run in self.runs_on(np.flatnonzero((self.drained > 0) & ~self.gone)):
            job = state.runs.job[run]
            state.runs.draining[run] = len(self.draining(run))
            length = min(int(world.runtime[job]), int(state.runs.limit[run]))
            self.waited_for[run] = int(state.runs.start[run]) + length

    def let_go(self, state: State, t: int) -> None:
        """Processors that drain go when the run on them has ended."""
        for run, end in self.waited_for.items():
            if state.runs.end[run] == OPEN:
                continue
            if state.runs.end[run] < min(end, t):
                raise PolicyError(
                    "the policy stopped a job on processors that drain, and it is not known which "
                    "job gets them next; "
                    "let such a job end, or give the outage as down"
                )
            self.look_again(state, t, self.draining(run))

    # ---- after the run -----------------------------------------------------------------------------------

    def processors(self, state: State) -> dict[int, Ranges]:
        """The processors of every run."""
        self.follow(state)
        return dict(self.of_run)

    def happened(self, state: State) -> Outages:
        """The outages of the run, with the processors that they took."""
        self.follow(state)
        return Outages(
            tuple(
                Outage(
                    outage.kind,
                    outage.start,
                    outage.end,
                    outage.procs,
                    tuple(self.taken.get(place, () if outage.kind == "maintenance" else outage.processors)),
                    outage.announced,
                    outage.note,
                )
                for place, outage in enumerate(self.outages.outages)
            ),
            self.outages.on_failure,
            self.outages.source,
        )


def deeds_of(outage: Outage) -> list[tuple[int, int]]:
    """What happens to an outage and when."""
    deeds = [(FIRST_DEED[outage.kind], outage.start), (ENDS, ends(outage))]
    if outage.kind == "maintenance":
        deeds.append((KNOWN, -1 if outage.announced is None else outage.announced))
    return deeds


def tell(owner: Owner, told: dict[tuple[int, int], int]) -> None:
    """Write down for the policy what it has to plan with from now on."""
    changes = [(begin, end, procs) for (begin, end), procs in sorted(told.items()) if procs]
    table = owner.state.changes
    if len(changes) > table.shape[1]:
        table = Changes(np.zeros((CHANGE_ROWS, 2 * len(changes)), np.int64))
        owner.state = owner.state._replace(changes=table)
    for place, change in enumerate(changes):
        table[[Changes["start"], Changes["end"], Changes["procs"]], place] = change
    owner.state.clock.changes = len(changes)
