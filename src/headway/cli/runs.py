"""One workload and machine, and runs of policies on them, with progress shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import headway
from headway.cli.display import Display
from headway.cli.frame import this_command
from headway.cli.inputs import chosen_platform, feedback_call, log_platform, read_workload, site_of
from headway.cli.outages import NONE, WantedOutages
from headway.platform import Platform
from headway.policies.spec import Spec
from headway.result import Result
from headway.workload import Workload


@dataclass(frozen=True)
class Inputs:
    """What every run of one command shares."""

    workload: Workload
    platform: Platform
    display: Display
    outages: WantedOutages = NONE

    @classmethod
    def read(
        cls,
        trace: str,
        procs: int | None,
        platform: str | None,
        annotations: Path | None,
        rules: dict[str, str],
        quiet: bool,
        site: Path | None = None,
        outages: WantedOutages = NONE,
        feedback: str | None = None,
        sizes: str = "--procs N or --platform FILE",
        defaults: dict[str, str] | None = None,
    ) -> Inputs:
        """Read the log; the machine is the one asked for, else the site's or the one in the log's header.

        `sizes` are the options of the command that say how large the machine is, `defaults` reading rules of
        its own.
        """
        machine = chosen_platform(procs, platform)
        wanted = None if feedback is None else feedback_call(feedback)
        display = Display(quiet)
        with display.working(f"reading {trace}"):
            found = site_of(trace, rules, site)
            chosen = (defaults or {}) | rules
            unread = (*(defaults or ()), *(("zone",) if outages.files else ()))  # events have clock times too
            workload = read_workload(
                trace, chosen, annotations, found, cancelled=wanted is None, unread=unread
            )
            if wanted is not None:
                from headway.workload.transform import apply

                workload = apply(workload, wanted)
        if machine is None:
            machine = log_platform(workload, sizes) if found is None else found.platform()
        if said := outages.caution(machine.total_procs, workload):
            display.say(said)
        return cls(workload, machine, display, outages)

    def fitted(self, procs: int) -> Inputs:
        """The same without jobs of more than `procs` processors, which the ledger then names."""
        return replace(self, workload=self.workload.fit_to(procs))

    def changed(self, transformation: str) -> Inputs:
        """The same with a transformation of the log, which must keep its jobs one to one."""
        from headway.workload.transform import apply

        return replace(self, workload=apply(self.workload, transformation))

    def run(self, spec: Spec, seed: int, platform: Platform | None = None) -> Result:
        """Simulate one policy, on the common machine or another."""
        with self.display.working(spec.brief) as progress:
            schedule: Result = headway.simulate(
                self.workload,
                self.outages.on(platform or self.platform, self.workload),
                spec,
                progress=progress,
                notify=self.display.say,
                seed=seed,
            )
        schedule.provenance["command"] = this_command()
        return schedule
