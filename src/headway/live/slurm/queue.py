"""Slurm's queue: one line of squeue for each job, with fixed fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from headway.live import outside
from headway.live.slurm.commands import Slurm
from headway.live.wire import NoAnswer
from headway.plain import cut
from headway.site.values import clock_time
from headway.units import DAY, LATEST, SECOND

FIELDS = "%i|%T|%C|%S|%e|%l|%r|%Q|%V|%P|%u|%a|%q|%N|%j"
"""Number, state, CPUs, start, end, limit, reason, priority, submission, partition, user, account, QOS, nodes,
name."""
LOOK = ("squeue", "--noheader", "--all", "--states=all", "--array")

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
NUMBER = re.compile("[0-9]{1,18}(?:[_+]|$)")
"""How the number of a job begins, or of a task of an array, or of a part of a heterogeneous job."""
LARGEST = 1 << 31
"""CPUs of a job are fewer."""


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

    def is_in(self, partition: str) -> bool:
        """Whether a partition is one of those it asked for; all are in the empty one."""
        return not partition or partition in self.partition.split(",")


def look_at(slurm: Slurm) -> list[str]:
    """What squeue prints of each job.

    Anybody may give a job a name of several lines, and write in them what looks like another job. So each job
    begins with a word that nobody can know.
    """
    mark = f"{outside.word(8)}|"
    before, *jobs = slurm.run(*LOOK, f"--format={mark}{FIELDS}").split(mark)
    if before.strip():
        raise _unreadable(before)
    if jobs and not jobs[-1].endswith("\n"):
        raise _unreadable(jobs[-1])
    return jobs


def parse_queue(lines: Iterable[str]) -> list[SlurmJob]:
    """The jobs of squeue's output."""
    return [_read(line) for line in lines]


def parse_ours(lines: Iterable[str]) -> list[SlurmJob]:
    """Only the jobs whose names are those of a journal: quick where thousands of others wait."""
    return [_read(line) for line in lines if f"|{OURS}" in line]


def _read(line: str) -> SlurmJob:
    """One job; a queue of which something cannot be read is unknown, and not shorter."""
    try:
        return parse_line(line)
    except ValueError:
        raise _unreadable(line) from None


def _unreadable(line: str) -> NoAnswer:
    return NoAnswer(f"squeue prints a line that is not a job's: {cut(line, 100)}")


def parse_line(line: str) -> SlurmJob:
    """One job.

    >>> parse_line("7|PENDING|4|N/A|N/A|1:00|JobHeldUser|0|1700000000|main|ada|||n1|hw-x").state
    'held'
    """
    fields = line.rstrip("\n").split("|", 14)
    number, state, cpus, start, end, limit, reason, priority, submitted, *rest = fields
    partition, user, account, qos, nodes, name = rest
    if not NUMBER.match(number):
        raise ValueError(f"no number of a job: {cut(number)}")
    found = STATES.get(state, "failed")
    if state == "PENDING":
        found = "held" if reason == HELD else "waiting"
    return SlurmJob(
        number, found, whole(cpus), instant(start), instant(end), parse_limit(limit), int(priority or 0),
        instant(submitted) or 0, partition, user, name, nodes, _name(account), _name(qos),
        reason not in NOT_ELIGIBLE,
    )  # fmt: skip


def _name(text: str) -> str:
    """A name; empty where there is none, as without an accounting database."""
    return "" if text in ("(null)", "N/A") else text


def whole(text: str) -> int:
    """A number of CPUs; 0 where none is shown."""
    if not 0 <= (found := int(text or 0)) < LARGEST:
        raise ValueError(f"no number of CPUs: {cut(text)}")
    return found


def instant(text: str) -> int | None:
    """A time that Slurm shows in seconds since 1970, in µs; None where there is none."""
    return _counted(int(text)) if text.isdigit() else None


def _counted(seconds: int) -> int:
    if seconds * SECOND >= LATEST:
        raise ValueError("beyond the range of times")
    return seconds * SECOND


def parse_limit(text: str) -> int:
    """A time limit, days-hours:minutes:seconds, in µs.

    >>> parse_limit("1-02:03:04"), parse_limit("5:00"), parse_limit("UNLIMITED") == UNLIMITED
    (93784000000, 300000000, True)
    """
    seconds = clock_time(text)
    return UNLIMITED if seconds is None else _counted(seconds)


def in_order(jobs: Sequence[SlurmJob]) -> list[SlurmJob]:
    """Waiting jobs as Slurm looks at them: by priority, then by submission; held ones come last."""
    waiting = [job for job in jobs if job.is_waiting]
    return sorted(waiting, key=lambda job: (job.state == "held", -job.priority, job.submitted, _number(job)))


def _number(job: SlurmJob) -> tuple[int, str]:
    front = job.number.partition("_")[0]
    return int(front) if front.isdigit() else 0, job.number
