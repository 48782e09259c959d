"""UJF and UJFB as Headway asks them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.policies.entry import Parameter
from headway.policies.policy import Policy, Seen, before_maintenance, never_idle
from headway.policies.references import AGUNG_2021

if TYPE_CHECKING:
    from headway.engine.local import Local
    from headway.policies.prepare import Arrivals, Prepared


OVERRUN = Parameter(
    "an urgent job that has used up its walltime is killed like any other, or may finish",
    "kill",
    ("kill", "finish"),
)


class Ujf(Policy):
    """UJF: first come, first served, urgent jobs before all others; nothing is stopped for them.

    A baseline of the paper on UJFB; the same as fcfs(urgent=first).
    """

    name = "ujf"
    citation = (AGUNG_2021,)
    needs = ("the column urgent: an annotation, or the transformations urgent and inject",)
    example = "ujf"
    example_on = "log.swf.gz --annotations urgent.csv"

    overrun = OVERRUN

    takes_outages = takes_feedback = True
    looks_at = ("urgent",)

    def prepare(self, arrivals: Arrivals, procs: int) -> Prepared:
        from headway.policies.urgent.setup import ujf

        return ujf(self.spec, arrivals, procs)

    def as_local(self) -> Local:
        from headway.engine.local import Local
        from headway.policies.queueing.strict import of_queue

        return Local(of_queue)

    def laws(self, seen: Seen) -> tuple[str, ...]:
        planned = before_maintenance(seen) if self.overrun == "kill" else ()
        return ("urgent overrun", *never_idle(seen), *planned)


class Ujfb(Policy):
    """UJFB: urgent jobs start at once, and regular ones are suspended or killed where they are in the way.

    A suspended job keeps its processors: only urgent jobs may use them meanwhile, and it resumes when none
    does. Regular jobs have reservations, made again whenever something changes; without urgent jobs this is
    conservative(compress=scratch).
    """

    name = "ujfb"
    citation = (AGUNG_2021,)
    needs = (
        "the column urgent: an annotation, or the transformations urgent and inject",
        "a source of swap times: swap=SECONDS, the column swap, or memory (transformations memory, swap)",
    )
    example = "ujfb(preempt=degree, swap=0.844)"
    example_on = "log.swf.gz --annotations urgent.csv"

    preempt = Parameter(
        "what becomes of the jobs that make room: they are swapped out and resume on the same "
        "processors (suspend), lose their work and start again (kill), or are killed only where an "
        "urgent job with a deadline would miss it by waiting for the swap, or could not start at "
        "all because the hosts are full (degree)",
        "suspend",
        ("suspend", "kill", "degree"),
    )
    victims = Parameter(
        "which jobs make room first: the latest started, the smallest or the largest; one without which "
        "the "
        "rest suffices is spared",
        "latest",
        ("latest", "smallest", "largest"),
    )
    swap = Parameter(
        "how long a job takes to be swapped out, and as long to come back: what the column swap "
        "says, else its memory per processor over the bandwidth (column), always the latter "
        "(memory), or so many seconds for every job",
        "column",
        ("column", "memory"),
        float,
        low=0,
        unit="seconds",
    )
    swap_in = Parameter(
        "how long a job takes to come back, as a multiple of what being swapped out takes; only the "
        "latter was measured",
        1.0,
        (),
        float,
        low=0,
    )
    bandwidth = Parameter("at which memory is swapped", 6000.0, (), float, low=0, open_low=True, unit="MB/s")
    unknown = Parameter(
        "jobs of which neither swap time nor memory is known: taken to be of the median size of the "
        "others, or refused",
        "median",
        ("median", "error"),
    )
    host_memory = Parameter(
        "what one host can hold of swapped-out processes; a job that does not fit is not preempted",
        "unlimited",
        ("unlimited",),
        float,
        low=0,
        unit="GB",
    )
    host_size = Parameter("processors of one host, numbered from 0", 8, (), int, low=1)
    overtake = Parameter(
        "whether an urgent job may start while one that came before it has to wait", "yes", ("yes", "no")
    )
    reserve = Parameter(
        "where a waiting urgent job holds a reservation before the regular ones: at the first time "
        "at which enough processors have no urgent user, since regular jobs are stopped for it then "
        "(preempting), at the first time at which it fits next to running regular jobs, or nowhere",
        "preempting",
        ("preempting", "beside", "none"),
    )
    idle = Parameter(
        "processors of a suspended job that no urgent job uses: kept, so that only urgent jobs may "
        "have them, or lent to regular jobs that by their request end before it can come back, and "
        "that are killed if an urgent job stops them",
        "kept",
        ("kept", "lent"),
    )
    leftover = Parameter(
        "processors of a job that makes room which the urgent job does not take: not swapped out and "
        "free for the next urgent job at once, or swapped out with the rest, so that the next one "
        "waits for it",
        "free",
        ("free", "swapped"),
    )
    borrow = Parameter(
        "whether an urgent job takes idle processors of suspended jobs before free ones (first) or "
        "after them (last)",
        "last",
        ("last", "first"),
    )
    requeue = Parameter(
        "where a killed job waits again: where it was when it arrived, or at the end",
        "arrival",
        ("arrival", "end"),
    )
    overrun = OVERRUN
    regular = Parameter(
        "how regular jobs wait: with reservations as in conservative backfilling, made again when "
        "something changes, or in the two lists of dbf(compress=scratch), where jobs with a deadline "
        "make room for those without one as long as they can",
        "conservative",
        ("conservative", "dbf"),
    )

    laws_of_the_queue = False
    takes_feedback = True
    why_no_outages = "a suspended job resumes where its memory was swapped out, and not elsewhere"

    @property
    def keeps_processors(self) -> bool:  # type: ignore[override]
        return self.idle != "lent"

    @property
    def not_of_jobs(self) -> tuple[int, ...]:
        from headway.policies.urgent.tables import LISTS

        return LISTS

    def prepare(self, arrivals: Arrivals, procs: int) -> Prepared:
        from headway.policies.urgent.setup import ujfb

        return ujfb(self.spec, arrivals, procs)

    @property
    def looks_at(self) -> tuple[str, ...]:
        due = self.preempt == "degree" or self.regular == "dbf"
        return ("deadline", "urgent") if due else ("urgent",)

    def as_local(self) -> Local:
        from headway.engine.local import Local
        from headway.engine.tables import Why
        from headway.policies.urgent import withdrawal
        from headway.policies.urgent.tables import UjfbJobs

        return Local(
            withdrawal.of_ujfb,
            in_turn=Why.RESERVATION,
            not_of_jobs=self.not_of_jobs,
            numbered_by=UjfbJobs["shape_number"],
            looks_at_newcomers=True,
            may_stop=True,
            takes_other_numbers=False,
            trial_memory=withdrawal.without_record,
        )

    def laws(self, seen: Seen) -> tuple[str, ...]:
        return ("urgent", "urgent overrun")

    @property
    def is_over_dbf(self) -> bool:
        """Whether its regular jobs have deadlines."""
        return self.regular == "dbf"
