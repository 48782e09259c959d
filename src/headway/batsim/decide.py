"""Our policies behind Batsim: each message is an instant, and what the policy starts goes out as requests.

The policy plans with the walltimes that jobs ask for, and a job ends when Batsim says so. Processors are
counted by the policy; a job gets those with the lowest free numbers.
"""

from __future__ import annotations

from typing import Any

from headway.batsim.messages import Event, Message, asked_by, queried, ranges, seconds
from headway.engine.tables import OPEN, JobTable, Phase
from headway.errors import InputError, PolicyError, UsageError
from headway.platform import Platform
from headway.policies.joining import Joining
from headway.policies.prepare import UNBOUNDED
from headway.policies.spec import Spec
from headway.units import NEVER
from headway.values import COUNT, fits

IGNORED = ("JOB_KILLED", "REQUESTED_CALL", "SIMULATION_ENDS")
"""What needs no answer of its own: a killed job is told as completed, too."""
NOTICES = ("no_more_static_job_to_submit", "no_more_external_event_to_occur")
"""What Batsim may notify of without anything that the policy would have to know."""
SHARING = ("allow_compute_sharing", "allow_time_sharing_on_compute", "allow_time_sharing")
"""How versions of Batsim say that jobs may share processors."""


def _old_redis(config: dict[str, Any]) -> bool:
    """Whether Batsim 2 keeps the jobs in Redis."""
    redis = config.get("redis", {})
    return isinstance(redis, dict) and bool(redis.get("enabled"))


class Decider:
    """A policy that answers messages."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec.policy.on_cluster().spec
        self.spec.policy.as_local()  # refuses a policy whose jobs cannot come one by one
        self.line: Joining | None = None
        self.free: list[int] = []
        self.machines: dict[int, list[int]] = {}
        self.numbers: dict[str, int] = {}
        """Of all jobs but those that were rejected."""
        self.names: list[str] = []
        self.seen = self.messages = 0
        self.called = self.now = -1
        self.over = False

    def answer(self, message: Message) -> Message:
        """What is to be done now."""
        self.messages += 1
        requests: list[Event] = []
        if message.now < self.now:
            raise InputError(f"Batsim sent the time {seconds(message.now)} s after {seconds(self.now)} s")
        self.now = message.now
        for event in message.events:
            if event.type == "SIMULATION_BEGINS":
                self._begin(event.data)
        driver = self._line().driver
        driver.open(message.now)
        for event in message.events:
            requests += self._hear(event, message.now)
        driver.close()
        requests += self._decided(message.now)
        self.over = any(event.type == "SIMULATION_ENDS" for event in message.events)
        return Message(message.now, tuple(requests))

    def _line(self) -> Joining:
        if self.line is None:
            raise InputError("Batsim's first message must be SIMULATION_BEGINS")
        return self.line

    def _begin(self, data: dict[str, Any]) -> None:
        resources: Any = data.get("compute_resources")
        if not fits(resources, [{"id": COUNT}]) or len({each["id"] for each in resources}) < len(resources):
            raise InputError("SIMULATION_BEGINS has no list compute_resources with an id each")
        if self.line is not None:
            raise InputError("Batsim sent SIMULATION_BEGINS twice")
        self.free = sorted(resource["id"] for resource in resources)
        for word in SHARING:
            if data.get(word):
                raise UsageError(
                    f"Batsim lets jobs share processors ({word}); run it without, since the policy counts "
                    "free processors"
                )
        config = data.get("config", {})
        if isinstance(config, dict) and (config.get("redis-enabled") or _old_redis(config)):
            raise UsageError("Batsim keeps the jobs in Redis, where they are not read; run it without Redis")
        self.line = Joining(self.spec, Platform.procs(len(self.free)))

    def _hear(self, event: Event, now: int) -> list[Event]:
        """Take note of an event; what has to be asked for at once."""
        if event.type == "JOB_SUBMITTED":
            return self._submitted(event.data, now)
        if event.type == "JOB_COMPLETED":
            self._completed(event.data.get("job_id"))
        elif event.type == "QUERY":
            raise UsageError(f"Batsim sent QUERY for {queried(event)}, which Headway does not answer")
        elif event.type == "NOTIFY":
            if (told := event.data.get("type")) not in NOTICES:
                raise UsageError(f"Batsim sent NOTIFY of {told}, which Headway does not model; omit it")
        elif event.type not in (*IGNORED, "SIMULATION_BEGINS"):
            raise UsageError(f"Batsim sent {event.type}, which Headway does not model")
        return []

    def _submitted(self, data: dict[str, Any], now: int) -> list[Event]:
        try:
            name = str(data["job_id"])
            procs, planned = asked_by(data["job"])
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InputError(
                f"JOB_SUBMITTED has {data}, where job_id and a job with res are needed, and with a walltime "
                "in seconds or none"
            ) from None
        if name in self.numbers:
            raise InputError(f"Batsim submitted the job {name} twice")
        line = self._line()
        if procs > line.widest or procs < 1:
            return [Event(now, "REJECT_JOB", {"job_id": name})]
        rows = line.rows(procs, planned)
        rows[JobTable["wall"]] = UNBOUNDED  # the end is Batsim's to tell
        self.numbers[name] = line.driver.join(rows, UNBOUNDED)
        self.names.append(name)
        return []

    def _completed(self, name: object) -> None:
        number = self.numbers.get(str(name))
        if number is None or not self._line().driver.end(number):
            raise InputError(f"Batsim sent JOB_COMPLETED of {name}, which does not run")
        self.free = sorted(self.free + self.machines.pop(number))

    def _decided(self, now: int) -> list[Event]:
        driver = self._line().driver
        state = driver.state
        requests = []
        for run in range(self.seen, int(state.clock.runs)):
            number = int(state.runs.job[run])
            if state.runs.end[run] != OPEN:
                raise PolicyError(
                    f"at {seconds(now)} s {self.spec.brief} stopped {self.names[number]} again, for which "
                    "Batsim's protocol has no request"
                )
            procs = int(state.jobs.procs[number])
            self.machines[number], self.free = self.free[:procs], self.free[procs:]
            data = {"job_id": self.names[number], "alloc": ranges(self.machines[number])}
            requests.append(Event(now, "EXECUTE_JOB", data))
        self.seen = int(state.clock.runs)
        for name, number in list(self.numbers.items()):
            if state.jobs.phase[number] == Phase.REFUSED:
                requests.append(Event(now, "REJECT_JOB", {"job_id": name}))
                del self.numbers[name]
        wake = int(state.clock.wake)
        if now < wake < NEVER and wake != self.called:
            self.called = wake
            requests.append(Event(now, "CALL_ME_LATER", {"timestamp": seconds(wake)}))
        return requests

    @property
    def finished(self) -> int:
        """Jobs that have ended."""
        return 0 if self.line is None else int(self.line.driver.state.clock.finished)
