"""``headway demo``: a workload, four policies compared, a picture, an explanation, and what to type next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from headway.cli import options
from headway.cli.display import Display, output
from headway.cli.frame import command
from headway.policies.spec import parse_spec
from headway.units import DAY, SECOND

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console

    from headway.metrics import Comparison
    from headway.schedule import Schedule
    from headway.workload import Workload

POLICIES = ("fcfs", "sjf", "easy", "easy(backfill=sjf)")
"""Two orders without and with backfilling; together they compile no more than two policies."""

DRAWN = ("fcfs", "easy")
"""Policies of the picture: without and with backfilling."""

PROCS = 128
MODEL = "lublin(jobs={jobs}, procs=128, load=0.7, estimates=tsafrir, seed=1)"
METRICS = ("mean_wait", "median_wait", "max_wait", "mean_bsld", "tau", "utilization", "makespan", "max_queue")
COLUMNS = 64

NEXT = """\
  headway inspect LOG.swf.gz                                what is in a log of your own, or of the archive's
  headway compare LOG.swf.gz --policy easy --policy 'easy(backfill=sjf)' --out results
  headway plot results --kind gantt -o gantt.svg            pictures for print
  headway explain results/easy JOB                          why a job waited, and what would have helped
  headway audit results                                     check the schedules
  headway policies                                          every policy, its parameters and papers
Real logs: https://www.cs.huji.ac.il/labs/parallel/workload/"""


@command("demo", example="headway demo")
def demo(
    jobs: Annotated[int, options.number("--jobs", "N", "Jobs of the generated workload.", 10)] = 3000,
    picture: Annotated[
        Path,
        options.value(
            "--picture", "FILE", "File of the picture, .png, .svg or .pdf; it is replaced if it exists."
        ),
    ] = Path("headway-demo.png"),
) -> None:
    """See what Headway does, in a minute.

    Draws a month of jobs at random, simulates four policies on them, compares them, writes a picture, and
    says why one job had to wait.
    """
    from headway.cli.runs import Inputs
    from headway.cli.tables import comparison_table
    from headway.figures.style import check_format
    from headway.metrics import compare
    from headway.platform import Platform
    from headway.workload.models import generate

    check_format(picture)
    console = output()
    model = MODEL.format(jobs=jobs)
    workload = generate(model)
    _workload(console, workload, model)
    inputs = Inputs(workload, Platform.procs(PROCS), Display())
    comparison = compare([inputs.run(parse_spec(policy), seed=0) for policy in POLICIES])
    _title(console, 2, "Four policies on the same jobs, compared with the first")
    comparison_table(console, comparison, METRICS)
    _title(console, 3, "How many jobs wait, day by day")
    _waiting(console, comparison)
    _title(console, 4, "A picture")
    _draw(console, comparison, picture)
    _explain(console, comparison.schedules[POLICIES.index("easy")])
    console.print("\nWhat to type next", style="bold")
    console.print(NEXT)


def _title(console: Console, number: int, text: str) -> None:
    console.print(f"\n{number}. {text}", style="bold")


def _workload(console: Console, workload: Workload, model: str) -> None:
    """What was drawn, and when its work came in."""
    from headway.cli.chart import curve, labelled
    from headway.workload.statistics import describe

    described = describe(workload, PROCS)
    days = described["facts"]["span of the submissions"][0] / 86_400
    load = described["facts"]["offered load"][0]
    _title(console, 1, f"A workload: {len(workload):,} jobs in {days:.1f} days on {PROCS} processors")
    console.print(f"drawn by {model}, offered load {load:.2f}")
    values = described["load_over_time"]["values"]
    if values:
        top = max(values)
        for line, level in zip(curve(values, top, height=3), (top, top * 2 / 3, top / 3), strict=True):
            console.print(labelled(f"load {level:4.1f}", line, width=9))


