"""Policies of a user's own: a key, a whole policy in Python, or a compiled one.

    def key(job, now): ...                 easy(order=./mine.py:key)      times in seconds
    def mine(view, k=3): ...               ./mine.py:mine(k=3)            times in whole microseconds
    class Mine:
        def decide(self, view): ...        ./mine.py:Mine(k=3)
    @compiled(k=3)
    def fast(t, state): ...                ./mine.py:fast(k=3)

The same from Python (``headway.simulate(log, 128, Mine(k=3))``) and, by a name of its own, through the
entry point group ``headway.policies``.
"""

from __future__ import annotations
