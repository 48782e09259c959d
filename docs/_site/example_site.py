"""Makes the log of the site that ``headway site example`` writes: ``python docs/_site/example_site.py``.

Jobs are drawn, with a daily cycle, generous time limits and one heavy user. Their recorded starts are those
of Slurm's rules under a seed, an epilog and late cycles that are not the defaults, so that a replay of the
site comes near and not more.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

import headway
from headway.site import Site

FOLDER = Path(headway.__file__).parent / "site" / "example"
RECORDED = "slurm(seed=2024, epilog=4, late=5)"
FIRST, WEEKS, JOBS = 1_714_953_600, 26, 5950  # a Monday: 2024-05-06
CORES = 16
ACCOUNT = {
    "ann": "chem", "bob": "chem", "cem": "chem", "otto": "phys", "dia": "phys", "eve": "phys",
    "fay": "bio", "gus": "bio",
}  # fmt: skip
WEIGHT = (10, 8, 6, 34, 8, 8, 14, 12)
HEAD = (
    "Cluster|JobID|JobIDRaw|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|ElapsedRaw"
    "|TimelimitRaw|ReqCPUS|AllocCPUS|NNodes|ReqNodes|ReqMem|ReqTRES|AllocTRES|Flags|SubmitLine"
)


def lines(draw: np.random.Generator) -> list[dict[str, object]]:
    """What was submitted, in the order of submission."""
    at = np.sort(draw.random(JOBS) * WEEKS * 7 * 86_400)
    day = at / 86_400 % 7
    at = np.sort(
        at - np.where(day > 5, 86_400 * (day - 5) * 0.7, 0) + 10_000 * np.sin(2 * np.pi * at / 86_400)
    )
    jobs: list[dict[str, object]] = []
    for number, submit in enumerate(np.maximum(at, 0).astype(int), 1):
        user = str(draw.choice(list(ACCOUNT), p=np.array(WEIGHT) / 100))
        limit = int(
            draw.choice([20, 60, 180, 480, 1440, 2880, 4320], p=[0.18, 0.2, 0.2, 0.22, 0.12, 0.05, 0.03])
        )
        nodes = int(draw.choice([1, 1, 1, 2, 4, 8], p=[0.32, 0.16, 0.16, 0.18, 0.13, 0.05]))
        cpus = (
            CORES * nodes
            if nodes > 1
            else int(draw.choice([1, 2, 4, 8, 16], p=[0.25, 0.15, 0.2, 0.15, 0.25]))
        )
        partition = "long" if limit > 480 else "debug" if limit == 20 and nodes <= 2 else "short"
        jobs.append({
            "number": number, "submit": FIRST + int(submit), "user": user, "limit": limit, "nodes": nodes,
            "cpus": cpus, "partition": partition, "qos": "high" if draw.random() < 0.06 else "normal",
            "run": max(int(60 * limit * draw.beta(1.1, 1.5)), 20),
        })  # fmt: skip
    return jobs


def text(jobs: list[dict[str, object]], starts: list[int] | None = None) -> str:
    """As sacct prints it; without starts every job starts when it is submitted."""
    rows = [HEAD]
    for place, job in enumerate(jobs):
        start = job["submit"] if starts is None else starts[place]
        assert isinstance(start, int) and isinstance(job["run"], int)
        tres = f"billing={job['cpus']},cpu={job['cpus']},node={job['nodes']}"
        asked = f"sbatch -N {job['nodes']} -n {job['cpus']} -t {job['limit']} -p {job['partition']} job.sh"
        rows.append("|".join(map(str, (
            "fjord", job["number"], job["number"], job["user"], ACCOUNT[str(job["user"])], job["partition"],
            job["qos"], "COMPLETED", job["submit"], job["submit"], start, start + job["run"], job["run"],
            job["limit"], job["cpus"], job["cpus"], job["nodes"], job["nodes"], 0, tres, tres, "SchedMain",
            asked,
        ))))  # fmt: skip
    return "\n".join(rows) + "\n"


def main() -> None:
    """Draw the jobs, simulate them, and write the log with the simulated starts."""
    jobs = lines(np.random.default_rng(7))
    file = FOLDER / "jobs.txt.gz"
    file.write_bytes(gzip.compress(text(jobs).encode(), mtime=0))
    site = Site.load(FOLDER)
    schedule = headway.simulate(site.read_jobs(), site.platform(), RECORDED)
    assert len(schedule) == len(jobs), "a job was dropped"
    origin = schedule.unix_start or 0
    starts = (schedule.start // headway.SECOND + origin).tolist()
    file.write_bytes(gzip.compress(text(jobs, starts).encode(), mtime=0))


if __name__ == "__main__":
    main()
