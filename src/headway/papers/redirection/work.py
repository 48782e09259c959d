"""The order of the work: campaigns, then tables, figures and claims, then the page."""

from __future__ import annotations

import time
from collections.abc import Mapping

import polars as pl

from headway.campaign import Campaign, Results
from headway.errors import HeadwayError
from headway.figures.style import save
from headway.papers import Request
from headway.papers.page import write_page
from headway.papers.redirection import baselines, beyond, figures, readings
from headway.papers.redirection.claims import claims
from headway.papers.redirection.grid import (
    PAPER_ALPHA,
    PAPER_THETA,
    QUICK,
    Found,
    Grid,
    best,
    over_weeks,
    paired,
    paper_campaign,
)
from headway.papers.redirection.logs import CLUSTERS, Log, of_paper, open_logs
from headway.papers.verdicts import Reproduction
from headway.simulate import simulate
from headway.workload.models import generate

TITLE = "Online Scheduling with Redirection for Parallel Jobs (IPDPSW 2020)"


def reproduce(asked: Request) -> Reproduction:
    """The campaigns, and everything made of them."""
    return Work(asked).done()


class Work:
    """One reproduction on its way."""

    def __init__(self, asked: Request) -> None:
        self.folder, self.say, self.progress = asked.folder, asked.say, asked.progress
        self.grid = QUICK if asked.quick else Grid()
        self.logs = open_logs(asked.traces, asked.quick)
        self.result = Reproduction(TITLE)
        self._note(asked.traces, asked.quick)

    def done(self) -> Reproduction:
        """Everything, written to the folder."""
        self._compile()
        results = self._run(paper_campaign(self.logs, self.grid), "paper")
        runs, without = paired(results), results.frame.filter(pl.col("baseline").is_null()).height
        same = paired(self._run(readings.on_same_weeks(of_paper(self.logs), self.grid), "readings"))
        others = readings.on_other_weeks(of_paper(self.logs), self.grid)
        other = None if others is None else paired(self._run(others, "weeks"))
        result = self.result
        result.tables["Best parameters"] = self._best(runs)
        result.tables["Which logs"] = beyond.which_logs(runs, self.logs)
        result.tables["Readings"] = readings.table(of_paper(self.logs), same, other)
        result.tables["Which weeks"] = beyond.which_weeks(of_paper(self.logs))
        result.tables["Chosen on half of the weeks"] = beyond.chosen_on_halves(runs, self.logs)
        result.tables["Who pays"] = beyond.cost_table(self._costs(runs))
        pools = [self._run(one, one.name.partition("-")[2]) for one in baselines.pools(self.logs)]
        found = baselines.Baselines([pool.frame for pool in pools])
        result.tables["Baselines"] = found.table(self.logs, baselines.EXACT)
        result.tables["Baselines requested"] = found.table(self.logs, baselines.ASKED)
        result.tables["Best order"] = baselines.best_in_pool(found, self.logs, runs)
        result.tables["Parts of the gain"] = baselines.parts_of_the_gain(found, self.logs)
        result.tables["Features"] = baselines.regression(found, self.logs)
        self._figures(runs, same, other)
        result.claims = claims(runs, without, self.logs)
        result.files.insert(0, write_page("redirection", result, self.folder, self._page_values()))
        return result

    def _note(self, traces: Mapping[str, str], quick: bool) -> None:
        notes = self.result.notes
        for name, cluster in CLUSTERS.items():
            if name not in {log.name for log in self.logs}:
                notes.append(f"The log of {cluster.title} was not given (--trace {name}=FILE): not tested.")
        if not traces:
            notes.append(
                "Without logs the campaign runs on generated weeks; they say nothing of the clusters."
            )
        if quick:
            notes.append("A quick look: few weeks and a thin grid, so that verdicts are weak.")
        for note in notes:
            self.say(note)

    def _compile(self) -> None:
        """Compile once, with a word about it, before several workers would do it side by side."""
        few = generate("lublin(jobs=50, procs=64, seed=1)")
        for policy in ("easy", "redirection"):
            simulate(few, 64, policy, notify=self.say)

    def _run(self, campaign: Campaign, name: str) -> Results:
        begin = time.perf_counter()
        results = campaign.run(self.folder / "campaigns" / name, progress=self.progress)
        if results.failed.height:
            raise HeadwayError(f"a run of the campaign failed: {results.failed['error'][0]}")
        assert results.progress is not None
        kept = f", {results.progress.skipped} were there" if results.progress.skipped else ""
        seconds = time.perf_counter() - begin
        self.say(f"campaign {name}: {results.progress.done} runs in {seconds:.1f} s{kept}")
        return results

    def _best(self, runs: pl.DataFrame) -> list[list[str]]:
        rows = [
            ["log", "alpha", "best theta", "ratio of mean BSLD (median)", "(average)",
             "ratio of max BSLD (median)", "(average)", "weeks better", "mean response", "mean wait",
             "redirections a week", "lost work"]
        ]  # fmt: skip
        for log in self.logs:
            table = over_weeks(Found.on(log, runs).runs, ["alpha", "theta"])
            for alpha in self.grid.alphas:
                top = best(table.filter(pl.col("alpha") == alpha))
                rows.append(
                    [log.cluster.title, f"{alpha:g}", str(top["theta"]), f"{top['mean_bsld_ratio']:.3f}",
                     f"{top['mean_bsld_ratio_mean']:.3f}", f"{top['max_bsld_ratio']:.3f}",
                     f"{top['max_bsld_ratio_mean']:.3f}", f"{100 * top['weeks_better']:.0f} %",
                     f"{100 * (top['mean_response_ratio'] - 1):+.0f} %", f"x {top['mean_wait_ratio']:.1f}",
                     f"{top['redirections']:.1f}",
                     f"{100 * top['wasted_share']:.2f} %"]
                )  # fmt: skip
        return rows

    def _costs(self, runs: pl.DataFrame) -> list[tuple[Log, int, float, beyond.Cost]]:
        tops = [(log, Found.on(log, runs).top) for log in self.logs]
        return [
            (log, top["theta"], top["alpha"], beyond.cost(log, top["theta"], top["alpha"]))
            for log, top in tops
        ]

    def _figures(self, runs: pl.DataFrame, same: pl.DataFrame, other: pl.DataFrame | None) -> None:
        shown = (readings.DEFAULT, readings.CHECKPOINT, readings.USER_ESTIMATES)
        names = ("restart from scratch", "restart from a checkpoint", "users' estimates, from scratch")
        curves = {
            log.cluster.title: {
                name: over_weeks(readings.rows_of(reading, log, same, other), ["theta"])
                for name, reading in zip(names, shown, strict=True)
                if readings.applies(reading, log)
            }
            for log in of_paper(self.logs)
        }
        made = {
            "figure-1": figures.figure_1(runs, of_paper(self.logs), self.grid),
            "figure-2": figures.figure_2(runs, of_paper(self.logs), self.grid),
            "mean-response": figures.figure_mean_response(runs, self.logs, self.grid),
            "response": figures.figure_response(runs, of_paper(self.logs)),
            "beyond": figures.figure_beyond(curves, self.grid.thetas),
        }
        self.result.files += [
            save(figure, self.folder / f"redirection-{name}.svg") for name, figure in made.items()
        ]

    def _page_values(self) -> dict[str, str]:
        return {
            "first": _first(self.result),
            "logs": ", ".join(f"{log.cluster.title} ({log.procs:,} processors)" for log in self.logs),
            "thetas": ", ".join(map(str, self.grid.thetas)),
            "alphas": ", ".join(f"{alpha:g}" for alpha in self.grid.alphas),
            "theta": str(PAPER_THETA),
            "alpha": f"{PAPER_ALPHA:g}",
        }


def _first(result: Reproduction) -> str:
    """What a reader should know before all else: what it does to the slowdown and to the mean response."""
    slowdowns, responses = (
        {claim.claim.partition(":")[0]: claim.ours.partition(";")[0] for claim in result.claims
         if name in claim.claim} for name in (": mean bounded slowdown with", ": mean response time with")
    )  # fmt: skip
    said = [f"{log} {gain}, {responses[log]}" for log, gain in slowdowns.items()]
    return (
        "Average change of the mean bounded slowdown, then of the mean response time, which the paper does "
        "not show, with parameters chosen on one half of the weeks and judged on the other (95 % intervals "
        f"over weeks): {'; '.join(said)}."
    )
