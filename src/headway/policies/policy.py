"""A policy with its parameters: the object that answers all of Headway's questions about a policy.

Each policy is one class in its folder. Its docstring says what the policy does, in a sentence that the
catalogue shows, and more of it after that; parameters stand in the class body as :class:`Parameter`. A method
that a policy does not define gives the answer for most: one machine, one queue, no invariants of its own.

    spec.policy                       the object of a parsed spec
    .on(platform, workload)           its form there, or the reason why it has none
    .on_cluster()                     the same on a cluster that exists, live or in a grid
    .to_run(platform, workload)       the same for a simulation, where outages and feedback may come too
    .pools, .fitting, .prepare        processors, jobs, and what the engine runs
    .as_local, .as_group              what a grid or redirection needs to use it inside
    .laws                             the invariants that the audit checks
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from headway.errors import UsageError
from headway.plain import close
from headway.policies.entry import Parameter, Read
from headway.policies.pools import Pool

if TYPE_CHECKING:
    from headway.arrays import Ints
    from headway.engine.local import Local
    from headway.engine.submissions import Submissions
    from headway.platform import Platform
    from headway.policies.own.live import Hook, Known
    from headway.policies.prepare import Arrivals, Prepared
    from headway.policies.redirection.group import Group
    from headway.policies.spec import Spec
    from headway.workload import Workload


class Seen(Protocol):
    """The parts of a schedule that decide which invariants can be checked on it."""

    @property
    def places(self) -> Mapping[str, Any]: ...
    @property
    def pieces(self) -> Any: ...
    @property
    def urgent(self) -> Any: ...
    @property
    def outages(self) -> Any: ...


class Policy:
    """The answers for most policies; each policy overrides those in which it differs."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """What it does, in a sentence."""
    details: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    citation: ClassVar[tuple[str, ...]]
    """The papers to cite."""
    needs: ClassVar[tuple[str, ...]] = ()
    """In a few words each, what must be there besides a log and a number of processors."""
    example: ClassVar[str] = ""
    example_on: ClassVar[str] = "log.swf.gz"
    """What the example runs on: a log and options, or a site."""
    example_command: ClassVar[str]
    """A command that runs the policy, with all that it needs."""
    parameters: ClassVar[tuple[Parameter, ...]]

    is_grid = False
    """Whether its pools are the clusters of a grid."""
    has_groups = False
    """Whether it divides the machine into groups, or takes more processors than the machine has."""
    nests = False
    """Whether policies are nested in it, each of which has keys of its own."""
    takes_outages = False
    """Whether it schedules on a machine whose processors come and go."""
    why_no_outages = "it plans for a machine that stays as it is"
    """The reason, where it does not."""
    takes_feedback = False
    """Whether jobs may be submitted when others end: all that it records of a job is in the job's column."""
    in_place = False
    """Whether it takes them with feedback at their columns, as jobs that return."""
    takes_cancelled = False
    """Whether its queue holds jobs that are cancelled while they wait; other policies leave them out."""
    goes_on = False
    """Whether it takes jobs that ran or were submitted before its first instant (columns `ran`, `since`)."""
    by_site_rules = False
    """Whether it goes by its site's own rules: priorities, limits, reservations, the controller's clocks."""
    keeps_processors = False
    """Whether the processors of suspended jobs are for urgent jobs only."""
    in_file_order = False
    """Whether the order of the file decides ties, so that the policy must know it."""
    laws_of_the_queue = True
    """Whether its invariants look at the whole queue: then they do not apply if jobs were removed."""

    def __init_subclass__(cls) -> None:
        named = {name: value for kind in reversed(cls.__mro__) for name, value in vars(kind).items()}
        ordered = dict.fromkeys(name for kind in cls.__mro__ for name in vars(kind))
        cls.parameters = tuple(named[name] for name in ordered if isinstance(named[name], Parameter))
        summary, *details = inspect.cleandoc(cls.__doc__ or "").split("\n\n")
        cls.summary = " ".join(summary.split()).removesuffix(".")
        cls.details = " ".join(" ".join(details).split())
        cls.example_command = f"headway simulate {cls.example_on} --policy '{cls.example}'"

    def __init__(self, spec: Spec) -> None:
        self.spec, self.params = spec, spec.params

    @classmethod
    def complete(cls, given: Mapping[str, object], read: Read) -> dict[str, object]:
        """The value of every parameter, checked: what was given, and defaults for the rest."""
        names = [parameter.name for parameter in cls.parameters]
        for key in given:
            if key not in names:
                raise UsageError(
                    f"{cls.name} has no parameter {key!r}{close(key, names)}; it has {', '.join(names)}"
                )
        checked: dict[str, object] = {}
        for parameter in cls.parameters:
            other = parameter.instead_of
            if parameter.name in given:
                checked[parameter.name] = parameter.check(given[parameter.name], cls.name, read)
                if other in given:
                    raise UsageError(f"{cls.name}: give either {other} or {parameter.name}, not both")
                checked.pop(other, None)
            elif parameter.follows:
                checked[parameter.name] = checked[parameter.follows]
            elif not (other or parameter.optional):
                checked[parameter.name] = parameter.check(parameter.default, cls.name, read)
        return checked

    @property
    def brief(self) -> str:
        """The shortest text that tells it from other policies of the same runs."""
        return self.spec.brief

    @property
    def not_of_jobs(self) -> tuple[int, ...]:
        """Rows of the table of jobs whose columns are not jobs, but lists from the front."""
        return ()

    # ---- the machine and the jobs -----------------------------------------------------------------------

    def on(self, platform: Platform, workload: Workload) -> Policy:
        """The policy as it runs there, or a UsageError that says what it needs."""
        self.refuse_local_policies(platform)
        if len(platform.clusters) > 1:
            raise UsageError(
                f"{self.spec.name} schedules one cluster and this platform has {len(platform.clusters)}; "
                "give a platform of one cluster, or the policy reallocation, which is for several"
            )
        return self

    def on_cluster(self) -> Policy:
        """Its form on a cluster that has no other processors than its own, live or in a grid, or a
        UsageError that says why it has none."""
        return self

    def to_run(self, platform: Platform, workload: Workload) -> Policy:
        """The policy as a simulation runs it there, or a UsageError that says what it needs."""
        placed = self.on(platform, workload)
        placed.refuse_speed(platform)
        placed.refuse_outages(platform)
        placed.refuse_feedback(workload)
        return placed

    def refuse_local_policies(self, platform: Platform) -> None:
        """Only a grid looks at the policies that clusters name."""
        for cluster in platform.clusters:
            if cluster.policy:
                raise UsageError(
                    f"cluster {cluster.name!r} has a policy of its own, {cluster.policy}, which only the "
                    "policy reallocation looks at; give that one, or a platform without the key, not "
                    f"{self.spec.name}"
                )

    def refuse_speed(self, platform: Platform) -> None:
        """Only a grid, and redirection between two clusters, change how long jobs run."""
        [first, *others] = platform.clusters
        if first.speed != 1 and not others and not self.is_grid:
            raise UsageError(
                f"{self.spec.name} runs jobs for as long as the log says, and cluster {first.name!r} has "
                f"speed {first.speed:g}; leave the speed out, or give reallocation, which goes by it"
            )

    def refuse_outages(self, platform: Platform) -> None:
        """Most policies plan for a machine that stays as it is."""
        if platform.outages is not None and not self.takes_outages:
            raise UsageError(
                f"{self.spec.name} does not know processors that come and go (--events, --failures): "
                f"{self.why_no_outages}; give fcfs or another strict order, ujf, easy, conservative, dbf or "
                "a policy of your own, without files on nodes"
            )

    def refuse_feedback(self, workload: Workload) -> None:
        """Some policies must know beforehand in which order jobs are submitted."""
        if "follows" in workload and not self.takes_feedback:
            raise UsageError(
                f"{self.spec.name} lays out what it keeps of jobs in the log's order of submission, and with "
                "--feedback another comes about; give a strict order, easy, conservative, redirection, dbf, "
                "ujf, ujfb, slurm or a policy of your own, or leave out --feedback"
            )

    def refuse_stream(self) -> None:
        """Most policies keep notes of jobs, or ranks among them, for which they must see the whole log."""
        raise UsageError(
            f"{self.spec.name} cannot schedule a stream: it keeps notes of jobs that have ended, or must "
            "know all jobs beforehand; leave out --stream, or give fcfs or another strict order, easy or "
            "conservative"
        )

    def pools(self, platform: Platform) -> tuple[Pool, ...]:
        """Its processors on a platform, the pool that jobs are submitted to first."""
        return (Pool(0, "", platform.total_procs),)

    def fitting(self, workload: Workload, platform: Platform) -> Workload:
        """The jobs that can run; the ledger has the others."""
        return workload.fit_to(self.pools(platform)[0].procs)

    def widest(self, platform: Platform) -> int:
        """Processors of the widest job that it can run where policies are compared on the same jobs."""
        return platform.total_procs

    def added_procs(self, procs: int) -> int:
        """Processors that it uses besides a machine's ``procs``."""
        return 0

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of a workload that it may look at besides submit, procs and walltime."""
        if self.spec.uses_own:
            from headway.policies.own.view import PUBLIC

            return PUBLIC
        from headway.workload.annotations import COLUMNS

        return COLUMNS

    def submissions(self, workload: Workload, order: Ints) -> Submissions | None:
        """Who is submitted after whose end, in the engine's order; None where the log says when."""
        follows = workload.get("follows")
        if follows is None:
            return None
        import numpy as np

        from headway.engine.submissions import Submissions, SubmissionsInPlace

        place = np.argsort(order, kind="stable")
        leader = np.full(len(workload), -1, np.int64)
        leader[follows >= 0] = place[workload.rows_of(follows[follows >= 0])[1]]
        kind = SubmissionsInPlace if self.in_place else Submissions
        return kind(leader[order], workload.think[order], order, self.not_of_jobs)

    def prepare(self, arrivals: Arrivals, procs: int) -> Prepared:
        """What the engine needs to run it on ``procs`` processors."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it is run")

    # ---- inside another policy --------------------------------------------------------------------------

    def prepare_joining(self, arrivals: Arrivals, procs: int) -> Prepared:
        """The same where jobs come one by one, and their sizes and times are not those of the log."""
        return self.prepare(arrivals, procs)

    def as_local(self) -> Local:
        """How jobs join it, leave it and get estimates, which a cluster of a grid must know."""
        raise UsageError(f"{self.spec.name} does not say how a waiting job leaves its queue")

    def live_hook(self, prepared: Prepared, known: Known, may_stop: bool) -> Hook | None:
        """What replaces the compiled hook if jobs arrive one by one; None: nothing."""
        return None

    def as_group(self) -> Group:
        """What redirection needs to use it in one of its groups."""
        raise UsageError(f"redirection: {self.spec.name} cannot have a group of its own")

    @property
    def looks_at(self) -> tuple[str, ...]:
        """Which of ``deadline`` and ``urgent`` of a job make a difference to it."""
        return ("urgent",) if self.params.get("urgent") == "first" else ()

    def policy_of_cluster(self, platform: Platform, cluster: int) -> Policy:
        """The policy that schedules the jobs of a cluster: itself, except for a grid."""
        return self

    # ---- after the run ----------------------------------------------------------------------------------

    def without_a_rule(self) -> dict[str, str]:
        """Policies that lack one of its rules each, by the rule in words."""
        return {}

    def seen_as(self, seen: Seen) -> Policy:
        """The form of the policy that made a schedule, if it has several."""
        return self

    def laws(self, seen: Seen) -> tuple[str, ...]:
        """Names of the invariants it keeps beside the universal ones."""
        return ()

    def keeps_deadlines(self, redirected: bool) -> tuple[bool, bool]:
        """Whether it considers deadlines where a job arrives first, and where it ends."""
        return False, False


def one_queue(seen: Seen) -> bool:
    """Whether a schedule has one queue on one pool, which a replay of the queue needs."""
    return seen.pieces is None and not any(name in seen.places for name in ("group", "cluster", "node"))


def never_idle(seen: Seen) -> tuple[str, ...]:
    """Invariants of a policy whose first job starts whenever it fits."""
    return ("idle machine",) if one_queue(seen) and seen.outages is None else ()


def before_maintenance(seen: Seen) -> tuple[str, ...]:
    """Invariants of a policy that plans with walltimes, on a machine whose processors come and go."""
    return () if seen.outages is None else ("maintenance",)


def all_alike(policy: Policy, seen: Seen) -> bool:
    """Whether urgent jobs, if there are any, wait with the others."""
    urgent = seen.urgent is not None and bool(seen.urgent.any())
    return not urgent or policy.params.get("urgent", "ignore") == "ignore"
