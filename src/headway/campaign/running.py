"""The run of a campaign: cells flow from the sources through the workers into the store.

planner thread   opens one workload after the other, skips finished cells, cuts chunks
worker threads   hand chunks to their workers, collect outcomes
this thread      writes outcomes to disk about once a second, tells the progress, hears Ctrl-C
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from queue import Empty, Full, Queue
from statistics import fmean, median

from headway.campaign.measure import Batch, Cell, Chunk, Outcome, Settings, Task
from headway.campaign.store import FAILED, Store
from headway.campaign.workers import Worker

SAVE_EVERY = 1.0
"""Seconds between two files of results; a killed run loses no more than this and the cells in flight."""

CHUNK_SECONDS = 0.1
"""How long several cells, of one workload or of many, should keep a worker busy: to hand them over takes
some tenths of a millisecond, and at the end workers wait for the last one."""

LARGEST_CHUNK = 64

PAYS = 3.0
"""Seconds in Python that make a process worth its start, which takes about one."""

AHEAD = 10
"""Lists of chunks per worker that are cut ahead, so that all are busy while the next source is opened."""


@dataclass
class Progress:
    """How far a run is; `total` is an estimate until every workload was opened."""

    done: int = 0
    skipped: int = 0
    failed: int = 0
    total: int = 0
    exact: bool = False
    seconds: float = 0.0
    repeated: dict[str, str] = field(default_factory=dict)
    """Workloads whose cells are those of another one, for the same jobs on the same machine."""
    policies: set[str] = field(default_factory=set)
    """Names of the policies of which some cell is run, as far as workloads were opened."""

    @property
    def rate(self) -> float:
        """Cells a second in this run."""
        return self.done / self.seconds if self.seconds else 0.0


Tell = Callable[[Progress], None]
Chunks = list[Chunk] | None
"""Chunks that a worker takes in one go; None where no more come."""


@dataclass
class Run:
    """What one run shares between its threads."""

    store: Store
    settings: Settings
    finished: dict[str, str]
    retry_failed: bool = False
    plan: dict[str, Cell] = field(default_factory=dict)
    """Cells by their names, in order."""
    progress: Progress = field(default_factory=Progress)
    stop: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)
    """Set when no chunk is left to be taken."""
    recent: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=32))
    """CPU time of the last cells, in all and in Python."""
    pace: float = 0.0
    """Seconds of CPU time a cell takes, as last seen."""
    paces: dict[str, float] = field(default_factory=dict)
    """The same for each job of its workload, of the last cell with each policy."""
    python: float = 0.0
    """Seconds of it in Python."""

    def learn(self, chunks: Sequence[Chunk], outcomes: Sequence[Outcome]) -> None:
        """See how long cells take; a median, because the first one may have had to load a policy."""
        came = iter(outcomes)
        for chunk in chunks:
            jobs = max(len(chunk.workload), 1)
            for task in chunk.tasks:
                self.paces[task.policy] = next(came).seconds / jobs
        self.recent.extend((outcome.seconds, outcome.python) for outcome in outcomes)
        seconds, python = zip(*self.recent.copy(), strict=True)
        self.pace, self.python = fmean(seconds), median(python)

    @property
    def left(self) -> int:
        """Cells to do, by all that is known."""
        return self.progress.total - self.progress.skipped - self.progress.done

    def missing(self, cells: Sequence[Cell]) -> list[Cell]:
        """Those that are not finished."""
        skip = {"done"} if self.retry_failed else {"done", FAILED}
        return [cell for cell in cells if self.finished.get(cell.id) not in skip]

    def chunks(self, batch: Batch) -> Iterator[Chunk]:
        """The missing cells of a workload, as many in one go as should take about a tenth of a second."""
        missing = tuple(Task.of(cell) for cell in self.missing(batch.cells))
        jobs = len(batch.workload)
        while missing:
            size, seconds = 1, self.expected(missing[0], jobs)
            while size < min(len(missing), LARGEST_CHUNK):
                seconds += self.expected(missing[size], jobs)
                if seconds > CHUNK_SECONDS:
                    break
                size += 1
            yield Chunk(batch.workload, missing[:size], self.settings)
            missing = missing[size:]

    def expected(self, task: Task, jobs: int) -> float:
        """Seconds that a cell should take; before any was seen, enough for a chunk.

        Some policies take a hundred times as long as others, and so do some workloads of a campaign.
        """
        known = self.paces.get(task.policy)
        return self.pace or CHUNK_SECONDS if known is None else known * jobs

    def lasts(self, chunk: Chunk) -> float:
        """Seconds that a chunk should take."""
        jobs = len(chunk.workload)
        return sum(self.expected(task, jobs) for task in chunk.tasks)


def run_cells(
    run: Run,
    opened: Iterator[list[Batch]],
    openings: int,
    workers: Sequence[Callable[[], Worker]],
    tell: Tell,
) -> None:
    """Run every missing cell; what is finished is on disk when this returns or raises."""
    chunks: Queue[Chunks] = Queue(maxsize=AHEAD * len(workers))
    events: Queue[list[Outcome] | BaseException | None] = Queue()
    made = [make() for make in workers]
    plan = threading.Thread(target=_plan, args=(run, opened, openings, chunks, events), daemon=True)
    threads = [plan]
    for place in range(len(made)):
        threads.append(threading.Thread(target=_work, args=(run, made, place, chunks, events), daemon=True))
    for thread in threads:
        thread.start()
    try:
        collect(run, events, len(threads), tell)
    finally:
        run.stop.set()
        for worker in made:
            worker.close()


def _plan(
    run: Run,
    opened: Iterator[list[Batch]],
    openings: int,
    chunks: Queue[Chunks],
    events: Queue[list[Outcome] | BaseException | None],
) -> None:
    """Open one workload after the other, and hand over their chunks, some at a time where they are short."""
    gathered: list[Chunk] = []
    seconds, begin = 0.0, time.monotonic()
    try:
        for number, batches in enumerate(opened, start=1):
            slow = time.monotonic() - begin > CHUNK_SECONDS
            note_plan(run, batches, number, openings)
            for chunk in (chunk for batch in batches for chunk in run.chunks(batch)):
                gathered.append(chunk)
                seconds += run.lasts(chunk)
                if seconds >= CHUNK_SECONDS:
                    if not _put(run, chunks, gathered):
                        return
                    gathered, seconds = [], 0.0
            if gathered and slow:  # so may the next one be, and nobody shall wait for that
                if not _put(run, chunks, gathered):
                    return
                gathered, seconds = [], 0.0
            begin = time.monotonic()
        if not gathered or _put(run, chunks, gathered):
            _put(run, chunks, None)
            events.put(None)
    except BaseException as error:
        events.put(error)


def note_plan(run: Run, batches: Sequence[Batch], number: int, openings: int) -> None:
    """Add an opening's cells to the plan, each once; those to come are taken to be like those that were."""
    for batch in batches:
        for cell in batch.cells:
            first = run.plan.setdefault(cell.id, cell).columns["workload"]
            if first != cell.columns["workload"]:
                run.progress.repeated[cell.columns["workload"]] = first
        batch.cells[:] = [cell for cell in batch.cells if run.plan[cell.id] is cell]
    cells = [cell for batch in batches for cell in batch.cells]
    missing = run.missing(cells)
    run.progress.skipped += len(cells) - len(missing)
    run.progress.policies.update(cell.spec.name for cell in missing)
    run.progress.exact = number == openings
    run.progress.total = round(len(run.plan) / number * openings)


