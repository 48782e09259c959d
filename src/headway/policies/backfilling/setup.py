"""Prepares EASY and conservative backfilling."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.engine.setup import Setup
from headway.engine.tables import NO_MEMORY, JobTable, Nodes, State
from headway.errors import UsageError
from headway.jit.rows import zeros
from headway.policies.prepare import Arrivals, OnNodes, Prepared, Table
from headway.policies.queueing.ordering import AS_ORDER, FIXED, NO_AGE, kind_of, sorted_kind_of
from headway.policies.queueing.setup import first_class, ordered, sorted_at_each_pass
from headway.policies.slurm.policy import Slurm, site_of
from headway.policies.spec import Spec
from headway.units import SECOND

if TYPE_CHECKING:
    from headway.platform import Platform
    from headway.policies.policy import Policy
    from headway.policies.slurm.tables.controller import Memory
    from headway.site import Site
    from headway.workload import Workload


LEARNED = ("average2", "last2")
"""Estimates from the last runs of a job's user."""

MANY_AT_ONCE = 512
"""With fewer jobs at once conservative backfilling needs no table of holes."""


def easy(spec: Spec, arrivals: Arrivals, procs: int) -> Prepared:
    """EASY with its orders, estimates, age limit and depth."""

    order, backfill, age = spec.word("order"), spec.word("backfill"), spec.params["age"]
    estimate, depth = spec.params["estimate"], spec.params["depth"]
    if estimate in LEARNED:
        return learned(spec, arrivals, procs)
    urgent = first_class(spec, arrivals)
    plan = planned_times(estimate, arrivals)
    one_queue = backfill == order
    arrival_order = order == "fcfs" and urgent is None
    upper_bounds = estimate in ("requested", "exact")
    options = (
        kind_of(order),
        AS_ORDER if one_queue else kind_of(backfill),
        NO_AGE if age == "none" else round(spec.number("age") * SECOND),
        0 if depth == "all" else spec.whole("depth"),
        arrival_order and estimate == "requested" and not arrivals.is_changing,
        arrival_order and one_queue and upper_bounds,
    )
    orders = (
        {JobTable["key"]: order}
        if one_queue
        else {JobTable["key"]: order, JobTable["backfill_key"]: backfill}
    )
    fill = ordered(arrivals, plan, orders, urgent)
    lasting = kind_of(order) == kind_of(backfill) == FIXED and age == "none"
    if arrivals.is_changing:
        from headway.policies.backfilling.changing import easy_changing as hook
    elif depth != 1:
        from headway.policies.backfilling.depth import easy_deep as hook
    elif lasting:
        from headway.policies.backfilling.easy import easy as hook
    else:
        from headway.policies.backfilling.easy import easy_sorted as hook
    setup = Setup((procs,), hook, tuple(int(n) for n in options), fill)
    return Prepared(setup, plan, "start" if options[4] else "")


def easy_in_dialect(dialect: str, arrivals: Arrivals, procs: int) -> Prepared:
    """EASY as another simulator runs it: in order of arrival, by requested times."""
    from headway.policies.backfilling import dialects, machines

    hooks = {
        "pyss": dialects.easy_pyss,
        "batsched": machines.easy_batsched,
        "batsched-fast": dialects.easy_batsched_fast,
        "cqsim": dialects.easy_cqsim,
        "accasim": dialects.easy_accasim,
    }
    clairvoyant = dialect == "cqsim"
    plan = arrivals.length if clairvoyant else arrivals.walltime
    # Candidates that are judged otherwise than running jobs may pass later though nothing came free.
    options = (FIXED, AS_ORDER, NO_AGE, 1, 0, int(not clairvoyant))
    fill = ordered(arrivals, plan, {JobTable["key"]: "fcfs"}, None)
    memory: Any = NO_MEMORY
    if dialect.startswith("batsched"):
        fill = by_name(arrivals, fill)
    if dialect == "batsched":
        memory = machines.Numbered(zeros(machines.Processors, procs))
    return Prepared(Setup((procs,), hooks[dialect], options, fill, memory=memory), plan)


def by_name(arrivals: Arrivals, fill: Callable[[State], None]) -> Callable[[State], None]:
    """Lets jobs that are submitted at one instant join in the order of their ids as strings."""
    names = arrivals.extra["job"].astype(str)
    order = np.lexsort((names, arrivals.submit))

    def fill_by_name(state: State) -> None:
        fill(state)
        state.jobs.key[order] = np.arange(len(order))
        state.jobs.backfill_key[:] = order

    return fill_by_name


