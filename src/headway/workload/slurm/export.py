"""Which columns of `sacct` are read, and the command that exports them."""

from __future__ import annotations

COLUMNS = (
    "Cluster", "JobID", "JobIDRaw", "User", "Account", "Partition", "QOS", "State", "Submit", "Eligible",
    "Start", "End", "ElapsedRaw", "TimelimitRaw", "ReqCPUS", "AllocCPUS", "NNodes", "ReqNodes", "ReqMem",
    "ReqTRES", "AllocTRES", "Reservation", "ReservationId", "Constraints", "Flags", "Suspended", "TotalCPU",
    "NodeList", "SubmitLine",
)  # fmt: skip
"""Columns of the documented export: what a simulation wants, numbers and times raw; SubmitLine last, because
people may write anything into it."""

EXPORT = (
    "SLURM_TIME_FORMAT=%s SLURM_BITSTR_LEN=0 sacct --allusers --allocations --duplicates --parsable2 "
    f"--starttime 2024-01-01 --endtime 2025-01-01 --format {','.join(COLUMNS)} > jobs.txt"
)
"""The line for a login node. Times as seconds since 1970, so that no clock change can be misread."""

ALSO_READ = (
    "UID", "Elapsed", "Timelimit", "NCPUS", "AllocNodes", "MaxRSS", "NTasks", "Licenses", "Restarts",
    "ReqGRES", "AllocGRES", "Dependency", "JobName",
)  # fmt: skip
"""Columns that are understood where an export has them."""

FREE_TEXT = (
    "JobName", "Comment", "AdminComment", "SystemComment", "SubmitLine", "WorkDir", "Extra", "WCKey",
    "StdIn", "StdOut", "StdErr", "Container", "FailedNode",
)  # fmt: skip
"""Columns in which people may write anything, the separator included."""

NEEDED: dict[str, tuple[tuple[str, ...], ...]] = {
    "the job's number": (("JobIDRaw",), ("JobID",)),
    "the submit time": (("Submit",),),
    "the run time": (("ElapsedRaw",), ("Elapsed",), ("Start", "End")),
    "the processors": (("ReqCPUS",), ("AllocCPUS",), ("NCPUS",), ("ReqTRES",), ("AllocTRES",)),
}
"""What a job cannot do without, and the columns that give it: one group of each line is enough."""

_SPELLING = {name.lower(): name for name in (*COLUMNS, *ALSO_READ, *FREE_TEXT)}


def spelled(name: str) -> str:
    """A column's name as Slurm spells it, whatever its case; a stranger keeps its own.

    >>> spelled("jobidraw"), spelled("Shoe size")
    ('JobIDRaw', 'Shoe size')
    """
    return _SPELLING.get(name.strip().lower(), name.strip())


def missing(names: list[str]) -> str | None:
    """One sentence about the first thing that no column of a table gives; None where nothing is missing."""
    for what, choices in NEEDED.items():
        if not any(all(name in names for name in choice) for choice in choices):
            wanted = " or ".join(" with ".join(choice) for choice in choices)
            return f"has no column {wanted}, which gives {what}; export with: {EXPORT}"
    return None
