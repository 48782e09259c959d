"""A Slurm cluster on which a policy of Headway decides: Slurm runs what it is told to, when it is told to.

The queue is Headway's own, on disk as that of a local cluster. A job is given to Slurm when the policy starts
it, and should find room at once: the processors (`procs`) are to be for this grid alone, as a partition or a
reservation. Stopping is scancel, a restart is a new job; suspending and resuming need Slurm's operator role.
"""

from __future__ import annotations

import re
import signal
from typing import Any

from headway.live import outside
from headway.live.grid_file import Grid, Site
from headway.live.local_queue import Entry
from headway.live.local_server import LocalServer
from headway.live.processes import Processes
from headway.live.script import Fence, job_script
from headway.live.server import RETRY, log
from headway.live.slurm.commands import Slurm, sbatch_words
from headway.live.slurm.queue import RUNNING, SlurmJob, look_at, parse_queue
from headway.live.wire import NoAnswer, Refused
from headway.plain import cut
from headway.units import MINUTE

FRESH = 0.5
"""Seconds for which a look at the queue is used again."""
SETTLING = 5.0
"""Seconds for which a job that was just handed over may be missing in the queue."""
NOT_OPERATOR = (
    "needs Slurm's operator role for suspending and resuming jobs (sacctmgr modify user NAME set "
    "adminlevel=operator); without it choose ujfb(preempt=kill) or another policy"
)


class SlurmJobs(Processes):
    """Jobs of Slurm in the place of processes; their numbers in that of process numbers."""

    def __init__(self, slurm: Slurm) -> None:
        super().__init__()
        self.slurm = slurm
        self._looked, self._jobs = -FRESH, dict[int, SlurmJob]()
        self._given: dict[int, float] = {}
        self._undone: dict[int, str] = {}
        """What was asked of jobs while the controller did not answer."""

    def hand_over(self, words: list[str], script: str) -> int:
        """Give a job to Slurm; its number."""
        self._looked = -FRESH  # Slurm may have the job whatever the answer is
        said = self.slurm.run("sbatch", "--parsable", "--no-requeue", *words, text=script)
        number = handed_over(said)
        now = outside.steady()
        self._given = {each: at for each, at in self._given.items() if now - at < SETTLING} | {number: now}
        self._looked = -FRESH
        return number

    def job(self, number: int, name: str) -> SlurmJob | None:
        """A job by number and name: after a crash of the controller numbers are given anew."""
        found = self._queue().get(number)
        return found if found is not None and (not name or _is_of(found, name)) else None

    def alive(self, name: str) -> int | None:
        """The number of the job of a name that waits or runs."""
        live = (number for number, job in self._queue().items() if _is_of(job, name) and _is_alive(job))
        return next(live, None)

    def _queue(self) -> dict[int, SlurmJob]:
        if outside.steady() - self._looked > FRESH:
            jobs = parse_queue(look_at(self.slurm))
            self._jobs = {int(job.number): job for job in jobs if job.number.isdigit()}
            self._looked = outside.steady()
        return self._jobs

    def is_own(self, pid: int) -> bool:
        return False  # nobody tells us when a job of Slurm ends: it is looked for

    def is_alive(self, pid: int, name: str = "") -> bool:
        try:
            found = self.job(pid, name)
        except NoAnswer:
            return True  # unknown is not over
        if found is None:
            return outside.steady() - self._given.get(pid, -SETTLING) < SETTLING or self._is_shown(pid, name)
        return _is_alive(found)

    def _is_shown(self, number: int, name: str) -> bool:
        """Whether Slurm still has a job that its queue did not show: part of an answer is no answer."""
        try:
            shown = self.slurm.run("scontrol", "show", "job", str(number))
        except NoAnswer:
            return True
        except Refused:
            return False
        said = dict(re.findall(r"\b(JobName|JobState)=(\S+)", shown))
        is_it = said.get("JobName", "").rpartition(".")[0] == name.rpartition(".")[0]
        return is_it and said.get("JobState") in ("PENDING", "SUSPENDED", *RUNNING)

    def code(self, pid: int) -> int | None:
        return None

    def fate(self, pid: int, name: str) -> str:
        found = self.job(pid, name)
        return found.state if found is not None and found.state in ("killed", "cancelled") else "failed"

    def suspend(self, pid: int, name: str) -> None:
        self._operate("suspend", pid)

    def resume(self, pid: int, name: str) -> None:
        self._operate("resume", pid)

    def _operate(self, act: str, number: int) -> None:
        self._undone[number] = act
        try:
            self.slurm.run("scontrol", act, str(number))
        except Refused as error:
            self._undone.pop(number)
            raise Refused(f"{error}; {act} {NOT_OPERATOR}") from None
        self._undone.pop(number)
        self._looked = -FRESH

    def bring_to(self, state: str, pid: int, name: str) -> None:
        found = self.job(pid, name)
        if found is not None and {found.state, state} == {"running", "suspended"}:
            super().bring_to(state, pid, name)

    def tend(self) -> float | None:
        """Also ask again for what the controller has not answered to."""
        for number, act in list(self._undone.items()):
            self.bring_to("suspended" if act == "suspend" else "running", number, "")
            self._undone.pop(number, None)
        return super().tend()

    def send(self, pid: int, name: str, what: signal.Signals) -> None:
        """Only the last signal has a meaning here: the job is to end."""
        if what != signal.SIGCONT:
            self.slurm.run("scancel", str(pid))
            self._looked = -FRESH

    def clear(self, pid: int, name: str) -> None:
        """Slurm ends what a job leaves behind."""

    def kill(self, pid: int, name: str) -> None:
        self.send(pid, name, signal.SIGKILL)
        end = outside.steady() + self.slurm.timeout
        while self.is_alive(pid) and outside.steady() < end:
            outside.sleep(0.1)
            self._looked = -FRESH


