"""Faults that are planted on purpose, such as somebody could make: the world is to find them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from headway.errors import HeadwayError
from headway.live import accounts, script
from headway.live.accounts import Accounts
from headway.live.journal import OVER
from headway.live.local_queue import LocalQueue
from headway.live.local_server import LocalServer
from headway.live.proxy import Proxy
from headway.live.slurm import accounting, steered
from headway.live.slurm import server as slurm_server
from headway.live.slurm.server import SlurmServer
from headway.live.slurm.steered import SlurmJobs
from headway.live.wire import NoAnswer
from live_world import disk


def _journal_after_act(self: Proxy, row: Any) -> tuple[int, int]:
    name = f"{row.fence}.{row.number}9{len(self.journal.attempts_of(row.number))}"
    answer = self.ask("submit", name=name, fence=row.fence, task=row.task.as_json())
    attempt = self.journal.add_attempt(row, self.name, self.now)
    self.journal.set_attempt(attempt.number, name=name)
    self.accepted(replace(attempt, name=name), answer)
    return answer["completion"], answer["procs"]


def _never_arrived(self: Accounts, attempt: Any) -> None:
    self.journal.set_attempt(attempt.number, state="gone")


def _released_at_once(self: Accounts, row: Any) -> bool:
    for attempt in self.journal.attempts_of(row.number):
        if attempt.state in ("held", "releasing", "submitting"):
            self._release(attempt)
    return not self.journal.attempts_of(row.number) and row.state not in OVER


def _silence_is_gone(self: Accounts, attempt: Any, kill: bool = False) -> None:
    self.journal.set_attempt(attempt.number, state="cancelling")
    with suppress(NoAnswer):
        self._ask(attempt, "kill" if kill else "cancel", name=attempt.name)
    self.journal.set_attempt(attempt.number, state="gone")


def _without_hold(self: SlurmServer, name: str) -> dict[str, Any]:
    for job in self.named(name):
        if job.is_waiting:
            self.slurm.run("scancel", job.number)
    return {"gone": True}


def _by_number(self: SlurmServer, name: str) -> list[Any]:
    numbers = self.__dict__.setdefault("by_number", {})
    found = [job for job in self.jobs(fresh=True) if job.name == name or job.number == numbers.get(name)]
    if found:
        numbers[name] = found[0].number
    return found


def _no_fence(*words: Any) -> str:
    return script.job_script(*words).replace("mkdir", "true")


def _act_then_write(self: LocalServer) -> None:
    for act in self.batch.acts():
        entry = self.entries.get(act.job)
        if entry is not None:
            with suppress(HeadwayError):
                self._do(act, entry)
            self._write(act)
    self.queue.commit()


MUTANTS: dict[str, tuple[tuple[Any, str, Any], ...]] = {
    "": (),
    "journal after act": ((Proxy, "submit", _journal_after_act),),
    "what was being handed over never arrived": ((Accounts, "_look_for", _never_arrived),),
    "released before it is gone elsewhere": ((Accounts, "_settled", _released_at_once),),
    "silence is gone": ((Accounts, "_take_back", _silence_is_gone),),
    "cancelled without being held first": ((SlurmServer, "cancel", _without_hold),),
    "jobs known by number": ((SlurmServer, "named", _by_number),),
    "release without fence": ((slurm_server, "job_script", _no_fence), (steered, "job_script", _no_fence)),
    "reply before fsync": ((disk, "SYNCED", ()),),
    "act before it is written": ((LocalServer, "_carry_out", _act_then_write),),
    "cancelled without taking the fence": ((accounts, "take_fence", lambda folder: None),),
    "events are not written": ((LocalQueue, "note", lambda *_: None),),
    "a copy that met the fence has failed": ((slurm_server, "FENCED", -1),),
    "accounting's jobs are in the queue": ((accounting, "NOT_OVER", ()),),
    "what one look does not show is over": ((SlurmJobs, "_is_shown", lambda *_: False),),
}
