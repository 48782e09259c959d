"""A campaign on a Dask cluster: the same chunks, the same outcomes, other workers.

A worker that dies takes its chunks along; Dask runs them again elsewhere. Workloads travel to the workers
once each, so that the cluster need not see the logs; users' policies and measures are found by their path.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from queue import Queue
from threading import Thread
from typing import Any

from headway.campaign.measure import Batch, Chunk, Outcome, Settings, Task, run_chunk
from headway.campaign.running import Run, Tell, collect, note_plan
from headway.errors import UsageError
from headway.workload import Workload

AHEAD = 3
"""Chunks per thread of the cluster that are under way at once."""


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the cluster whose scheduler is at `address`."""
    distributed = _distributed()
    try:
        client = distributed.Client(address, timeout=10)
    except (OSError, ValueError, TimeoutError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise UsageError(f"--dask {address}: no Dask scheduler answers there ({reason})") from None
    with client:
        yield client


def run_on_dask(run: Run, opened: Iterator[list[Batch]], openings: int, client: Any, tell: Tell) -> None:
    """Run every missing cell on the client's cluster; what is finished is on disk when this ends."""
    events: Queue[list[Outcome] | BaseException | None] = Queue()
    feeder = Thread(target=_feed, args=(run, opened, openings, client, events), daemon=True)
    feeder.start()
    try:
        collect(run, events, 1, tell)
    finally:
        run.stop.set()
        feeder.join(timeout=10)


def _feed(
    run: Run,
    opened: Iterator[list[Batch]],
    openings: int,
    client: Any,
    events: Queue[list[Outcome] | BaseException | None],
) -> None:
    """Keep the cluster busy with a few chunks per thread, and hand on what comes back."""
    count = 0

    def take(future: Any) -> None:
        nonlocal count
        count -= 1
        events.put(future.result())

    try:
        # By the client that was given, which need not be the one that Dask takes by itself.
        under_way = _distributed().as_completed(loop=client.loop, with_results=False)
        for number, batches in enumerate(opened, start=1):
            note_plan(run, batches, number, openings)
            for batch in batches:
                # A task and not scattered data: what a dead worker held is then made again.
                there: Any = None
                most = AHEAD * max(sum(client.nthreads().values()), 1)
                for chunk in run.chunks(batch):
                    if there is None:
                        there = client.submit(_keep, batch.workload, pure=False)
                    arguments = (there, chunk.tasks, chunk.settings, chunk.code)
                    under_way.add(client.submit(_run, *arguments, pure=False, retries=2))
                    count += 1
                    while count >= most:
                        if run.stop.is_set():
                            return
                        take(next(under_way))
                    run.pace = run.pace or FIRST_PACE
        while count and not run.stop.is_set():
            take(next(under_way))
        events.put(None)
    except BaseException as error:
        events.put(error)


FIRST_PACE = 0.02
"""Seconds a cell is taken to last: chunks of five, which keep the scheduler's own cost small."""


def _keep(workload: Workload) -> Workload:
    return workload


def _run(workload: Workload, tasks: tuple[Task, ...], settings: Settings, code: str) -> list[Outcome]:
    return run_chunk(Chunk(workload, tasks, settings, code))


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise UsageError("Dask is not installed; install it with: pip install distributed") from None
    return distributed
