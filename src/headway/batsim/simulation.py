"""Headway where Batsim stands: the engine moves time, a scheduler on the other side decides.

One instant: what is due ends and jobs are submitted, requests that were given for this instant are carried
out; then the scheduler is told what happened, and what it asks for now is done now. It may let time pass
while it thinks (``now`` of its answer): what happens until then is told in the next message, and a request
with a later time is carried out then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

import numpy as np

from headway.batsim.messages import Event, Message, asked_by, processors, queried, ranges, seconds, time_of
from headway.batsim.profiles import lasting
from headway.batsim.verbs import nothing, reject_now, start_now
from headway.engine.driver import NO_JOBS, Driver
from headway.engine.setup import Setup
from headway.engine.tables import JOB_ROWS, Ended, JobTable, Phase, Why
from headway.errors import PolicyError, UsageError
from headway.plain import Progress, counted
from headway.policies.prepare import UNBOUNDED
from headway.units import NEVER
from headway.workload import Workload

Ask = Callable[[Message], Message]
"""Sends a message to the scheduler; its answer."""

NOT_MODELLED = {
    "SET_RESOURCE_STATE": "energy and states of machines",
    "QUERY": "energy and temperatures",
    "TO_JOB_MSG": "messages to jobs",
    "CHANGE_JOB_STATE": "states that a scheduler gives to jobs",
    "RESOURCES_ADDED": "machines that come and go",
    "RESOURCES_REMOVED": "machines that come and go",
}


@dataclass
class Job:
    """A job as the protocol knows it."""

    name: str
    procs: int
    walltime: int
    """µs; UNBOUNDED where none was asked for."""
    runtime: int
    profile: str
    submit: int
    row: int = -1
    """Its row in the workload; -1 for one that the scheduler registered."""
    number: int = -1
    """Its column of the engine's table."""
    machines: list[int] = field(default_factory=list)
    metadata: str = ""
    rejected: bool = False
    stopped: bool = False
    """Whether the scheduler killed it."""

    def described(self) -> dict[str, Any]:
        """The job as messages show it."""
        walltime = -1 if self.walltime >= UNBOUNDED else seconds(self.walltime)
        return {
            "id": self.name,
            "subtime": seconds(self.submit),
            "walltime": walltime,
            "res": self.procs,
            "profile": self.profile,
        }


@dataclass(frozen=True)
class Settings:
    """What Batsim's options of the same names set."""

    dynamic: bool = False
    acknowledge: bool = True
    forward_profiles: bool = False
    scheduler_options: str = ""

    def described(self) -> dict[str, Any]:
        """The entry ``config`` of the first message."""
        return {
            "redis-enabled": False,
            "redis-hostname": "127.0.0.1",
            "redis-port": 6379,
            "redis-prefix": "default",
            "profiles-forwarded-on-submission": self.forward_profiles,
            "dynamic-jobs-enabled": self.dynamic,
            "dynamic-jobs-acknowledged": self.dynamic and self.acknowledge,
            "profile-reuse-enabled": False,
            "forward-unknown-events": False,
            "sched-config": self.scheduler_options,
        }


