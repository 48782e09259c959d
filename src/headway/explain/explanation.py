"""The whole explanation of one job."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from headway.errors import HeadwayError
from headway.explain import slurm
from headway.explain.fates import FATES, first_cluster, has_moved, stages
from headway.explain.place import NOT_AGAIN, Case, at, case_of, processors
from headway.explain.slurm import is_slurms
from headway.explain.waiting import at_submission, promise, reason, while_waiting, why_this_node, with_notes
from headway.metrics.comparison import brief
from headway.plain import Progress
from headway.policies.own.loading import digests
from headway.policies.spec import parse_spec
from headway.schedule import Schedule
from headway.simulate import simulate
from headway.units import duration
from headway.workload import Workload


def what_if(case: Case, progress: Progress | None = None) -> list[str]:
    """Sentences on fewer processors and on a shorter request, each tried by simulating again."""
    if case.start == case.submit:
        return ["It started at once, so a smaller or shorter request would have changed nothing for it."]
    obstacle = _obstacle(case)
    if obstacle:
        return [f"What would have helped is not known: {obstacle}."]
    # Nobody can see the future, so jobs that came after its start change nothing about it.
    known = np.flatnonzero(case.schedule.submit <= case.start)
    workload = case.schedule.workload.select(known, rule="window", action="after the start of the job")
    row = int(np.searchsorted(known, case.row))
    try:
        if _start(case, workload, row) != case.start:
            return [f"What would have helped is not known: {NOT_AGAIN}."]
        return _tries(case, workload, row, progress)
    except HeadwayError as error:
        return [f"What would have helped is not known: {error}."]


def _obstacle(case: Case) -> str:
    """Why the run cannot be made again, if it cannot."""
    schedule = case.schedule
    source = schedule.provenance.get("policy_source", {})
    try:
        spec = parse_spec(schedule.policy)
    except HeadwayError as error:
        return f"the policy {schedule.policy} is not known here ({error})"
    if source:
        file = source.get("file") or spec.file
        if not file or not Path(os.path.expanduser(file)).is_file():
            return f"the file of the policy {schedule.policy} is not here"
        now = digests(Path(os.path.expanduser(file)))
        if now.pop("") != source.get("sha256"):
            return f"{file} has changed since the run was made"
        if now != source.get("imports", {}):
            return f"what {file} imports has changed since the run was made"
    return ""


def _start(case: Case, workload: Workload, row: int) -> int:
    schedule = case.schedule
    seed = int(schedule.provenance.get("seed", 0))
    again = simulate(workload, schedule.platform, schedule.policy, seed=seed)
    first = int(again.start[row])
    if again.pieces is not None:
        own = again.pieces.job == row
        first = int(again.pieces.start[own].min()) if own.any() else first
    return first


def _tries(case: Case, workload: Workload, row: int, progress: Progress | None) -> list[str]:
    changes = [("procs", value) for value in _fewer(case)] + [("walltime", value) for value in _shorter(case)]
    found: dict[str, list[tuple[int, int]]] = {"procs": [], "walltime": []}
    for number, (name, value) in enumerate(changes):
        column = workload.columns[name].copy()
        column[row] = value
        changed = workload.replaced(changed={name: column})
        found[name].append((value, _start(case, changed, row)))
        if progress is not None:
            progress(number + 1, len(changes))
    return [*_narrower(case, found["procs"]), *_with_less_time(case, found["walltime"])]


def _narrower(case: Case, tries: list[tuple[int, int]]) -> list[str]:
    """What fewer processors would have done."""
    if not tries:
        return ["It asked for one processor, so it could not have asked for fewer."]
    said = _told(case, tries, "With", processors, f"instead of {case.procs}")
    if said:
        return [*said, "(Its run time is taken to be the same on fewer processors.)"]
    fewer = " or ".join(str(value) for value, _ in tries)
    return [f"With fewer processors ({fewer}) it would not have started earlier."]


def _with_less_time(case: Case, tries: list[tuple[int, int]]) -> list[str]:
    """What a shorter request would have done."""
    asked = duration(int(case.schedule.walltime[case.row]))
    if not tries:
        used = "it ran into its limit" if case.schedule.killed[case.row] else "it used all of its time"
        return [f"It could not have asked for less time: {used} of {asked}."]
    said = _told(case, tries, "With a request of", duration, f"instead of {asked}")
    if said:
        return said
    shorter = " or ".join(duration(value) for value, _ in tries)
    return [f"With a shorter request ({shorter} instead of {asked}) it would not have started earlier."]


def _fewer(case: Case) -> Iterator[int]:
    """Smaller numbers of processors worth a try, from large to small."""
    procs = int(case.schedule.workload.procs[case.row])
    yield from sorted({procs * 3 // 4, procs // 2, procs // 4, 1} - {0, procs}, reverse=True)


def _shorter(case: Case) -> Iterator[int]:
    """Shorter requests with which it would not have been killed, from long to short."""
    schedule = case.schedule
    asked, used = int(schedule.workload.walltime[case.row]), int(schedule.run[case.row])
    if schedule.killed[case.row]:
        return
    yield from sorted(
        {max(used, 1), *(asked // n for n in (2, 4) if asked // n > used)} - {asked}, reverse=True
    )


def _told(
    case: Case, tries: list[tuple[int, int]], lead: str, words: Callable[[int], str], instead: str
) -> list[str]:
    """The smallest change that helped, and the one that helped most."""
    better = [(value, start) for value, start in tries if start < case.start]
    if not better:
        return []
    chosen = [better[0]]
    best = min(better, key=lambda pair: pair[1])
    if best[1] < better[0][1]:
        chosen.append(best)
    return [
        f"{lead} {words(value)} {instead} it would have started {duration(case.start - start)} earlier, "
        f"{at(start, case) if start > case.submit else 'at once'}."
        for value, start in chosen
    ]


# The whole explanation of one job.


@dataclass(frozen=True)
class Explanation:
    """Sentences on one job under headings; ``str()`` is the text."""

    job: int
    sections: dict[str, list[str]]

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int = 110) -> str:
        """The sentences under their headings, in lines of at most ``width`` characters."""
        indented = partial(fill, width=width - 1, initial_indent="  ", subsequent_indent="    ")
        blocks = [
            "\n".join([heading, *map(indented, sentences)])
            for heading, sentences in self.sections.items()
            if sentences
        ]
        return "\n\n".join(blocks)

    def plain(self) -> dict[str, Any]:
        """As data for JSON."""
        return {
            "job": self.job,
            "sections": {name: list(said) for name, said in self.sections.items() if said},
        }


def explain(
    schedule: Schedule, job: int, *, simulate_again: bool = True, progress: Progress | None = None
) -> Explanation:
    """Why a job (by its number in the log) waited, started, ended as it did, and what would have helped.

    ``simulate_again=False`` leaves out what would have helped, which takes some more runs of the policy.
    """
    case = case_of(schedule, job)
    if is_slurms(case):
        return Explanation(case.id, _under_slurm(case))
    on_grid = schedule.moves is not None  # sizes and times are the policy's there, not the user's
    sections = {
        f"Job {case.id} under {brief(schedule.policy)}": _facts(case),
        "When it was submitted": first_cluster(case) if has_moved(case) else at_submission(case),
        "What it waited for": stages(case) if has_moved(case) else while_waiting(case),
        "Why it started then": [*promise(case), *reason(case), *what_decided(case)],
        "Why this node": why_this_node(case) if simulate_again else [],
        "What became of it": [sentence for fate in FATES for sentence in fate(case)],
        "What would have helped": what_if(case, progress) if simulate_again and not on_grid else [],
    }
    return Explanation(case.id, sections)


def _under_slurm(case: Case) -> dict[str, list[str]]:
    """The sections of a job that Slurm's controller scheduled: in its own words."""
    return {
        f"Job {case.id} under {brief(case.schedule.policy)}": _facts(case),
        "Its priority": slurm.priority(case),
        "What it waited for": [*slurm.life(case), *slurm.held(case), *slurm.planned(case)],
        "Why it started then": slurm.started(case),
        "What became of it": [sentence for fate in FATES for sentence in fate(case)],
    }


