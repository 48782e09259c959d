"""How long a job will run: a distribution, from the runs that have ended by now.

What counts is the share of its requested time that a run used. Shares are kept by what jobs have in common,
the last ones of each kind:

    1  user, name, processors and request     4  account
    2  user, processors and request           5  request, within a factor of two
    3  user                                   6  everybody

A job draws from the first kind with probability n / (n + DOUBT), where n shares are kept there, else from
the next kind by the same rule, and so on; whatever is left goes to the whole request. A drawn share below the
request is blurred by up to BLUR either way. A job that has run for a while draws among longer shares.
Where none is, it may end at any time up to its request; beyond its request, up to half as long again.

Jobs that the same user submits alike end alike, though nobody knows yet how: of jobs of one kind 2 the i-th
to be drawn takes a share already drawn for one of them with probability i / (n + i + DOUBT), where n shares
of kind 2 are kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headway.arrays import Floats, Ints
from headway.forecast.pools import Key, Keys, Kind, Pools, doublings, keys_of
from headway.forecast.record import NAMES, Record

DOUBT = 2.0
"""So many shares from elsewhere stand beside those of a kind."""
KEPT = (20, 20, 20, 50, 100, 200)
"""How many of the last shares are kept of each kind."""
SAME_USER = 1
"""The kind of jobs that a user submits alike."""
BLUR = 0.1
WHOLE = 0.999
"""Shares from here on are runs up to the limit, and are not blurred."""
BEYOND = 0.5
"""How much longer, of the time it has run, a job beyond its request may last."""

Shares = Floats


class RunTimes:
    """Runs that have ended by an instant, and draws of those that have not."""

    def __init__(self, record: Record) -> None:
        self.record = record
        work = record.workload
        self._user, self._account = record.column("user"), record.column("account", "group")
        self._name = record.column(*NAMES)
        self._procs, self._request = work.procs, work.walltime
        self.now, self._next = -1, 0
        self._pools = Pools(KEPT)
        self._mixed: dict[Keys, tuple[Shares, Shares]] = {}

    def learn(self, now: int) -> None:
        """Take note of the runs that have ended by ``now``; one of no length that starts now is not over."""
        if now < self.now:
            self._next, self._pools = 0, Pools(KEPT)
        self.now, self._mixed = now, {}
        end, by_end = self.record.end, self.record.by_end
        last = int(np.searchsorted(end[by_end[self._next :]], now, side="right")) + self._next
        while last > self._next and self.record.start[by_end[last - 1]] == now:
            last -= 1
        rows = by_end[self._next : last]
        request, ran = self._request[rows], end[rows] - self.record.start[rows]
        shares = np.divide(ran, request, out=np.ones(len(rows)), where=request > 0)
        self._pools.add(self._kinds(rows), shares)
        self._next = last

    def take_over(self, other: RunTimes) -> None:
        """Know what another knows, whose record has the same jobs that have ended."""
        self.now, self._next, self._pools = other.now, other._next, other._pools

    def _kinds(self, rows: Ints) -> list[Kind]:
        """The kinds that jobs are of; what is not known of them makes no kind."""
        user, name, account = self._user[rows], self._name[rows], self._account[rows]
        procs, request = self._procs[rows], self._request[rows]
        by_user, always = user >= 0, np.ones(len(rows), np.bool_)
        return [
            Kind((user, name, procs, request), by_user & (name >= 0)),
            Kind((user, procs, request), by_user),
            Kind((user,), by_user),
            Kind((account,), account >= 0),
            Kind((doublings(request),), always),
            Kind((), always),
        ]

    def mixture(self, row: int) -> tuple[Shares, Shares]:
        """The shares that a job may use, ascending, and the probability of each up to and with it."""
        return self._mixture(keys_of(self._kinds(np.array([row])))[0])

    def _mixture(self, keys: Keys) -> tuple[Shares, Shares]:
        found = self._mixed.get(keys)
        if found is None:
            found = self._mixed[keys] = self._mix(self._pools.of(keys))
        return found

    @staticmethod
    def _mix(pools: list[Sequence[float]]) -> tuple[Shares, Shares]:
        shares, weights, left = [1.0], [0.0], 1.0
        for pool in pools:
            if pool:
                trust = len(pool) / (len(pool) + DOUBT)
                shares += pool
                weights += [left * trust / len(pool)] * len(pool)
                left *= 1 - trust
        weights[0] = left
        place = np.argsort(shares, kind="stable")
        total = np.cumsum(np.array(weights)[place])
        total[-1] = 1.0
        return np.array(shares)[place], total

    def draw(self, rows: Ints, elapsed: Ints, draws: int, rng: np.random.Generator) -> Ints:
        """[draw, job] whole run times (µs) of these jobs, longer than what has elapsed of them."""
        drawn = np.empty((len(rows), draws))
        alike: dict[Key, list[int]] = {}
        spread = rng.random((3, len(rows), draws))
        request = np.maximum(self._request[rows], 1)
        used = elapsed / request
        for place, keys in enumerate(keys_of(self._kinds(rows))):
            shares = self._one(keys, used[place], spread[:2, place])
            if (kind := keys[SAME_USER]) is not None:
                before = alike.setdefault(kind, [])
                if before:
                    kept = len(self._pools.of(keys)[SAME_USER])
                    self._repeat(shares, drawn, before, used[place], spread[2, place], kept)
                before.append(place)
            drawn[place] = shares
        times = np.ceil(drawn * request[:, None]).astype(np.int64)
        return np.ascontiguousarray(np.maximum(times, elapsed[:, None] + 1).T)

    def _one(self, keys: Keys, used: float, spread: Shares) -> Shares:
        """Shares of one job that has used ``used`` of its request already."""
        shares, total = self._mixture(keys)
        past = int(np.searchsorted(shares, used, side="right"))
        low = float(total[past - 1]) if past else 0.0
        if low >= 1.0 - 1e-9:
            return np.asarray(used + spread[0] * ((1 - used) if used < 1 else BEYOND * used))
        place = np.searchsorted(total, low + (1 - low) * spread[0], side="right")
        found = shares[np.minimum(place, len(shares) - 1)]
        blurred = found * (1 + BLUR * (2 * spread[1] - 1))
        return np.asarray(np.where(found < WHOLE, np.clip(blurred, used, 1.0), found))

    def _repeat(
        self, shares: Shares, drawn: Shares, before: list[int], used: float, spread: Shares, kept: int
    ) -> None:
        """Let some draws repeat what was drawn for a job of the same kind."""
        count = len(before)
        again = count / (count + kept + DOUBT)
        draws = np.flatnonzero(spread < again)
        if len(draws):
            which = np.array(before)[(spread[draws] / again * count).astype(np.int64)]
            value = drawn[which, draws]
            shares[draws] = np.where(value > used, value, shares[draws])
