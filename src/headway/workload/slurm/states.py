"""Job states of Slurm, long and short, and what they mean for a job of a workload."""

from __future__ import annotations

COMPLETED, FAILED, CANCELLED, RUNNING, PENDING, ATTEMPT, FOREIGN, RESIZED, DEADLINE = range(9)
"""Kinds of states. ATTEMPT is a run that was taken back: the job may have run again. RESIZED is the part of a
run before its job was given more or fewer processors. DEADLINE may have run or not."""

_KINDS: dict[int, tuple[str, ...]] = {
    COMPLETED: ("COMPLETED", "CD", "COMPLETING", "CG"),
    FAILED: ("FAILED", "F", "TIMEOUT", "TO", "OUT_OF_MEMORY", "OOM", "LAUNCH_FAILED",
             "RECONFIG_FAIL", "STOPPED", "ST", "SPECIAL_EXIT", "SE", "EXPIRED", "EX"),
    CANCELLED: ("CANCELLED", "CA", "REVOKED", "RV"),
    RUNNING: ("RUNNING", "R", "SUSPENDED", "S", "CONFIGURING", "CF", "STAGE_OUT", "SO", "SIGNALING", "SI"),
    PENDING: ("PENDING", "PD", "REQUEUE_HOLD", "RH", "REQUEUE_FED", "RF", "RESV_DEL_HOLD", "RD"),
    ATTEMPT: ("REQUEUED", "RQ", "NODE_FAIL", "NF", "PREEMPTED", "PR", "BOOT_FAIL", "BF"),
    RESIZED: ("RESIZING", "RS"),
    DEADLINE: ("DEADLINE", "DL"),
}  # fmt: skip
_KIND = {name: kind for kind, names in _KINDS.items() for name in names}

SWF_STATUS = {
    COMPLETED: 1, FAILED: 0, CANCELLED: 5, RUNNING: -1, PENDING: -1, ATTEMPT: 0, FOREIGN: -1, RESIZED: 0,
    DEADLINE: 0,
}  # fmt: skip
"""The status in the terms of the Standard Workload Format."""


def kind(state: str) -> int:
    """The kind of a state as sacct writes it.

    >>> kind("CANCELLED by 1001") == CANCELLED, kind("TO") == FAILED, kind("tired") == FOREIGN
    (True, True, True)
    """
    word = state.split(" ", 1)[0].rstrip("+").upper()
    return _KIND.get(word, FOREIGN)
