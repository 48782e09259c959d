"""EASY backfilling in the order of fair share: whoever used little goes first. A policy with a memory.

    headway simulate log.swf.gz --policy './examples/fair_share.py:FairShare(half_life=7d)'

Each user's use of the machine, in processor-seconds, counts half as much after every half-life. The queue is
sorted by use, ties by submission, and EASY backfills over it. Times are whole microseconds.
"""

from easy_in_python import backfill

SECOND = 1_000_000


class FairShare:
    """`half_life` in seconds."""

    def __init__(self, half_life=604_800):
        self.half_life = half_life
        self.used = {}  # user -> processor-seconds, decayed to `self.when`
        self.when = None

    def decide(self, view):
        self.charge(view)
        queue = sorted(view.waiting, key=lambda job: self.used.get(job.user, 0.0))
        return backfill(view, queue)

    def charge(self, view):
        """Add what ran since the last pass, and let what was used before fade."""
        if self.when is not None and view.now > self.when:
            passed = (view.now - self.when) / SECOND
            fade = 0.5 ** (passed / self.half_life)
            self.used = {user: use * fade for user, use in self.used.items()}
            for job in self.running:
                self.used[job.user] = self.used.get(job.user, 0.0) + job.procs * passed
        self.when = view.now
        self.running = list(view.running)
