"""What a policy did wrong, in a sentence: a verb that was refused, or jobs that wait for ever."""

from __future__ import annotations

import numpy as np

from headway.engine.tables import Fault, Phase, Pools, State, Table
from headway.errors import PolicyError
from headway.plain import counted
from headway.units import seconds_text


def check_finished(state: State, ids: Table | None = None) -> None:
    """Every job must have had its run: a policy that forgets one is at fault."""
    phase = state.jobs.phase
    if np.count_nonzero(phase == Phase.DONE) == len(phase):
        return
    left = (phase == Phase.WAITING) | (phase == Phase.SUSPENDED)
    if left.any():
        waiting = np.flatnonzero(left)
        at = seconds_text(int(state.clock.now))
        raise PolicyError(
            f"the policy left {len(waiting)} of {state.jobs.shape[1]} jobs waiting for ever: after {at} s"
            f" nothing runs and no job arrives any more; the first that waits,"
            f" {job_name(int(waiting[0]), ids)}, was submitted at"
            f" {seconds_text(int(state.jobs.submit[waiting[0]]))} s and wants"
            f" {counted(state.jobs.procs[waiting[0]], 'processor')}",
            law="complete",
        )


def job_name(job: int, ids: Table | None) -> str:
    """A job as the log calls it, or by its position among the arrivals."""
    return f"arrival {job}" if ids is None or not 0 <= job < len(ids) else f"job {ids[job]}"


def refusal(state: State, ids: Table | None) -> PolicyError:
    """The error for a refused verb, with the invariant that the policy would have broken."""
    laws: dict[int, str] = dict.fromkeys(
        (Fault.NOT_WAITING, Fault.NOT_RUNNING, Fault.NOT_SUSPENDED), "one run"
    )
    laws |= {Fault.TOO_WIDE: "capacity", Fault.NODE_FULL: "capacity", Fault.SLEPT: "time"}
    fault, job = int(state.clock.fault), int(state.clock.fault_job)
    early = fault == Fault.NOT_WAITING and int(state.clock.last_new) <= job < state.jobs.shape[1]
    return PolicyError(explain_fault(state, ids), law="submission" if early else laws.get(fault, ""))


def explain_fault(state: State, ids: Table | None = None) -> str:
    """One sentence on the verb that was refused."""
    job = int(state.clock.fault_job)
    at = f"at {seconds_text(int(state.clock.now))} s"
    fault = int(state.clock.fault)
    if fault == Fault.SLEPT:
        return f"{at} the policy asked to be woken at a time that is not later than now"
    if fault == Fault.NO_ROOM:
        return f"{at} the policy has more to note than its tables have room for: an error in the policy"
    known = 0 <= job < state.jobs.shape[1]
    name = job_name(job, ids)
    if not known:
        return (
            f"{at} the policy named {name}, which does not exist among {counted(state.jobs.shape[1], 'job')}"
        )
    procs = int(state.jobs.procs[job])
    if fault == Fault.TOO_WIDE:
        free = ", ".join(str(int(n)) for n, size in state.pools[[Pools["free"], Pools["size"]]].T if size > 0)
        wants = counted(procs, "processor")
        return f"{at} the policy started {name}, which wants {wants}, but only {free} are free"
    if fault == Fault.NODE_FULL:
        return f"{at} the policy started {name} on a node that has not as much free as it was to take"
    phase = int(state.jobs.phase[job])
    words: dict[int, str] = {
        Phase.WAITING: "is waiting",
        Phase.RUNNING: "is running already",
        Phase.SUSPENDED: "is suspended",
    }
    doing = words.get(phase, "has not arrived yet" if job >= state.clock.last_new else "has finished")
    if fault == Fault.NOT_WAITING:
        return f"{at} the policy started {name}, which {doing}; only waiting jobs can start"
    if fault == Fault.NOT_RUNNING:
        return f"{at} the policy stopped {name}, which {doing}; only running jobs can be stopped"
    if fault == Fault.NOT_SUSPENDED:
        return f"{at} the policy resumed {name}, which {doing}; only suspended jobs can be resumed"
    if fault == Fault.TOO_FAR:
        return f"{at} scores for {name} went beyond what can be compared exactly; give smaller weights"
    return f"{at} the policy broke rule {fault} with {name}"