def _waiting(console: Console, comparison: Comparison) -> None:
    """Waiting jobs over time under each policy, all to one scale."""
    import numpy as np

    from headway.cli.chart import curve, labelled
    from headway.metrics import queue_length

    queues = [queue_length(schedule) for schedule in comparison.schedules]
    begin = min(int(schedule.submit.min()) for schedule in comparison.schedules)
    end = max(int(schedule.end.max()) for schedule in comparison.schedules)
    edges = np.linspace(begin, max(end, begin + COLUMNS), COLUMNS + 1).astype(np.int64)
    means = [queue.means(edges) for queue in queues]
    top = max(float(mean.max()) for mean in means)
    for name, queue, mean in zip(comparison.names, queues, means, strict=True):
        *above, last = curve(mean.tolist(), top, height=3)
        for line in above:
            if line.strip():
                console.print(labelled("", line))
        console.print(labelled(name, last, f"at most {queue.largest:,}"))


def _draw(console: Console, comparison: Comparison, picture: Path) -> None:
    """A Gantt chart of two days in which jobs are backfilled and no wide job is delayed by that."""
    from headway.figures import gantt, save

    fcfs, easy = (comparison.schedules[POLICIES.index(policy)] for policy in DRAWN)
    begin = telling_window(fcfs, easy)
    save(gantt(fcfs, easy, window=(begin, begin + 2 * DAY / SECOND)), picture)
    console.print(
        f"{picture}: processors over two days, without and with backfilling; each rectangle is a job.\n"
        "Orange jobs were backfilled: they fill what FCFS leaves idle, and no wide job starts later for it."
    )
    late = most_delayed(fcfs, easy)
    if late is not None:
        hours = float(easy.wait[late] - fcfs.wait[late]) / 3.6e9
        console.print(
            f"That is not so everywhere. Users ask for more time than they use, and EASY plans with what "
            f"they ask for: job {int(easy.workload.job[late])}, {int(easy.procs[late])} processors, starts "
            f"{hours:.1f} h later under EASY, because jobs ended before their time and others had been "
            "backfilled already."
        )


def _explain(console: Console, schedule: Schedule) -> None:
    """What an explanation looks like: the job that waited longest under EASY."""
    from headway.explain import explain

    row = int(schedule.wait.argmax())
    job = int(schedule.workload.columns["job"][row])
    _title(console, 5, f"Why job {job} had to wait")
    console.print(explain(schedule, job).text(min(console.width, 110)))


WIDE = 4
"""A wide job takes one part in so many of the machine, or more."""


def telling_window(fcfs: Schedule, easy: Schedule) -> float:
    """Where two telling days begin, in seconds after the first submission.

    Of the days in which no wide job starts later under EASY, those with the most backfilled jobs seen
    under both policies; if there are no such days, those with the fewest delayed wide jobs.
    """
    from headway.schedule import WHY

    first, last = int(easy.submit.min()), int(easy.start.max())
    backfilled = easy.why == WHY.index("backfill")
    late = _wide_and_late(fcfs, easy)
    best, found = first, (-len(easy), 0)
    for begin in range(first, max(last - DAY, first + 1), DAY // 4):
        end = begin + 2 * DAY
        starts = (easy.start >= begin) & (easy.start < end) & (fcfs.start >= begin) & (fcfs.start < end)
        seen = late & (easy.submit < end) & (easy.start >= begin)
        score = (-int(seen.sum()), int((starts & backfilled).sum()))
        if score > found:
            best, found = begin, score
    return (best - first) / SECOND


def most_delayed(fcfs: Schedule, easy: Schedule) -> int | None:
    """The row of the wide job that EASY delays most; None where it delays none."""
    late = _wide_and_late(fcfs, easy).nonzero()[0]
    return int(late[(easy.start - fcfs.start)[late].argmax()]) if len(late) else None


def _wide_and_late(fcfs: Schedule, easy: Schedule) -> NDArray[np.bool_]:
    late: NDArray[np.bool_] = (easy.procs * WIDE >= easy.capacity) & (easy.start > fcfs.start)
    return late
