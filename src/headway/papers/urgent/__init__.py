"""Agung et al., "Preemptive parallel job scheduling for heterogeneous systems supporting urgent computing".

IEEE Access 9, 2021, as slides tell it: urgent tsunami jobs among the regular jobs of a machine. Its table
of lateness by scheduler, the regular jobs' response and slowdown, longer swaps; then what suspending, killing
and dedicated nodes cost the regular users, and how many urgent jobs an hour a machine bears.
"""