def learned(spec: Spec, arrivals: Arrivals, procs: int) -> Prepared:
    """EASY that plans with the last two runs of a job's user; its orders are sorted at each pass."""
    from headway.policies.backfilling.learned import MORE_ROWS, USER, Took, Users, easy_learned

    order, backfill, age = spec.word("order"), spec.word("backfill"), spec.params["age"]
    if spec.params["depth"] != 1:
        raise UsageError(f"easy: estimate={spec.params['estimate']} is for depth=1 only")
    options = (
        sorted_kind_of(order),
        AS_ORDER if backfill == order else sorted_kind_of(backfill),
        NO_AGE if age == "none" else round(spec.number("age") * SECOND),
        1,
        0,
        0,
        LEARNED.index(str(spec.params["estimate"])),
    )
    given = arrivals.extra.get("user", np.full(len(arrivals.submit), -1, np.int64))
    users, number = np.unique(given, return_inverse=True)
    orders = (
        {JobTable["key"]: order}
        if backfill == order
        else {JobTable["key"]: order, JobTable["backfill_key"]: backfill}
    )
    fill = ordered(arrivals, arrivals.walltime, orders, first_class(spec, arrivals))

    def fill_users(state: State) -> None:
        fill(state)
        state.jobs[USER] = np.where(given < 0, -1, number)

    memory = Users(zeros(Took, len(users)))
    setup = Setup((procs,), easy_learned, options, fill_users, more_rows=MORE_ROWS, memory=memory)
    return Prepared(setup, arrivals.walltime)


def easy_in_turn(spec: Spec, options: tuple[int, ...]) -> tuple[int, ...]:
    """EASY's options in the redirection group and on a grid, where nothing that was promised is kept."""
    from headway.policies.backfilling.easy import Rule

    changed = list(sorted_at_each_pass(spec, options))
    changed[Rule.PROMISES] = 0
    return tuple(changed)


