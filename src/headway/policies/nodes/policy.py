"""Policies that put each job inside one node, as Headway asks them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from headway.errors import UsageError
from headway.policies.entry import Parameter
from headway.policies.policy import Policy, Seen
from headway.policies.references import GONTHIER_2022, GONTHIER_2023

if TYPE_CHECKING:
    from headway.engine.tables import State
    from headway.platform import Platform
    from headway.policies.nodes.setup import Machine
    from headway.policies.prepare import Arrivals, Prepared
    from headway.workload import Workload

Hook = Callable[[int, "State"], None]
Weights = tuple[Fraction, Fraction, Fraction]
"""X, Y and Z of the score: of the wait for the file, of files pushed out, of copies elsewhere."""

NO_WEIGHTS: Weights = (Fraction(0), Fraction(0), Fraction(0))
EARLIEST: Weights = (Fraction(1), Fraction(0), Fraction(0))
LOCALITY: Weights = (Fraction(500), Fraction(1), Fraction(0))

NODES = "a platform with nodes, such as rackham"
FILES = "the columns file and file_gb: annotations, or the transformation files"
SIZES = "the column needs_node_gb (a job without is of the smallest size): annotations, or files"
ON = "log.swf.gz --platform rackham --annotations files.csv"


class OnNodes(Policy):
    """What all of them have in common."""

    citation: ClassVar[tuple[str, ...]] = (GONTHIER_2022, GONTHIER_2023)
    needs: ClassVar[tuple[str, ...]] = (NODES, FILES)
    example_on = ON

    presence = Parameter(
        "how long a file stays on a node: while some user runs or has just ended there (contiguous), until "
        "a job without it starts there (until-next-start), or until the memory overflows (lru); a job that "
        "is killed while it loads leaves no file",
        "contiguous",
        ("contiguous", "until-next-start", "lru"),
    )
    match = Parameter(
        "nodes a job may run on: with at least the memory it needs (fits), of the smallest size that will do "
        "(exact), or all (any); now: of that size, and larger ones where it can start at once, jobs of the "
        "largest size first, as backfill-big has it",
        "fits",
        ("fits", "exact", "now", "any"),
    )

    by_size: ClassVar[bool] = False
    """Whether the memory sizes of nodes make the choice."""
    remark: ClassVar[str] = ""
    backfills = False
    """Whether jobs may be planned in windows before the last planned end."""

    def prepare(self, arrivals: Arrivals, procs: int) -> Prepared:
        from headway.policies.nodes.setup import Machine

        machine = Machine(arrivals, self.match, self.presence, self.backfills)
        return machine.prepared(self.set_up(machine), self.big_first, self.remark)

    def set_up(self, machine: Machine) -> Hook:
        """Write the policy's own rules into the tables of the machine; its compiled form."""
        raise NotImplementedError

    @property
    def big_first(self) -> bool:
        """Whether jobs of the largest memory size go first."""
        return self.match == "now"

    def on(self, platform: Platform, workload: Workload) -> Policy:
        if not platform.has_nodes:
            raise UsageError(
                f"{self.spec.name} puts jobs inside nodes and this platform has none; give one with nodes, "
                "such as --platform rackham"
            )
        if len(platform.clusters) > 1:
            raise UsageError(
                f"{self.spec.name} on nodes schedules one cluster; give a platform of one cluster"
            )
        self.refuse_local_policies(platform)
        return self

    def fitting(self, workload: Workload, platform: Platform) -> Workload:
        from headway.policies.nodes.placing import fit_to_nodes

        return fit_to_nodes(workload, platform, self.match)

    def laws(self, seen: Seen) -> tuple[str, ...]:
        return ("node size", "file waits", "file counts") if "node" in seen.places else ()


class Scored(OnNodes):
    """The lowest score of start, loads, evictions and copies; the weights make the policy."""

    backfill = Parameter(
        "a job is planned on the first cores to come free (none), or in the first window of its length "
        "(conservative)",
        "none",
        ("none", "conservative"),
    )
    presence, match = OnNodes.presence, OnNodes.match

    rule: ClassVar[str] = "fixed"
    """Whether the weights are ``fixed``, or by node (``leo``) or by load (``lem``) sometimes those of EFT."""

    weights: Weights

    def weights_at(self, is_free: bool, busy: int, nodes: int) -> Weights:
        """The weights for a node that is free now or not, while so many of the nodes run a job."""
        return self.weights

    @property
    def backfills(self) -> bool:  # type: ignore[override]
        return self.backfill == "conservative"

    def on(self, platform: Platform, workload: Workload) -> Policy:
        placed = super().on(platform, workload)
        from headway.policies.nodes.placing import HOW_TO_ADD, has_files

        if not has_files(workload):
            raise UsageError(f"{self.spec.name} scores input files and the workload has none; {HOW_TO_ADD}")
        return placed

    def set_up(self, machine: Machine) -> Hook:
        from headway.policies.nodes.scored import scored
        from headway.policies.nodes.setup import weigh

        weigh(self.spec, self.rule, self.weights, machine)
        return scored

    def laws(self, seen: Seen) -> tuple[str, ...]:
        found = super().laws(seen)
        return (*found, "node order") if found and not self.backfills else found


class Eft(Scored):
    """Earliest finish time on nodes: start plus wait for the input file.

    X = 1, Y = Z = 0.
    """

    name = "eft"
    example = "eft(backfill=conservative)"

    weights = EARLIEST


