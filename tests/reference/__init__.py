"""Slow, plain second readings of every algorithm, written from the definitions alone.

No numpy, no numba, no clever data structure: a reference is there to be read and believed, and to referee
the fast implementation.  All times are exact integers; the functions that need to know how long a second
is take ``second`` (1_000_000 where times are microseconds, 1 in the hand-worked examples).
"""
