"""A campaign on a GPU: thousands of cells at once, one a thread; those it cannot run go to the CPU meanwhile.

The numbers are the same bytes as without one: it runs the same kernels, and what comes of them is measured in
the same way.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from headway.campaign.measure import Batch, Chunk, Outcome, Settings, Task, begun, guarded, measured
from headway.campaign.running import Run, Tell, note_plan
from headway.cores import cores, threads
from headway.cuda import why_not
from headway.errors import UsageError
from headway.simulate import Begun
from headway.workload import Workload

TOGETHER = 16_384
"""Cells that are prepared before they run together; results are on disk after each such round."""


def check_gpu() -> None:
    """Complain where no GPU can be used."""
    if reason := why_not():
        raise UsageError(f"device cuda: {reason}")


@dataclass(frozen=True)
class Ready:
    """A cell that is ready to run."""

    task: Task
    settings: Settings
    begun: Begun

    def on_cpu(self) -> Outcome:
        """Run it here."""
        since = time.thread_time()
        return measured(self.task, self.begun.run(), self.settings, since)


def run_on_gpu(run: Run, opened: Iterator[list[Batch]], openings: int, tell: Tell) -> None:
    """Run every missing cell; what is finished is on disk when this returns or raises."""
    waiting: list[Chunk] = []
    since = time.monotonic()
    with threads(cores()) as cpu:
        for number, batches in enumerate(opened, start=1):
            note_plan(run, batches, number, openings)
            waiting += [chunk for batch in batches for chunk in run.chunks(batch)]
            if number < openings and sum(len(chunk.tasks) for chunk in waiting) < TOGETHER:
                continue
            for outcomes in rounds(waiting, cpu):
                run.store.add(outcomes, run.plan)
                run.progress.done += len(outcomes)
                run.progress.failed += sum(outcome.error is not None for outcome in outcomes)
                run.progress.seconds = time.monotonic() - since
                tell(run.progress)
            waiting = []


def rounds(chunks: Sequence[Chunk], cpu: ThreadPoolExecutor) -> Iterator[list[Outcome]]:
    """The outcomes of chunks, some thousand cells at a time."""
    cells = [(task, chunk.workload, chunk.settings) for chunk in chunks for task in chunk.tasks]
    for first in range(0, len(cells), TOGETHER):
        yield side_by_side(cells[first : first + TOGETHER], cpu)


def side_by_side(cells: Sequence[tuple[Task, Workload, Settings]], cpu: ThreadPoolExecutor) -> list[Outcome]:
    """The outcomes of some cells."""
    from headway.cuda.batch import refusal, run_side_by_side

    outcomes: list[Outcome] = []
    ready: list[Ready] = []
    elsewhere: list[Future[Outcome]] = []
    for task, workload, settings in cells:
        made: list[Ready] = []
        failed = guarded(task, partial(_prepare, task, workload, settings, made))
        if not made:
            outcomes.append(failed)
        elif made[0].begun.runs_beside_others and not refusal(made[0].begun.prepared.setup):
            ready += made
        else:
            elsewhere.append(cpu.submit(guarded, task, made[0].on_cpu))
    states = run_side_by_side([(each.begun.jobs, each.begun.prepared.setup) for each in ready])
    for each, state in zip(ready, states, strict=True):
        if state is None:
            elsewhere.append(cpu.submit(guarded, each.task, each.on_cpu))
            continue
        ran = each.begun.ended(state, time.perf_counter(), time.thread_time())
        outcomes.append(
            guarded(each.task, partial(measured, each.task, ran, each.settings, time.thread_time()))
        )
    return outcomes + [future.result() for future in elsewhere]


def _prepare(task: Task, workload: Workload, settings: Settings, made: list[Ready]) -> Outcome:
    """Prepare a cell into a list; the outcome is only of use where that fails."""
    made.append(Ready(task, settings, begun(task, workload, settings)))
    return Outcome(task.id)