def _put(run: Run, chunks: Queue[Chunks], some: Chunks) -> bool:
    while not run.stop.is_set():
        try:
            chunks.put(some, timeout=0.2)
            return True
        except Full:
            continue
    return False


def _work(
    run: Run,
    workers: list[Worker],
    place: int,
    chunks: Queue[Chunks],
    events: Queue[list[Outcome] | BaseException | None],
) -> None:
    """Let the worker at `place` run chunks until there are no more.

    Threads that do most of their work in Python would only take the interpreter's lock from each other: the
    first one goes on, the others move into processes of their own, or stand back where too little is left.
    """
    try:
        while not run.stop.is_set():
            if place and workers[place].here and run.recent:
                if run.left * run.python > PAYS:
                    workers[place] = workers[place].apart()
                if workers[place].here and run.python > run.pace / 2 and not run.over.wait(0.05):
                    continue
            try:
                some = chunks.get(timeout=0.2)
            except Empty:
                continue
            if some is None:
                run.over.set()
                chunks.put(None)  # for the next one
                break
            outcomes = workers[place].run(some)
            run.learn(some, outcomes)
            events.put(outcomes)
        events.put(None)
    except BaseException as error:
        events.put(error)
    finally:
        workers[place].close()


def collect(run: Run, events: Queue[list[Outcome] | BaseException | None], threads: int, tell: Tell) -> None:
    """Write outcomes as they come, until every thread has said that it is through, or one failed."""
    waiting: list[Outcome] = []
    begin = saved = time.monotonic()
    try:
        while threads:
            try:
                event = events.get(timeout=0.1)
            except Empty:
                event = []
            if isinstance(event, BaseException):
                raise event
            if event is None:
                threads -= 1
                continue
            waiting += event
            run.progress.done += len(event)
            run.progress.failed += sum(outcome.error is not None for outcome in event)
            run.progress.seconds = time.monotonic() - begin
            tell(run.progress)
            if waiting and time.monotonic() - saved >= SAVE_EVERY:
                run.store.add(waiting, run.plan)
                waiting, saved = [], time.monotonic()
    finally:
        run.store.add(waiting, run.plan)
