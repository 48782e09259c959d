"""Slurm's scheduler in plain Python: the reference that the compiled policy is held to.

One file per subject.  `machine` names the things; `select` puts a job on nodes; `plan` is backfill's table of
time; `when` finds the first moment a job could run; `backfill` and `main` are the two loops; `queue` orders
what waits; `priority`, `fairshare` and `limits` say who comes first and who may not run; `loop` lets it all
run by its own clocks.  Node sets are integers: bit i is the node defined i-th.
"""