class Lea(Scored):
    """Locality above all: a second of loading counts as much as 500 of waiting.

    X = 500, Y = 1, Z = 0.
    """

    name = "lea"
    example = "lea(backfill=conservative)"

    weights = LOCALITY


class Leo(Lea):
    """Locality or earliest: a node that is free now is judged as by eft, others as by lea.

    Judged node by node.
    """

    name = "leo"
    example = "leo(backfill=conservative)"

    rule = "leo"

    def weights_at(self, is_free: bool, busy: int, nodes: int) -> Weights:
        return EARLIEST if is_free else LOCALITY


class Lem(Lea):
    """Locality when the machine is full: lea if every node runs a job, else eft.

    Jobs started earlier in the same pass count.
    """

    name = "lem"
    example = "lem(threshold=0.8)"

    threshold = Parameter(
        "share of the nodes that must run a job; 0.8 is the first report's", 1.0, number=float, low=0
    )

    rule = "lem"

    def weights_at(self, is_free: bool, busy: int, nodes: int) -> Weights:
        return LOCALITY if Fraction(busy, nodes) >= self.spec.fraction("threshold") else EARLIEST


class Score(Scored):
    """First come, first served on nodes by a score of start, loads, evictions and copies.

    A job goes to the node with the lowest A + X B + Y C + Z D: A its start there, B the wait for its file, C
    the load times of the files it pushes out times its share of the cores, D the copies on other nodes times
    the load time. Each arrival and completion plans the whole queue anew. Without weights (0, 0, 0) it is
    fcfs.
    """

    name = "score"
    example = "score(load=10, evict=7000, copies=0)"

    load = Parameter("X, the weight of the wait for the file", 1, number=float, low=0)
    evict = Parameter("Y, the weight of load times of files pushed out", 1, number=float, low=0)
    copies = Parameter("Z, the weight of copies elsewhere", 1, number=float, low=0)

    @property
    def weights(self) -> Weights:  # type: ignore[override]
        x, y, z = (self.spec.fraction(name) for name in ("load", "evict", "copies"))
        return x, y, z


class FcfsInside(Scored):
    """FCFS inside nodes: nothing but the start counts."""

    weights = NO_WEIGHTS

    def on(self, platform: Platform, workload: Workload) -> Policy:
        return OnNodes.on(self, platform, workload)  # with or without files


class ConservativeInside(FcfsInside):
    """Conservative backfilling inside nodes."""

    backfills = True
    remark = "on nodes conservative backfilling plans every job again at each event (compress=scratch)"


class EasyInside(OnNodes):
    """EASY inside nodes."""

    def set_up(self, machine: Machine) -> Hook:
        from headway.policies.nodes.easy import easy_on_nodes

        return easy_on_nodes


class BackfillBig(OnNodes):
    """Jobs of the largest memory size first; a job that cannot start on its size may on a larger one.

    Looks at sizes only; files are loaded all the same. The reference is fcfs(match=exact).
    """

    name = "backfill-big"
    citation = (GONTHIER_2022,)
    needs = (NODES, SIZES)
    example = "backfill-big(allowance=mean)"

    allowance = Parameter(
        "a job goes to the smallest size on which it can start at once (none), or at once or after a "
        "wait that is no longer than the mean wait so far (mean); else it is planned on its own size",
        "none",
        ("none", "mean"),
    )
    presence = OnNodes.presence
    match = "fits"

    by_size = True
    big_first = True

    def set_up(self, machine: Machine) -> Hook:
        from headway.policies.nodes.sizes import backfill_big

        machine.memory.rules.form = self.allowance == "mean"
        return backfill_big


class AreaFilling(OnNodes):
    """Jobs use larger memory sizes within areas planned from earlier jobs.

    What a job did not use of its walltime is given back at its end.
    """

    name = "area-filling"
    citation = (GONTHIER_2022,)
    needs = (NODES, SIZES)
    example = "area-filling(areas=./last-month.swf)"

    tmax = Parameter(
        "the level to which each size is filled: the largest mean over a size and all above it "
        "(max), or the mean over all nodes (mean)",
        "max",
        ("max", "mean"),
    )
    areas = Parameter(
        "the earlier jobs whose processors x walltime are planned: those of the first days of the "
        "workload (until then nothing is planned, and every job keeps to its own size), those of "
        "another log, a file as convert writes it, or all of the workload, which nobody knows before",
        1,
        ("all",),
        float,
        low=0,
        open_low=True,
        unit="days",
        file=True,
    )
    form = Parameter(
        "a job on a larger size uses up the planned area (plan), or a part of the larger size's "
        "cores that grows with the time since the first submission (ratio)",
        "plan",
        ("plan", "ratio"),
    )
    presence = OnNodes.presence
    match = "fits"

    by_size = True

    def set_up(self, machine: Machine) -> Hook:
        from headway.policies.nodes.setup import plan_areas
        from headway.policies.nodes.sizes import area_filling

        plan_areas(self.spec, machine)
        return area_filling

    def areas_of_log(self, sizes: Sequence[float]) -> list[int]:
        """Areas of the jobs of each memory size in the log that ``areas`` names."""
        from headway.policies.nodes.setup import areas_of_log

        return areas_of_log(self.spec.word("areas"), sizes)

    def laws(self, seen: Seen) -> tuple[str, ...]:
        found = super().laws(seen)
        return (*found, "planned areas") if found else ()
