"""``headway demo``: a few weeks of made-up jobs, four policies, and what to type next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli import options
from headway.cli.frame import command

if TYPE_CHECKING:
    from rich.console import Console

    from headway.metrics import Comparison

POLICIES = ("fcfs", "easy", "easy(backfill=sjf)", "conservative")
MODEL = "lublin(jobs=3000, procs=128, load=0.7, estimates=tsafrir, seed=1)"
METRICS = ("mean_wait", "median_wait", "max_wait", "mean_bsld", "utilization", "makespan", "max_queue")
COLUMNS = 64

NEXT = """\
What to type next
  headway policies                                          every policy, its parameters and papers
  headway simulate LOG.swf.gz --policy easy --out result    a log of yours, or one of the archive's
  headway compare LOG.swf.gz --policy easy --policy 'easy(backfill=sjf)'
  headway audit result                                      check the schedule against every law
Real logs: https://www.cs.huji.ac.il/labs/parallel/workload/"""


@command("demo", example="headway demo")
def demo(
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs",
            metavar="N",
            help="Jobs of the generated workload.",
            parser=options.whole_number("--jobs", 10),
        ),
    ] = 3000,
) -> None:
    """See what Headway does, in a minute."""
    from headway.cli.display import Display, output
    from headway.cli.runs import Inputs
    from headway.cli.tables import comparison_table
    from headway.metrics import compare
    from headway.platform import Platform
    from headway.policies.spec import parse_spec
    from headway.workload.models import generate

    console = output()
    model = MODEL.replace("jobs=3000", f"jobs={jobs}")
    workload = generate(model)
    span = (int(workload.submit.max()) - int(workload.submit.min())) / 86400e6
    console.print(
        f"{len(workload):,} jobs in {span:.1f} days on 128 processors, drawn by {model}\n", markup=False
    )
    inputs = Inputs(workload, Platform.procs(128), Display())
    comparison = compare([inputs.run(parse_spec(policy), seed=0) for policy in POLICIES])
    comparison_table(console, comparison, METRICS)
    _waiting(console, comparison)
    console.print()
    console.print(NEXT, markup=False)


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
    console.print(f"\nWaiting jobs over {(end - begin) / 86400e6:.1f} days", style="bold")
    for name, queue, mean in zip(comparison.names, queues, means, strict=True):
        *above, last = curve(mean.tolist(), top, height=3)
        for line in filter(str.strip, above):
            console.print(labelled("", line))
        console.print(labelled(name, last, f"at most {queue.largest:,}"))
