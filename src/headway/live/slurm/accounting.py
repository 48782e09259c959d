"""Slurm's accounting, where there is one: what became of jobs that the controller has forgotten.

No answer of the database is no answer: then it is unknown what became of the job.
"""

from __future__ import annotations

from headway.live import outside
from headway.live.slurm.commands import Slurm
from headway.live.slurm.queue import STATES, SlurmJob, instant, parse_limit, whole
from headway.live.wire import NoAnswer
from headway.plain import cut

FIELDS = "JobID,State,NCPUS,Start,End,Timelimit,Submit,Partition,User"
ASK = ("sacct", "--noheader", "--parsable2", "--allocations", "--starttime=now-30days", f"--format={FIELDS}")
NOT_OVER = ("waiting", "held", "running", "suspended")
AGAIN = 5.0
"""Seconds for which an answer is used again."""


class Accounting:
    """Asked for jobs by name."""

    def __init__(self, slurm: Slurm) -> None:
        self.slurm = slurm
        self._is_there: bool | None = None
        self._known: dict[str, tuple[float, SlurmJob | None]] = {}

    @property
    def is_there(self) -> bool:
        """Whether the cluster has a database of its jobs; asked once."""
        if self._is_there is None:
            config = self.slurm.run("scontrol", "show", "config")
            self._is_there = "accounting_storage/slurmdbd" in config
        return self._is_there

    def last(self, name: str) -> SlurmJob | None:
        """The last job of a name that is over; None if there is none, or no accounting."""
        if not self.is_there:
            return None
        now = outside.steady()
        self._known = {key: kept for key, kept in self._known.items() if now - kept[0] < AGAIN}
        if name not in self._known:
            text = self.slurm.run(*ASK, f"--name={name}")
            if text and not text.endswith("\n"):
                raise NoAnswer(f"sacct breaks off: {cut(text, 100)}")
            jobs = [_read(line, name) for line in text.splitlines() if line.strip()]
            # What the controller does not know, and is not over here, has been lost by it: it is in no queue.
            over = [job for job in jobs if job.state not in NOT_OVER]
            self._known[name] = now, over[-1] if over else None
        return self._known[name][1]


def _read(line: str, name: str) -> SlurmJob:
    """A line of sacct; what cannot be read is unknown."""
    try:
        return _job(line, name)
    except ValueError:
        raise NoAnswer(f"sacct prints a line that is not a job's: {cut(line, 100)}") from None


def _job(line: str, name: str) -> SlurmJob:
    """A line of sacct.

    >>> _job("7|CANCELLED by 1000|4|1700000000|1700000060|00:10:00|1699999000|main|ada", "hw-x").state
    'cancelled'
    """
    number, state, cpus, start, end, limit, submitted, partition, user = line.split("|")
    word = state.partition(" ")[0]
    found = "waiting" if word == "PENDING" else STATES.get(word, "failed")
    times = [instant(text) for text in (start, end, submitted)]
    return SlurmJob(
        number, found, whole(cpus), times[0], times[1], parse_limit(limit), 0, times[2] or 0, partition,
        user, name,
    )  # fmt: skip