def handed_over(said: str) -> int:
    """The number that sbatch gives a job. Without one it is unknown whether Slurm has the job.

    >>> handed_over("12;bordeaux\\n")
    12
    """
    number = said.strip().partition(";")[0]
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        raise NoAnswer(f"sbatch prints something else than a job's number: {cut(said)}")
    return int(number)


def _is_of(job: SlurmJob, name: str) -> bool:
    """Whether a job is of the task of a name, also by another submission of it: one fence lets one run."""
    return job.name.rpartition(".")[0] == name.rpartition(".")[0]


def _is_alive(job: SlurmJob) -> bool:
    return job.is_waiting or job.state in ("running", "suspended")


class SteeredServer(LocalServer):
    """The front of a Slurm whose starts are Headway's."""

    processes: SlurmJobs

    def __init__(self, grid: Grid, site: Site, control: bool) -> None:
        self.slurm = Slurm(site.name, site.conf, grid.timeout)
        self._looked = outside.now()
        super().__init__(grid, site, control)

    def _processes(self) -> SlurmJobs:
        return SlurmJobs(self.slurm)

    def _recover(self) -> None:
        """Begin when Slurm answers: before that nobody knows what became of the jobs that it has."""
        said = ""
        while True:
            try:
                look_at(self.slurm)
                break
            except NoAnswer as error:
                if str(error) != said:
                    said = str(error)
                    log(f"{said}; the server begins when it does")
                outside.sleep(RETRY)
        super()._recover()

    # ---- jobs that Slurm has, and has not begun -----------------------------------------------------------

    def _follow_clock(self) -> None:
        """Slurm says when its jobs began."""

    def _look(self) -> None:
        super()._look()
        self._looked = outside.now()

    def _lag(self, entry: Entry) -> int:
        """Also while Slurm has no room for a job, as when a node is down, its user holds it or an operator
        suspends it, and where it began late while no server looked."""
        if self._is_suspended(entry):
            return outside.now() - self._looked
        fence = self._begun(entry)
        return (outside.now() if fence is None else fence.started) - self.unix(entry.started or 0)

    def _is_suspended(self, entry: Entry) -> bool:
        """Whether somebody has suspended a job that is to run."""
        try:
            found = self.processes.job(entry.pid or 0, entry.name)
        except NoAnswer:
            return False
        return found is not None and found.state == "suspended"

    def _see_ends(self) -> bool:
        for entry in [each for each in self.entries.values() if each.state == "running"]:
            fence = self._begun(entry)
            if fence is not None and fence.started != entry.began:
                self._set(entry, began=fence.started)
        return super()._see_ends()

    def _find_process(self, entry: Entry) -> None:
        """A job that was handed over before is known to Slurm by its name; its fence has another number."""
        if (number := self.processes.alive(entry.name)) is not None:
            self._set(entry, pid=number)
        elif self._begun(entry) is None:
            self._launch(entry)
        else:
            self._set(entry, pid=0)  # it has ended

    def _ended(self, entry: Entry) -> None:
        """One that a controller lost in a crash before it began is handed over again; one that met its fence
        was a copy of another."""
        if (other := self.processes.alive(entry.name)) is not None:
            self._set(entry, pid=other)
        elif self._begun(entry) is None and self.processes.job(entry.pid or 0, entry.name) is None:
            self._set(entry, pid=None)
        else:
            super()._ended(entry)

    def _told_end(self, entry: Entry, at: int, fence: Fence | None) -> int:
        ended = None if fence is None else fence.ended
        return self.unix(at) if ended is None else ended

    def _state(self, entry: Entry | None) -> dict[str, Any]:
        found = super()._state(entry)
        if entry is not None and entry.state == "running" and self._begun(entry) is None:
            return {"state": "waiting", "procs": entry.procs, "code": None}
        return found

    def _start(self, entry: Entry) -> int:
        task, site = entry.parsed, self.site
        fence = self.grid.fence / entry.fence
        output = self.folder / "output"
        output.mkdir(parents=True, exist_ok=True, mode=0o700)
        minutes = -(-self.shapes.walltime(task, entry.procs) // MINUTE)
        words = sbatch_words(site, entry.name, task, entry.procs, minutes + 1, output / entry.fence)
        script = job_script(task, fence, entry.fence, entry.procs, site.name)
        return self.processes.hand_over(words, script)
