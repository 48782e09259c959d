"""What would have let a job start earlier: the same run again with that one job changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from headway.errors import HeadwayError
from headway.explain.place import Case
from headway.explain.words import NOT_AGAIN, at, processors
from headway.plain import Progress
from headway.policies.own.sources import digests
from headway.policies.spec import parse_spec
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
