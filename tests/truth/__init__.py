"""Schedules recorded from real Slurm, and the reference of tests/reference/slurm driven by their state.

`runs` reads a recorded run, `conf` its configuration; `follow` walks its events and knows at each pass who
waits, who runs and where; `compare` gives the reference that state and counts what it decides alike.
"""
