"""The whole explanation of one job."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from textwrap import fill
from typing import Any

from headway.explain import slurm
from headway.explain.fates import FATES
from headway.explain.moves import first_cluster, has_moved, stages
from headway.explain.nodes import why_this_node
from headway.explain.place import Case, case_of
from headway.explain.provisional import with_notes
from headway.explain.slurm import is_slurms
from headway.explain.waiting import at_submission, promise, reason, while_waiting
from headway.explain.what_if import what_if
from headway.explain.words import at, processors
from headway.metrics.comparison import brief
from headway.plain import Progress
from headway.schedule import Schedule
from headway.units import duration


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
WEIGHED = {
    1: "how long it had waited",
    2: "its size",
    3: "its request",
    4: "its area (size times request)",
}
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