def planned_times(estimate: object, arrivals: Arrivals) -> Table:
    """The time the scheduler plans with: the request, the real run time, or a multiple of the request."""
    if estimate == "requested":
        return arrivals.walltime
    if estimate == "exact":
        return arrivals.length
    numerator, denominator = Decimal(str(estimate)).as_integer_ratio()
    longest = int(arrivals.walltime.max()) if len(arrivals.walltime) else 0
    if max(longest * numerator, denominator) >= 1 << 62:
        exact = [(-(-int(w) * numerator // denominator)) for w in arrivals.walltime]
        if max(exact, default=0) >= 1 << 60:
            raise UsageError(f"estimate={estimate} plans with times that are too long; give a smaller one")
        return np.array(exact, np.int64)
    return -(-arrivals.walltime * numerator // denominator)


def most_at_once(arrivals: Arrivals, procs: int) -> int:
    """How many jobs would be there at once, at most, if each had the whole machine in its turn."""
    if len(arrivals.submit) < MANY_AT_ONCE:
        return len(arrivals.submit)
    work = np.cumsum(arrivals.length / procs * arrivals.procs)
    before = np.concatenate([[0.0], work[:-1]])
    done = work + np.maximum.accumulate(arrivals.submit - before)
    there = np.arange(1, len(done) + 1) - np.searchsorted(done, arrivals.submit, side="right")
    return int(there.max())


def conservative(spec: Spec, arrivals: Arrivals, procs: int, may_leave: bool = False) -> Prepared:
    """Conservative backfilling; no table of holes where waiting jobs may leave, for it would miss theirs."""
    from headway.policies.backfilling.conservative import Compress

    memory: Any = NO_MEMORY
    if arrivals.is_changing:
        from headway.policies.backfilling.changing import conservative_changing as hook
    elif not may_leave and most_at_once(arrivals, procs) >= MANY_AT_ONCE:
        from headway.policies.backfilling.conservative import conservative_deep as hook
        from headway.policies.backfilling.long_holes import table_of_holes

        memory = table_of_holes(len(arrivals.submit), procs)
    else:
        from headway.policies.backfilling.conservative import conservative as hook
    compress = spec.word("compress")
    hole_open = int(spec.params["hole"] == "open")
    options = (FIXED, AS_ORDER, NO_AGE, Compress[compress.upper()], hole_open)
    plan = planned_times(spec.params.get("estimate", "requested"), arrivals)
    fill = ordered(arrivals, plan, {JobTable["key"]: "fcfs"}, first_class(spec, arrivals))
    setup = Setup((procs,), hook, options, fill, memory=memory)
    return Prepared(setup, plan, "told" if compress == "scratch" else "start")


# EASY and conservative backfilling on the named nodes of a site.

PLANNED = 500
"""Reservations that conservative backfilling makes at each event, for the first jobs of the queue: as many
jobs as Slurm's backfill looks at where nothing else is said (bf_max_job_test)."""
ALLOWED: dict[str, tuple[object, ...]] = {
    "order": ("fcfs",),
    "backfill": ("fcfs",),
    "estimate": ("requested",),
    "age": ("none",),
    "dialect": ("textbook",),
    "urgent": ("ignore",),
    "compress": ("early", "scratch"),
    "hole": ("closed",),
}
"""Values that the other parameters may have on named nodes."""


class OnNamedNodes(Slurm):
    """EASY or conservative backfilling that gives jobs the nodes that Slurm would choose for them."""

    takes_cancelled = False

    @property
    def nodes(self) -> str:
        """Whether nodes are given as a ``whole`` or ``shared``."""
        return str(self.params["nodes"])

    @property
    def depth(self) -> int:
        """Reservations at each event."""
        if self.spec.name == "conservative" or self.params.get("depth") == "all":
            return PLANNED
        return min(self.spec.whole("depth"), PLANNED)

    def on(self, platform: Platform, workload: Workload) -> Policy:
        if platform.site is None:
            raise UsageError(
                f"{self.spec.name} with nodes={self.nodes} needs a site, its nodes and partitions: give the "
                "site's folder in place of the log, or the log and --site DIR"
            )
        for name, values in ALLOWED.items():
            if name in self.params and self.params[name] not in values:
                raise UsageError(
                    f"{self.spec.name} with nodes={self.nodes} is for {name}={values[0]} only, not "
                    f"{self.params[name]}; leave {name} out, or count processors (nodes=count)"
                )
        return super().on(platform, workload)

    def prepare(self, arrivals: Arrivals, procs: int) -> Prepared:
        from headway.policies.backfilling.named_nodes import backfill_on_nodes
        from headway.policies.slurm.setup.site_tables import node_table

        site = site_of(arrivals)
        memory = tables(site, arrivals, self.nodes == "whole", self.depth)
        return Prepared(
            Setup((site.cpus,), backfill_on_nodes, memory=memory, nodes=node_table(site)),
            arrivals.walltime,
            on_nodes=lambda state: where(state, site),
            refused=lambda state, job: ("nodes", "its nodes never have as much as it asks for: not run"),
        )


def tables(site: Site, arrivals: Arrivals, whole: bool, depth: int) -> Memory:
    """The tables of Slurm's rules as far as the choice of nodes needs them, and room for reservations."""
    from headway.policies.slurm.setup.setup import controller
    from headway.policies.slurm.setup.site_tables import node_table
    from headway.policies.slurm.tables.life import Levels
    from headway.policies.slurm.tables.passes import Plans
    from headway.policies.slurm.tables.settings import Preemption

    memory = controller(site, arrivals, 0)
    memory.settings.bf_max_test = depth
    memory.settings.preemption = Preemption.OFF
    if whole:
        memory.jobs.exclusive[:] = 1
    memory.jobs.switches[:] = 0  # nobody waits for few switches
    memory.jobs.partition[:] = first_partitions(memory)
    rows = node_table(site)
    return memory._replace(
        least=Nodes(rows.copy()),
        instant=Nodes(rows.copy()),
        claims=np.zeros((depth * len(rows), len(site.nodes)), np.int64),
        plans=zeros(Plans, depth),
        levels=Levels(memory.levels[:, :0].copy()),  # nobody is suspended
    )


def first_partitions(memory: Memory) -> Table:
    """The first partition of each job's list that is large and long enough for it; else the first."""

    lists, partitions, jobs = memory.lists[memory.jobs.partitions], memory.partitions, memory.jobs
    found = np.full(jobs.shape[1], -1, np.int64)
    for column in lists.T:
        nodes, longest = partitions.nodes[column], partitions.max_minutes[column]
        most = partitions.max_nodes[column]
        allows = (column >= 0) & (jobs.min_nodes <= nodes)
        allows &= (most < 0) | (jobs.min_nodes <= most)
        allows &= (longest < 0) | (jobs.limit <= longest)
        found = np.where((found < 0) & allows, column, found)
    return np.where(found < 0, lists[:, 0], found)


def where(state: State, site: Site) -> OnNodes:
    """Where jobs ran."""

    return OnNodes(
        nodes=tuple(node.name for node in site.nodes),
        partition=state.memory.jobs.partition,
        partitions=tuple(partition.name for partition in site.partitions),
        walltime=state.jobs.wall,
    )
