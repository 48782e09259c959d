"""Runs what the paper needs, and writes it up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from headway.figures import gantt
from headway.figures.style import save
from headway.papers import Request
from headway.papers.kept import Numbers
from headway.papers.log import by_name
from headway.papers.page import rows_of, write_page
from headway.papers.reallocation import beyond, claims, figures
from headway.papers.reallocation.beyond import Beyond
from headway.papers.reallocation.examples import FIGURE_3, FIGURE_3_SPEC, FIGURE_5, FIGURE_5_SPEC
from headway.papers.reallocation.runs import COUPLES, REFERENCE, Campaign, Runs, campaign
from headway.papers.reallocation.scenarios import (
    ALIASES,
    DAY,
    GRID5000,
    LOAD,
    PWA,
    SCENARIOS,
    SITES,
    Scenario,
    drawn,
    part_of,
    platform_of,
    shortened,
)
from headway.papers.verdicts import Reproduction, share_text
from headway.plain import Notify
from headway.platform import Platform
from headway.simulate import simulate
from headway.units import SECOND
from headway.workload import Workload

TITLE = "Evaluation of Reallocation Heuristics for Moldable Tasks in Computational Grids (AusPDC 2011)"
SEEDS = 4
"""Draws of the types; the paper has ten. What differs is the scenarios, over which intervals are."""
SAMPLE = 100
"""Tasks whose size is asked for by both searches."""
QUICK = (shortened(GRID5000[1], 0.15), shortened(GRID5000[4], 0.15), shortened(PWA, 0.02))
"""Days instead of months, for a quick look."""


def reproduce(asked: Request) -> Reproduction:
    """Everything in order; each run is kept in the folder as soon as it is measured."""
    quick, folder = asked.quick, asked.folder
    traces = of_sites(asked.traces, asked.say)
    scenarios: Sequence[Scenario] = QUICK if quick else SCENARIOS
    seeds = range(2 if quick else SEEDS)
    runs = Runs(folder, traces, asked.say)
    kinds = {
        (dedicated, speeds): campaign(runs, scenarios, seeds, dedicated, speeds)
        for dedicated in (True, False)
        for speeds in (True, False)
    }
    more = Beyond(runs, scenarios[1], range(1 if quick else 3), quick)
    alone, shared = kinds[True, True], kinds[False, True]
    counted = sum(len(found.numbers) for found in kinds.values())
    references = sum(len({(name, seed) for name, _, seed in found.numbers}) for found in kinds.values())
    result = Reproduction(TITLE, claims.exact_claims(estimations(), counted, references))
    result.claims += claims.dedicated_claims(alone)
    result.claims += claims.shared_claims(shared, alone)
    tuned = tuning(more, 10 if quick else SAMPLE)
    result.claims += claims.other_claims(alone, kinds[True, False], tuned, more.heuristics(), more.periods())
    result.notes = notes(runs, scenarios, kinds, counted, references, quick)
    result.tables = {
        "Loads": loads(runs, scenarios), "Means": means(kinds), **other_tables(more, scenarios)
    }  # fmt: skip
    result.files = draw(kinds, more, folder)
    values = {
        "scenarios": ", ".join(f"{scenario.name} ({scenario.total:,} jobs)" for scenario in scenarios),
        "seeds": str(len(seeds)),
        "load": f"{LOAD:g}",
    }
    unasked = {} if "Load" in result.tables else {"Load": None}
    result.files.insert(0, write_page("reallocation", result, folder, {**values, **unasked}))
    return result


def of_sites(traces: Mapping[str, str], say: Notify) -> dict[str, str]:
    """The logs of the paper's sites; others may be meant for other papers, and are named."""
    given = by_name(traces, ALIASES)
    for name in given:
        if name not in SITES:
            say(f"{name} is not a site of this paper ({', '.join(SITES)}): its log is not used here.")
    return {name: path for name, path in given.items() if name in SITES}


def estimations() -> int:
    """How often the binary search asks about a task of up to 650 processors on an empty cluster."""
    task = Workload.from_arrays(
        unit="s",
        submit=[0],
        procs=[100],
        walltime=[3600],
        runtime=[3600],
        parallel_fraction=[0.999],
        max_procs=[650],
    )
    return int(str(simulate(task, Platform.procs(650), REFERENCE).own["estimates"]))


def tuning(more: Beyond, count: int) -> Numbers:
    """The binary search against asking for every size, for the same tasks in the same state."""

    def run(seed: int) -> Numbers:
        jobs, machine = drawn(more.runs.jobs(more.scenario), True, seed), platform_of(more.scenario, False)
        return beyond.both_searches(jobs, machine, count)

    found = Beyond(more.runs, more.scenario, more.seeds[:1]).mean(f"binary search, {count} tasks", run)
    return {**found, "tasks": int(found["tasks"])}