class Simulation:
    """A workload on a machine whose scheduler is asked by messages."""

    def __init__(self, workload: Workload, procs: int, ask: Ask, settings: Settings | None = None) -> None:
        self.workload, self.procs, self.ask = workload, procs, ask
        self.settings = settings or Settings()
        self.driver = Driver(NO_JOBS, Setup((procs,), nothing))
        self.profiles: dict[str, dict[str, Any]] = {"w0": {}}
        self.jobs: dict[str, Job] = {}
        self.of_number: list[Job] = []
        self.coming = self._static_jobs()
        self.free = np.ones(procs, np.bool_)
        self.events: list[Event] = []
        self.requests: list[tuple[int, int, Event]] = []
        self.calls: list[int] = []
        self.ready = self.now = self._given = 0
        self.registering = self.settings.dynamic
        self.scheduler_seconds = self.wall_seconds = 0.0
        self.messages = 0

    def _static_jobs(self) -> list[Job]:
        """The workload's jobs, the first to be submitted last."""
        log = self.workload
        columns = [log.columns[name].tolist() for name in ("job", "submit", "procs", "walltime", "runtime")]
        jobs = []
        for row in log.order.tolist():
            number, submit, procs, walltime, runtime = (column[row] for column in columns)
            profile = f"delay{seconds(runtime)}"
            self.profiles["w0"].setdefault(profile, {"type": "delay", "delay": seconds(runtime)})
            jobs.append(Job(f"w0!{number}", procs, walltime, runtime, profile, submit, row))
        return jobs[::-1]

    # ---- time ---------------------------------------------------------------------------------------------

    def run(self, progress: Progress | None = None) -> None:
        """Simulate to the end."""
        began = time.perf_counter()
        self._begin()
        while (t := self._next()) != NEVER:
            self._instant(t)
            if progress is not None and self.messages % 256 == 0:
                progress(len(self.of_number) - self._unfinished(), len(self.workload))
        self._refuse_forgotten()
        self.events.append(Event(self.now, "SIMULATION_ENDS"))
        self._tell(self.now)
        self.wall_seconds = time.perf_counter() - began

    def _next(self) -> int:
        """When something happens next: an end, a submission, a request, a call, or the scheduler is ready."""
        times = [self.driver.following]
        if self.coming:
            times.append(self.coming[-1].submit)
        if self.requests:
            times.append(self.requests[0][0])
        if self.calls:
            times.append(self.calls[0])
        if self.events:
            times.append(self.ready)
        return max(min(times), self.now) if min(times) != NEVER else NEVER

    def _instant(self, t: int) -> None:
        """Everything that happens at ``t``."""
        self.now = t
        self.driver.open(t)
        self._tell_ends(t)
        self._submit_due(t)
        self._do_due(t)
        while self.calls and self.calls[0] <= t:
            heappop(self.calls)
            self.events.append(Event(t, "REQUESTED_CALL"))
        if self.events and t >= self.ready:
            self._tell(t)
            self._do_due(t)
        self.driver.close()

    def _unfinished(self) -> int:
        phases = self.driver.state.jobs.phase[: len(self.of_number)]
        return int(np.isin(phases, (Phase.WAITING, Phase.RUNNING)).sum())

    def _refuse_forgotten(self) -> None:
        waiting = [job for job in self.of_number if self._phase(job) == Phase.WAITING]
        if waiting:
            raise PolicyError(
                f"the scheduler left {counted(len(waiting), 'job')} waiting for ever, the first of them "
                f"{waiting[0].name}, which wants {waiting[0].procs} processors: nothing runs, nothing is "
                f"submitted after {seconds(self.now)} s and it asked for no call"
            )
        if self.registering:
            raise PolicyError(
                "the scheduler has not said that its registration of jobs is finished (NOTIFY "
                "registration_finished), which --enable-dynamic-jobs needs to come to an end"
            )

    # ---- what is told -------------------------------------------------------------------------------------

    def _begin(self) -> None:
        machines = [
            {"id": i, "name": f"machine{i}", "state": "idle", "core_count": 1, "properties": {}}
            for i in range(self.procs)
        ]
        data = {
            "nb_resources": self.procs,
            "nb_compute_resources": self.procs,
            "nb_storage_resources": 0,
            "allow_compute_sharing": False,
            "allow_storage_sharing": False,
            "config": self.settings.described(),
            "compute_resources": machines,
            "storage_resources": [],
            "workloads": {"w0": self.workload.source.name},
            "profiles": {name: dict(profiles) for name, profiles in self.profiles.items()},
        }
        self.events.append(Event(0, "SIMULATION_BEGINS", data))
        self.driver.open(0)
        self._tell(0)
        self._do_due(0)
        self.driver.close()

    def _tell(self, t: int) -> None:
        """Send what happened and take what is asked for."""
        message = Message(t, tuple(self.events))
        self.events = []
        before = time.perf_counter()
        answer = self.ask(message)
        self.scheduler_seconds += time.perf_counter() - before
        self.messages += 1
        if answer.now < t:
            raise PolicyError(
                f"at {seconds(t)} s the scheduler answered with the time {seconds(answer.now)} s"
            )
        self.ready = answer.now
        for event in answer.events:
            self._given += 1
            heappush(self.requests, (max(event.at, t), self._given, event))

    def _tell_ends(self, t: int) -> None:
        state = self.driver.state
        for run in state.lists.ended_runs[: state.clock.ended].tolist():
            job = self.of_number[state.runs.job[run]]
            how = int(state.runs.ended[run])
            self._completed(
                t, job, "COMPLETED_WALLTIME_REACHED" if how == Ended.AT_WALLTIME else "COMPLETED_SUCCESSFULLY"
            )

    def _completed(self, t: int, job: Job, state: str) -> None:
        self.free[job.machines] = True
        code = 0 if state == "COMPLETED_SUCCESSFULLY" else -1
        data = {"job_id": job.name, "job_state": state, "return_code": code, "alloc": ranges(job.machines)}
        self.events.append(Event(t, "JOB_COMPLETED", data))

    def _submit_due(self, t: int) -> None:
        submitted = False
        while self.coming and self.coming[-1].submit <= t:
            self._submit(t, self.coming.pop(), tell=True)
            submitted = True
        if submitted and not self.coming:
            self.events.append(Event(t, "NOTIFY", {"type": "no_more_static_job_to_submit"}))

    def _submit(self, t: int, job: Job, tell: bool) -> None:
        rows = np.zeros(JOB_ROWS, np.int64)
        rows[[JobTable["procs"], JobTable["wall"], JobTable["plan"]]] = job.procs, job.walltime, job.walltime
        rows[[JobTable["promise"], JobTable["run"]]] = -1
        job.number = self.driver.join(rows, job.runtime)
        self.of_number.append(job)
        self.jobs[job.name] = job
        if tell:
            data: dict[str, Any] = {"job_id": job.name, "job": job.described()}
            if self.settings.forward_profiles:
                data["profile"] = self.profiles[job.name.partition("!")[0]][job.profile]
            self.events.append(Event(t, "JOB_SUBMITTED", data))

    # ---- what is asked for --------------------------------------------------------------------------------

    def _do_due(self, t: int) -> None:
        while self.requests and self.requests[0][0] <= t:
            event = heappop(self.requests)[2]
            verbs: Mapping[str, Callable[[int, dict[str, Any]], None]] = {
                "EXECUTE_JOB": self._execute,
                "REJECT_JOB": self._reject,
                "KILL_JOB": self._kill,
                "CALL_ME_LATER": self._call_later,
                "REGISTER_PROFILE": self._register_profile,
                "REGISTER_JOB": self._register_job,
                "SUBMIT_PROFILE": self._register_profile,
                "SUBMIT_JOB": self._register_job,
                "SET_JOB_METADATA": self._set_metadata,
                "NOTIFY": self._notified,
            }
            if event.type not in verbs:
                what = NOT_MODELLED.get(event.type)
                asked = queried(event) if event.type == "QUERY" else ""
                raise UsageError(
                    f"at {seconds(t)} s the scheduler sent {event.type}{f' for {asked}' if asked else ''}"
                    + (f": {what} are not modelled" if what else ", which is not a request of the protocol")
                )
            try:
                verbs[event.type](t, event.data)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise PolicyError(
                    f"at {seconds(t)} s the scheduler sent {event.type} with data that do not fit: "
                    f"{type(error).__name__} {error}"
                ) from None

    def _phase(self, job: Job) -> int:
        return int(self.driver.state.jobs.phase[job.number])

    def _job(self, t: int, name: object, asked: str) -> Job:
        job = self.jobs.get(str(name))
        if job is None:
            raise PolicyError(f"at {seconds(t)} s the scheduler {asked} {name}, which was not submitted")
        return job

    def _execute(self, t: int, data: dict[str, Any]) -> None:
        for name in ("storage_mapping", "additional_io_job"):
            if data.get(name):
                raise UsageError(f"EXECUTE_JOB of {data['job_id']} has {name}: storage is not modelled")
        job = self._job(t, data["job_id"], "started")
        try:
            machines = processors(data["alloc"])
        except ValueError:
            raise PolicyError(
                f"at {seconds(t)} s the scheduler started {job.name} on {data['alloc']!r}, which is not "
                "a set of processors like 0-3 7"
            ) from None
        where = f"at {seconds(t)} s the scheduler started {job.name} on {ranges(machines)}"
        if self._phase(job) != Phase.WAITING:
            raise PolicyError(f"{where}, but that job does not wait")
        if machines[-1] >= self.procs:
            raise PolicyError(f"{where}, but the machine has the processors 0 to {self.procs - 1}")
        if len(machines) != job.procs:
            raise PolicyError(f"{where}, but it asked for {job.procs} processors")
        busy = [number for number in machines if not self.free[number]]
        if busy:
            raise PolicyError(f"{where}, of which {ranges(busy)} are busy; processors are not shared")
        self.free[machines] = False
        job.machines = machines
        start_now(self.driver.state, job.number, self._why(t, job))

    def _why(self, t: int, job: Job) -> int:
        """Before others that came earlier, or in turn."""
        earlier = self.driver.state.jobs.phase[: job.number]
        if (earlier == Phase.WAITING).any():
            return Why.BACKFILL
        return Why.IMMEDIATE if job.submit == t else Why.HEAD

    def _reject(self, t: int, data: dict[str, Any]) -> None:
        job = self._job(t, data["job_id"], "rejected")
        if not reject_now(self.driver.state, job.number):
            raise PolicyError(f"at {seconds(t)} s the scheduler rejected {job.name}, which does not wait")
        job.rejected = True

    def _kill(self, t: int, data: dict[str, Any]) -> None:
        progress: dict[str, Any] = {}
        if not isinstance(data["job_ids"], list):
            raise TypeError("job_ids is not a list")
        names = [str(name) for name in data["job_ids"]]
        for name in names:
            job = self._job(t, name, "killed")
            if self._phase(job) != Phase.RUNNING:
                continue  # it ended before the request came: nothing to kill
            ran = t - int(self.driver.state.runs.start[self.run_of(job)])
            done = min(ran / job.runtime, 1.0) if job.runtime else 1.0
            progress[name] = {"profile_name": job.profile, "progress": done}
            self.driver.end(job.number, Ended.BY_PREEMPTION if ran < job.runtime else Ended.BY_ITSELF)
            job.stopped = True
            self._completed(t, job, "COMPLETED_KILLED")
        self.events.append(Event(t, "JOB_KILLED", {"job_ids": names, "job_progress": progress}))

    def run_of(self, job: Job) -> int:
        """Which of the engine's runs is a job's; -1 if it has none."""
        return int(self.driver.state.jobs.run[job.number])

    def ran(self) -> list[Job]:
        """The jobs that had a run."""
        return [job for job in self.of_number if self.run_of(job) >= 0]

    def _call_later(self, t: int, data: dict[str, Any]) -> None:
        heappush(self.calls, max(time_of(data["timestamp"]), t))

    def _register_profile(self, t: int, data: dict[str, Any]) -> None:
        self._need_dynamic("a profile")
        profiles = self.profiles.setdefault(str(data["workload_name"]), {})
        name = str(data["profile_name"])
        profiles[name] = data["profile"]
        lasting(name, profiles)

    def _register_job(self, t: int, data: dict[str, Any]) -> None:
        self._need_dynamic("a job")
        name, asked = str(data["job_id"]), data["job"]
        is_there = name in self.jobs or any(job.name == name for job in self.coming)
        if is_there or "!" not in name:
            raise PolicyError(
                f"at {seconds(t)} s the scheduler registered a job {name!r}, which "
                + ("there is already" if is_there else "has no workload: it is written name!id")
            )
        procs, walltime = asked_by(asked)
        if procs < 1:
            raise PolicyError(f"{name} asks for {procs} processors; it needs at least 1")
        profile = str(asked["profile"])
        runtime = lasting(profile, self.profiles.get(name.partition("!")[0], {}))
        self._submit(t, Job(name, procs, walltime, runtime, profile, t), self.settings.acknowledge)

    def _need_dynamic(self, what: str) -> None:
        if not self.settings.dynamic:
            raise UsageError(f"the scheduler registers {what}; allow that with --enable-dynamic-jobs")

    def _set_metadata(self, t: int, data: dict[str, Any]) -> None:
        self._job(t, data["job_id"], "set the metadata of").metadata = str(data["metadata"])

    def _notified(self, t: int, data: dict[str, Any]) -> None:
        kind = data.get("type")
        if kind in ("registration_finished", "submission_finished"):
            self.registering = False
        elif kind in ("continue_registration", "continue_submission"):
            self.registering = True
        else:
            raise UsageError(f"at {seconds(t)} s the scheduler sent NOTIFY {kind}, which is not known")
