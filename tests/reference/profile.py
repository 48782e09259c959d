"""The free profile as a bare list of bookings, every question answered by brute force.

A booking is (begin, end, procs), half-open.  Decision about bookings of length zero, on which the definition
is silent: such a booking holds nothing at its own instant against a window that *begins* there (the
zero-length job goes first and is gone in the same instant), but a window that *spans* the instant must leave
room for it; otherwise a later job could be placed across it and the zero-length job would miss its start.
Several of them at one instant take turns, so each is checked by itself.
"""

from __future__ import annotations

Booking = tuple[int, int, int]


class Profile:
    def __init__(self, m: int, bookings: list[Booking] | None = None) -> None:
        self.m = m
        self.bookings: list[Booking] = list(bookings or [])
        self._known: dict[int, int] = {}  # what was asked of used() since the last booking

    def add(self, begin: int, end: int, procs: int) -> None:
        self.bookings.append((begin, end, procs))
        self._known.clear()

    def used(self, x: int) -> int:
        if x not in self._known:
            self._known[x] = sum(q for begin, end, q in self.bookings if begin <= x < end)
        return self._known[x]

    def fits(self, s: int, d: int, q: int) -> bool:
        """Whether q processors are free over all of [s, s+d); s itself is tested also when d = 0."""
        if self.used(s) + q > self.m:
            return False
        for begin, end, procs in self.bookings:
            if s < begin < s + d:
                point = procs if begin == end else 0
                if self.used(begin) + point + q > self.m:
                    return False
        return True

    def exact(self, s: int, d: int, q: int) -> bool:
        """Whether the hole that starts at s ends exactly at s + d (given that the window fits)."""
        return d > 0 and self.used(s + d) + q > self.m

    def earliest(self, t: int, q: int, d: int, hole: str = "closed") -> int:
        """Smallest s >= t with a window; hole="open" refuses a hole of exactly the length needed."""
        for s in sorted({t} | {end for _, end, _ in self.bookings if end > t}):
            if self.fits(s, d, q) and not (hole == "open" and self.exact(s, d, q)):
                return s
        raise AssertionError(f"{q} processors never fit in {self.m}")