def loads(runs: Runs, scenarios: Sequence[Scenario]) -> list[list[str]]:
    """What each site offers its own cluster, and all of them the grid, at the sizes and times of the log."""
    rows = [["scenario", "load of each site on its own cluster", "of the grid at speed 1", "with its speeds"]]
    for scenario in scenarios:
        jobs, machine = runs.jobs(scenario), platform_of(scenario, True)
        area = (jobs.procs * np.minimum(jobs.runtime, jobs.walltime)).astype(np.float64)
        span = scenario.days * DAY * SECOND
        own = [
            f"{cluster.name} {area[jobs.cluster == place].sum() / (span * (cluster.procs or 1)):.2f}"
            for place, cluster in enumerate(machine.clusters)
        ]
        procs = [cluster.procs or 0 for cluster in machine.clusters]
        power = sum(size * cluster.speed for size, cluster in zip(procs, machine.clusters, strict=True))
        rows.append(
            [scenario.name, ", ".join(own), f"{area.sum() / (span * sum(procs)):.2f}",
             f"{area.sum() / (span * power):.2f}"]
        )  # fmt: skip
    return rows


def notes(
    runs: Runs,
    scenarios: Sequence[Scenario],
    kinds: Mapping[tuple[bool, bool], Campaign],
    count: int,
    references: int,
    quick: bool,
) -> list[str]:
    """What the reader should know first."""
    given = [site for site in SITES if site in runs.traces]
    missing = [site for site in SITES if site not in runs.traces]
    counted = [
        f"The log of {site} ({Path(runs.traces[site]).name}) has "
        f"{len(part_of(runs.traces[site], scenario)):,} jobs in the days of {scenario.name}, counted from "
        f"its first submission; the paper counts {scenario.jobs[site]:,}, of the original, uncleaned log."
        for scenario in scenarios
        for site in scenario.jobs
        if site in given
    ]
    said = [f"Logs given: {', '.join(given) or 'none'}; generated: {', '.join(missing) or 'none'}."]
    said += counted
    if quick:
        said.append("A quick look: days instead of months and two seeds, so that verdicts are weak.")
    seconds = [n["seconds"] for found in kinds.values() for n in found.numbers.values()]
    said.append(
        f"{count} runs and {references} references; the longest simulation took {max(seconds):.1f} s of one "
        f"core, the median {sorted(seconds)[len(seconds) // 2]:.2f} s."
    )
    for note in said:
        runs.say(note)
    return said


def means(kinds: Mapping[tuple[bool, bool], Campaign]) -> list[list[str]]:
    """The four numbers of each couple, over scenarios and seeds, and who pays for it."""
    responses = {
        "relative response": "relative_response",
        "of all tasks": "relative_response_of_all",
        "local jobs' response": "local_relative_response",
    }
    lines = []
    for (dedicated, speeds), found in kinds.items():
        for couple in COUPLES:
            ratios = {title: found.mean(name, couple) for title, name in responses.items()}
            lines.append(
                {
                    "clusters": "dedicated" if dedicated else "not dedicated",
                    "speeds": "1 to 1.4" if speeds else "equal",
                    "couple": couple,
                    "impacted": share_text(found.mean("impacted", couple)),
                    "reallocations": f"{100 * (found.mean('reallocations', couple) or 0):.1f} %",
                    "early": share_text(found.mean("early", couple)),
                    **{
                        title: "-"
                        if ratio is None
                        else found.estimate(responses[title], couple).text(digits=3)
                        for title, ratio in ratios.items()
                    },
                    "moves that kept their word": share_text(found.mean("kept_share", couple)),
                    "tasks put back": f"{found.mean('put_back_tasks', couple) or 0:.0f}",
                    "starving": f"{found.mean('starving_tasks', couple) or 0:.1f}",
                }
            )
    return rows_of(lines)


def other_tables(more: Beyond, scenarios: Sequence[Scenario]) -> dict[str, list[list[str]]]:
    """Beyond the paper."""
    generated = not set(more.scenario.jobs) <= set(more.runs.traces)
    asked = (*beyond.QUESTIONS, beyond.LOAD) if generated else beyond.QUESTIONS
    found = {one.title: beyond.table(one.column, more.answers(one)) for one in asked}
    return {
        "Molding": more.molding(),
        "Mappings": more.mappings(scenarios),
        "Reserved": more.reserved(),
        **found,
    }


def draw(kinds: Mapping[tuple[bool, bool], Campaign], more: Beyond, folder: Path) -> list[Path]:
    """Every figure."""
    made = {"figure-1": figures.architecture(), "figure-2": figures.binary_search()}
    made["figure-4"] = figures.speedups()
    for dedicated, first in ((True, 6), (False, 10)):
        for place, metric in enumerate(figures.METRICS):
            made[f"figure-{first + place}"] = figures.boxes(kinds[dedicated, True], metric)
        name = "dedicated" if dedicated else "shared"
        made[f"equal-{name}"] = figures.boxes(kinds[dedicated, False], "relative_response")
    asked = (beyond.PERIOD, beyond.CLUSTERS, beyond.REQUESTS)
    panels = {one.column: beyond.points(more.answers(one)) for one in asked}
    made["beyond"] = figures.curves(panels, ("period (s)", "clusters"))
    made["figure-3"] = FIGURE_3.run(FIGURE_3_SPEC).gantt(names=["Figure 3"])
    with_, without = FIGURE_5.run(FIGURE_5_SPEC), FIGURE_5.run(REFERENCE)
    made["figure-5"] = gantt(without, with_, names=["Figure 5, without reallocation", "with it"])
    return [save(figure, folder / f"reallocation-{name}.svg") for name, figure in made.items()]
