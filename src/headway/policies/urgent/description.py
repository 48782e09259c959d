"""Urgent jobs first: strictly, or with backfilling and preemption."""

from __future__ import annotations

from headway.policies.entry import Parameter, PolicyInfo
from headway.policies.references import AGUNG_2021

OVERRUN = Parameter(
    "overrun",
    "an urgent job that has used up its walltime is killed like any other, or may finish",
    "kill",
    ("kill", "finish"),
)

ENTRIES = (
    PolicyInfo(
        "ujf",
        "UJF: first come, first served, urgent jobs before all others; nothing is stopped for them",
        (AGUNG_2021,),
        (OVERRUN,),
        needs=("the column urgent: an annotation, or the transformations urgent and inject",),
        details="A baseline of the paper on UJFB; the same as fcfs(urgent=first).",
        example="ujf",
        example_on="log.swf.gz --annotations urgent.csv",
        home="headway.policies.urgent.policy:Ujf",
    ),
    PolicyInfo(
        "ujfb",
        "UJFB: urgent jobs start at once, and regular ones are suspended or killed where they are in the way",
        (AGUNG_2021,),
        (
            Parameter(
                "preempt",
                "what becomes of the jobs that make room: they are swapped out and resume on the same "
                "processors (suspend), lose their work and start again (kill), or are killed only where an "
                "urgent job with a deadline would miss it by waiting for the swap, or could not start at "
                "all because the hosts are full (degree)",
                "suspend",
                ("suspend", "kill", "degree"),
            ),
            Parameter(
                "victims",
                "which jobs make room first: the latest started, the smallest or the largest; "
                "one without which the "
                "rest suffices is spared",
                "latest",
                ("latest", "smallest", "largest"),
            ),
            Parameter(
                "swap",
                "how long a job takes to be swapped out, and as long to come back: what the column swap "
                "says, else its memory per processor over the bandwidth (column), always the latter "
                "(memory), or so many seconds for every job",
                "column",
                ("column", "memory"),
                float,
                low=0,
                unit="seconds",
            ),
            Parameter(
                "swap_in",
                "how long a job takes to come back, as a multiple of what being swapped out takes; only the "
                "latter was measured",
                1.0,
                (),
                float,
                low=0,
            ),
            Parameter(
                "bandwidth",
                "at which memory is swapped",
                6000.0,
                (),
                float,
                low=0,
                open_low=True,
                unit="MB/s",
            ),
            Parameter(
                "unknown",
                "jobs of which neither swap time nor memory is known: taken to be of the median size of the "
                "others, or refused",
                "median",
                ("median", "error"),
            ),
            Parameter(
                "host_memory",
                "what one host can hold of swapped-out processes; a job that does not fit is not preempted",
                "unlimited",
                ("unlimited",),
                float,
                low=0,
                unit="GB",
            ),
            Parameter("host_size", "processors of one host, numbered from 0", 8, (), int, low=1),
            Parameter(
                "overtake",
                "whether an urgent job may start while one that came before it has to wait",
                "yes",
                ("yes", "no"),
            ),
            Parameter(
                "reserve",
                "where a waiting urgent job holds a reservation before the regular ones: at the first time "
                "at which enough processors have no urgent user, since regular jobs are stopped for it then "
                "(preempting), at the first time at which it fits next to running regular jobs, or nowhere",
                "preempting",
                ("preempting", "beside", "none"),
            ),
            Parameter(
                "idle",
                "processors of a suspended job that no urgent job uses: kept, so that only urgent jobs may "
                "have them, or lent to regular jobs that by their request end before it can come back, and "
                "that are killed if an urgent job stops them",
                "kept",
                ("kept", "lent"),
            ),
            Parameter(
                "leftover",
                "processors of a job that makes room which the urgent job does not take: not swapped out and "
                "free for the next urgent job at once, or swapped out with the rest, so that the next one "
                "waits for it",
                "free",
                ("free", "swapped"),
            ),
            Parameter(
                "borrow",
                "whether an urgent job takes idle processors of suspended jobs before free ones (first) or "
                "after them (last)",
                "last",
                ("last", "first"),
            ),
            Parameter(
                "requeue",
                "where a killed job waits again: where it was when it arrived, or at the end",
                "arrival",
                ("arrival", "end"),
            ),
            OVERRUN,
            Parameter(
                "regular",
                "how regular jobs wait: with reservations as in conservative backfilling, made again when "
                "something changes, or in the two lists of dbf(compress=scratch), where jobs with a deadline "
                "make room for those without one as long as they can",
                "conservative",
                ("conservative", "dbf"),
            ),
        ),
        needs=(
            "the column urgent: an annotation, or the transformations urgent and inject",
            "a source of swap times: swap=SECONDS, the column swap, or memory (transformations memory, swap)",
        ),
        details=(
            "A suspended job keeps its processors: only urgent jobs may use them meanwhile, and it resumes "
            "when none does. Regular jobs have reservations, made again whenever something changes; without "
            "urgent jobs this is conservative(compress=scratch)."
        ),
        example="ujfb(preempt=degree, swap=0.844)",
        example_on="log.swf.gz --annotations urgent.csv",
        home="headway.policies.urgent.policy:Ujfb",
    ),
)
