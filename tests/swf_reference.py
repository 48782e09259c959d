"""A slow SWF reader that follows the reading rules line by line, to compare the fast one with.

It shares no code with the reader: numbers are decimals, jobs are dictionaries, rules are ifs.
"""

from __future__ import annotations

from collections import Counter
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal

NAMES = (
    "job", "submit", "wait", "runtime", "allocated", "cpu_time", "used_memory_kb", "requested_procs",
    "requested_time", "requested_memory_kb", "status", "user", "group", "executable", "queue", "partition",
    "preceding", "think_time",
)  # fmt: skip
TIMES = {"submit", "wait", "runtime", "cpu_time", "requested_time", "think_time"}
QUANTITIES = {name for name in NAMES if name.startswith(("requested", "used"))}
QUANTITIES |= {"wait", "cpu_time", "think_time", "allocated"}
SECOND = 1_000_000
Job = dict[str, int]


class Reference:
    """Jobs kept, lines dropped per rule, lines mentioned per rule, and the number of job lines."""

    def __init__(self, text: str, **rules: str) -> None:
        self.rules = rules
        self.dropped: Counter[str] = Counter()
        self.mentioned: Counter[str] = Counter()
        lines = [line.split() for line in text.replace("\r\n", "\n").split("\n")]
        lines = [tokens for tokens in lines if tokens and not tokens[0].startswith(";")]
        self.total = len(lines)
        jobs = [self.values(tokens) for tokens in lines]
        largest = max(job["job"] for job in jobs)
        jobs = self.joined(jobs, "; WholeJobs:" in text)
        jobs = [job for job in jobs if self.can_run(job)]
        self.jobs = self.numbered(jobs, largest)
        latest = -1
        for job in self.jobs:
            self.mentioned["out_of_order"] += job["submit"] < latest
            latest = max(latest, job["submit"])

    def rule(self, name: str, default: str) -> str:
        return self.rules.get(name, default)

    def values(self, tokens: list[str]) -> Job:
        job: Job = {}
        rounded = negative = False
        for name, token in zip(NAMES, tokens + ["-1"] * 18, strict=False):
            value = Decimal(token)
            if name in TIMES:
                exact = value * SECOND
                whole = exact.to_integral_value(ROUND_HALF_EVEN)
            else:
                exact = value
                whole = exact.to_integral_value(ROUND_CEILING)
            rounded |= exact != whole
            job[name] = int(whole)
            unknown = -SECOND if name in TIMES else -1
            if name in QUANTITIES and job[name] < 0:
                negative |= job[name] != unknown
                job[name] = -1
        self.mentioned["missing_fields"] += len(tokens) < 18
        self.mentioned["extra_fields"] += len(tokens) > 18
        self.mentioned["fraction"] += rounded
        self.mentioned["negative"] += negative
        self.mentioned["foreign_status"] += not -1 <= job["status"] <= 5
        return job

    def joined(self, jobs: list[Job], all_are_whole: bool) -> list[Job]:
        summaries = {job["job"] for job in jobs if job["status"] in (0, 1, 5)}
        whole: dict[int, Job] = {}
        kept = []
        if all_are_whole or self.has_exit_codes(jobs):
            self.mentioned["partial"] += sum(job["status"] in (2, 3, 4) for job in jobs)
            return jobs
        for job in jobs:
            if job["status"] not in (2, 3, 4):
                kept.append(job)
            elif (job["job"] >= 0 and job["job"] in summaries) or self.rule("partial", "join") == "skip":
                self.dropped["partial"] += 1
            elif job["job"] < 0 or job["job"] not in whole:
                whole[job["job"]] = job
                kept.append(job)
                self.mentioned["partial"] += 1
            else:
                self.dropped["partial"] += 1
                first = whole[job["job"]]
                if first["submit"] < 0:
                    first["submit"] = job["submit"]
                for name in ("runtime", "cpu_time"):
                    known = [max(value, 0) for value in (first[name], job[name]) if value >= 0]
                    first[name] = sum(known) if known else first[name]
                for name in ("allocated", "requested_procs", "requested_time"):
                    first[name] = max(first[name], job[name])
                for name in ("used_memory_kb", "requested_memory_kb"):
                    first[name] = max(first[name], job[name])
                first["status"] = job["status"]
        for job in kept:
            job["status"] = {2: -1, 3: 1, 4: 0}.get(job["status"], job["status"])
        return kept

    @staticmethod
    def has_exit_codes(jobs: list[Job]) -> bool:
        """Some status is none of the format's, and every piece is the only line of its job."""
        lines = Counter(job["job"] for job in jobs if job["job"] >= 0)
        foreign = any(not -1 <= job["status"] <= 5 for job in jobs)
        return foreign and all(lines[job["job"]] < 2 for job in jobs if job["status"] in (2, 3, 4))

    def can_run(self, job: Job) -> bool:
        for rule in ("no_submit", "cancelled", "unknown_runtime", "no_procs", "zero_runtime"):
            if getattr(self, rule)(job):
                self.dropped[rule] += 1
                return False
        requested, runtime = job["requested_time"], job["runtime"]
        self.mentioned["no_estimate"] += requested <= 0
        job["walltime"] = requested if requested > 0 else runtime
        if runtime > job["walltime"]:
            self.mentioned["overrun"] += 1
            if self.rule("overrun", "kill") == "trust":
                job["walltime"] = runtime
        memory = [kb for kb in (job["requested_memory_kb"], job["used_memory_kb"]) if kb > 0]
        job["memory_kb"] = memory[0] if memory else -1
        return True

    def no_submit(self, job: Job) -> bool:
        return job["submit"] < 0

    def cancelled(self, job: Job) -> bool:
        if job["status"] != 5 or job["runtime"] > 0:
            return False
        if self.rule("cancelled", "drop") != "keep":
            return True
        self.mentioned["cancelled"] += job["runtime"] == 0
        return False

    def unknown_runtime(self, job: Job) -> bool:
        return job["runtime"] < 0

    def no_procs(self, job: Job) -> bool:
        counts = [job["requested_procs"], job["allocated"]]
        if self.rule("procs", "requested") == "allocated":
            counts.reverse()
        if max(counts) <= 0:
            return True
        self.mentioned["procs"] += counts[0] <= 0 or (counts[1] > 0 and counts[0] != counts[1])
        job["procs"] = counts[0] if counts[0] > 0 else counts[1]
        return False

    def zero_runtime(self, job: Job) -> bool:
        if job["runtime"] != 0:
            return False
        if self.rule("zero_runtime", "keep") == "drop":
            return True
        self.mentioned["zero_runtime"] += 1
        if self.rule("zero_runtime", "keep") == "raise":
            job["runtime"] = SECOND
        return False

    def numbered(self, jobs: list[Job], largest: int) -> list[Job]:
        used: set[int] = set()
        kept = []
        for job in jobs:
            if job["job"] < 0 or job["job"] in used:
                if self.rule("duplicates", "renumber") == "drop":
                    self.dropped["duplicates"] += 1
                    continue
                self.mentioned["duplicates"] += 1
                largest = max(largest, 0) + 1
                job["job"] = largest
            used.add(job["job"])
            kept.append(job)
        return kept
