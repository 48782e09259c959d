"""Slurm's queue: one line of squeue for each job, with fixed fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headway.site.values import clock_time
from headway.units import DAY, SECOND

FIELDS = "%i|%T|%C|%S|%e|%l|%r|%Q|%V|%P|%u|%a|%q|%N|%j"
"""Number, state, CPUs, start, end, limit, reason, priority, submission, partition, user, account, QOS, nodes,
name."""
LOOK = ("squeue", "--noheader", "--all", "--states=all", "--array", f"--format={FIELDS}")
"""Names come last: they may hold anything."""

OURS = "hw-"
"""How the names of an agent's jobs begin."""
HELD = "JobHeldUser"
NOT_ELIGIBLE = ("BeginTime", "Dependency", "DependencyNeverSatisfied", "JobArrayTaskLimit", "JobHeldAdmin")
"""Reasons of jobs that wait for a time, for other jobs or for an operator: nobody may start them yet. What an
operator holds is not for us to release."""
RUNNING = ("RUNNING", "COMPLETING", "CONFIGURING", "STAGE_OUT", "SIGNALING", "STOPPED")
STATES = {
    "COMPLETED": "done",
    "CANCELLED": "cancelled",
    "TIMEOUT": "killed",
    "DEADLINE": "killed",
    "SUSPENDED": "suspended",
    "REQUEUED": "waiting",
    "REQUEUE_FED": "waiting",
    "REQUEUE_HOLD": "held",
    "SPECIAL_EXIT": "held",
    "RESV_DEL_HOLD": "held",
} | dict.fromkeys(RUNNING, "running")
"""Slurm's word -> ours; what is not here has failed. A job that was preempted and comes back is PENDING."""
UNLIMITED = 365 * DAY


@dataclass(frozen=True)
class SlurmJob:
    """A job as squeue shows it; times in µs since 1970."""

    number: str
    state: str
    procs: int
    start: int | None
    end: int | None
    limit: int
    priority: int
    submitted: int
    partition: str
    user: str
    name: str
    nodes: str = ""
    """Those it runs on, such as n[1-3,7]."""
    account: str = ""
    qos: str = ""
    is_eligible: bool = True
    """Whether it waits for processors alone, not for a time, for other jobs or for an operator."""

    @property
    def is_waiting(self) -> bool:
        return self.state in ("waiting", "held")

    @property
    def may_start(self) -> bool:
        """Whether a scheduler may start it now."""
        return self.state == "waiting" and self.is_eligible


def parse_queue(text: str) -> list[SlurmJob]:
    """The jobs of squeue's output."""
    return [parse_line(line) for line in text.splitlines() if line.strip()]


def parse_ours(text: str) -> list[SlurmJob]:
    """Only the jobs whose names are those of a journal: quick where thousands of others wait."""
    return [parse_line(line) for line in text.splitlines() if f"|{OURS}" in line]


def parse_line(line: str) -> SlurmJob:
    """One job.

    >>> parse_line("7|PENDING|4|N/A|N/A|1:00|JobHeldUser|0|1700000000|main|ada|||n1|hw-x").state
    'held'
    """
    number, state, cpus, start, end, limit, reason, priority, submitted, *rest = line.split("|", 14)
    partition, user, account, qos, nodes, name = rest
    found = STATES.get(state, "failed")
    if state == "PENDING":
        found = "held" if reason == HELD else "waiting"
    return SlurmJob(
        number, found, int(cpus or 0), _instant(start), _instant(end), parse_limit(limit), int(priority or 0),
        _instant(submitted) or 0, partition, user, name, nodes, _name(account), _name(qos),
        reason not in NOT_ELIGIBLE,
    )  # fmt: skip


def _name(text: str) -> str:
    """A name; empty where there is none, as without an accounting database."""
    return "" if text in ("(null)", "N/A") else text


def _instant(text: str) -> int | None:
    return int(text) * SECOND if text.isdigit() else None


def parse_limit(text: str) -> int:
    """A time limit, days-hours:minutes:seconds, in µs.

    >>> parse_limit("1-02:03:04"), parse_limit("5:00"), parse_limit("UNLIMITED") == UNLIMITED
    (93784000000, 300000000, True)
    """
    seconds = clock_time(text)
    return UNLIMITED if seconds is None else seconds * SECOND


def in_order(jobs: Sequence[SlurmJob]) -> list[SlurmJob]:
    """Waiting jobs as Slurm looks at them: by priority, then by submission; held ones come last."""
    waiting = [job for job in jobs if job.is_waiting]
    return sorted(waiting, key=lambda job: (job.state == "held", -job.priority, job.submitted, _number(job)))


def _number(job: SlurmJob) -> tuple[int, str]:
    front = job.number.partition("_")[0]
    return int(front) if front.isdigit() else 0, job.number