def _facts(case: Case) -> list[str]:
    schedule, row = case.schedule, case.row
    start, end = int(schedule.start[row]), int(schedule.end[row])
    asked = f"{processors(case.procs)} for at most {duration(int(schedule.walltime[row]))}"
    user = int(schedule.workload.columns["user"][row])
    whose = f" by user {schedule.workload.name_of('user', user)}" if user >= 0 else ""
    wait = "started at once" if case.start == case.submit else f"waited {duration(case.start - case.submit)}"
    if start > case.start:
        wait += f", was stopped, started again {at(start, case)}"
    return [
        f"Submitted {at(case.submit, case)}{whose}, it asked for {asked}.",
        *_waited_for(case),
        f"It {wait}, ran for {duration(int(schedule.run[row]))} and ended {at(end, case)}.",
    ]


def _waited_for(case: Case) -> list[str]:
    """Whose end its user waited for before it was submitted, where the simulation looks at that."""
    workload, row = case.schedule.workload, case.row
    follows, logged = workload.get("follows"), workload.get("trace_submit")
    if follows is None or logged is None or follows[row] < 0:
        return []
    later = case.submit - int(logged[row])
    differs = f", {duration(abs(later))} {'later' if later > 0 else 'earlier'} than in the log"
    return [
        f"Its user submitted it {duration(int(workload.think[row]))} after the end of job {follows[row]}"
        f"{differs if later else ', as in the log'}."
    ]


DECIDED = {
    2: "its size",
    3: "its request",
    4: "how long it had waited",
    5: "that it fitted",
    6: "that it might pass the job that had waited longest",
}
"""What decided where a trained agent chose the job."""
WEIGHED = {1: "how long it had waited", 2: "its size", 3: "its request", 4: "its area (size times request)"}
"""The same where the agent sets weights."""


def what_decided(case: Case) -> list[str]:
    """A sentence on the feature that decided; none for other policies."""
    if not case.schedule.policy.startswith("agent"):
        return []
    schedule, row = with_notes(case)
    if schedule is not None and "weighed_by" in schedule.notes:
        return [_by_weights(int(schedule.notes["weighed_by"][row]))]
    if schedule is None or "decided_by" not in schedule.notes:
        return []
    code = int(schedule.notes["decided_by"][row])
    if code not in DECIDED:
        return ["The agent had no other job to start then, or none that it could distinguish from this one."]
    return [
        f"What decided for the agent was {DECIDED[code]}: with that alike for all jobs that could start, "
        "this one's lead over the next would have been smallest."
    ]


def _by_weights(code: int) -> str:
    if code not in WEIGHED:
        return "The agent had no other job to weigh, or none that its weights distinguish from this one."
    return (
        f"What decided was the weight of {WEIGHED[code]}, as the agent had set it: by that it was furthest "
        "ahead of the next job that could have started."
    )
