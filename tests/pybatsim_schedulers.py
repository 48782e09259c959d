"""Schedulers of pybatsim, each in a thread and behind a socket of its own; and two written with its API."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Any


def pybatsim(name: str, options: dict[str, Any] | None = None) -> Any:
    """One of the schedulers that pybatsim ships."""
    from batsim.tools.launcher import instanciate_scheduler

    return instanciate_scheduler(name, options=options or {})


def in_order(strict: bool) -> Any:
    """FCFS (strict) or the filler, as anybody would write them with pybatsim: one pass for each message."""
    from batsim.batsim import BatsimScheduler
    from procset import ProcSet

    class InOrder(BatsimScheduler):  # type: ignore[misc]
        def onAfterBatsimInit(self) -> None:
            self.waiting: list[Any] = []
            self.free = set(range(self.bs.nb_compute_resources))

        def onJobSubmission(self, job: Any) -> None:
            self.waiting.append(job)

        def onJobCompletion(self, job: Any) -> None:
            self.free |= set(job.allocation)

        def onJobsKilled(self, jobs: list[Any]) -> None:
            pass

        def onNoMoreEvents(self) -> None:
            for job in list(getattr(self, "waiting", [])):
                if job.requested_resources > len(self.free):
                    if strict:
                        break
                    continue
                numbers = sorted(self.free)[: job.requested_resources]
                job.allocation = ProcSet(*numbers)
                self.free -= set(numbers)
                self.waiting.remove(job)
                self.bs.execute_jobs([job])

    return InOrder({})


@contextlib.contextmanager
def listening(scheduler: Any) -> Iterator[str]:
    """The scheduler at work; the endpoint at which it listens."""
    from batsim.batsim import Batsim

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        endpoint = f"tcp://127.0.0.1:{probe.getsockname()[1]}"

    def work() -> None:
        # What it prints is left to pytest: another standard output would be that of every thread.
        with contextlib.suppress(Exception):
            batsim = Batsim(scheduler, endpoint, 3_000)
            try:
                batsim.start()
            finally:
                batsim.network.context.destroy(linger=1000)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield endpoint
    thread.join(timeout=10)
