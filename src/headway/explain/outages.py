"""What outages had to do with a job: processors that were not there, maintenance that it had to wait for."""

from __future__ import annotations

from headway.explain.place import Case
from headway.explain.words import at, duration, processors

MANY = 4
"""Outages told one by one; more are summed up."""


def met(case: Case) -> list[str]:
    """Outages while the job waited, and maintenance that it would have run into."""
    outages = case.schedule.platform.outages
    if outages is None or case.start == case.submit:
        return []
    said = []
    walltime = int(case.schedule.walltime[case.row])
    for outage in outages.outages:
        known = outage.announced is None or outage.announced <= case.submit
        near = case.submit < outage.start < case.submit + walltime and case.start >= outage.start
        if outage.kind == "maintenance" and known and near:
            left = duration(outage.start - case.submit)
            said.append(
                f"When it was submitted, maintenance of {processors(outage.procs)} was {left} away, and it "
                f"asked for {duration(walltime)}: started before that, it could have run into it."
            )
    during = [o for o in outages.outages if o.start < case.start and o.over > case.submit]
    for outage in during[:MANY]:
        until = "the end" if outage.end is None else at(outage.end, case)[3:]
        words = {
            "maintenance": f"{processors(outage.procs)} were under maintenance",
            "down": f"{processors(outage.procs)} were down",
            "drain": f"{processors(outage.procs)} took no new jobs",
        }
        said.append(f"From {at(outage.start, case)[3:]} to {until} {words[outage.kind]}.")
    if len(during) > MANY:
        said.append(f"So it was with {len(during) - MANY} more outages while it waited.")
    return said
