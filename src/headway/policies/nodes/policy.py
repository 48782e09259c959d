"""Policies that put each job inside one node, as Headway asks them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from headway.errors import UsageError
from headway.policies.nodes.placing import HOW_TO_ADD, fit_to_nodes, has_files
from headway.policies.policy import Policy, Seen

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


class OnNodes(Policy):
    """What all of them have in common."""

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
    def presence(self) -> str:
        """How long a file stays on a node."""
        return self.spec.word("presence")

    @property
    def match(self) -> str:
        """Which nodes a job may run on."""
        return str(self.params.get("match", "fits"))

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
        return fit_to_nodes(workload, platform, self.match)

    def laws(self, seen: Seen) -> tuple[str, ...]:
        return ("node size", "file waits", "file counts") if "node" in seen.places else ()


class Scored(OnNodes):
    """The lowest score of start, loads, evictions and copies; the weights make the policy."""

    rule: ClassVar[str] = "fixed"
    """Whether the weights are ``fixed``, or by node (``leo``) or by load (``lem``) sometimes those of EFT."""

    @property
    def weights(self) -> Weights:
        x, y, z = (self.spec.fraction(name) for name in ("load", "evict", "copies"))
        return x, y, z

    def weights_at(self, is_free: bool, busy: int, nodes: int) -> Weights:
        """The weights for a node that is free now or not, while so many of the nodes run a job."""
        return self.weights

    @property
    def backfills(self) -> bool:  # type: ignore[override]
        return self.params.get("backfill", "none") == "conservative"

    def on(self, platform: Platform, workload: Workload) -> Policy:
        placed = super().on(platform, workload)
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
    """Earliest finish time."""

    weights = EARLIEST


class Lea(Scored):
    """Locality above all."""

    weights = LOCALITY


class Leo(Lea):
    """A node that is free now is judged as by EFT."""

    rule = "leo"

    def weights_at(self, is_free: bool, busy: int, nodes: int) -> Weights:
        return EARLIEST if is_free else LOCALITY


class Lem(Lea):
    """As EFT while few nodes run a job."""

    rule = "lem"

    @property
    def threshold(self) -> Fraction:
        """The share of the nodes that must run a job."""
        return self.spec.fraction("threshold")

    def weights_at(self, is_free: bool, busy: int, nodes: int) -> Weights:
        return LOCALITY if Fraction(busy, nodes) >= self.threshold else EARLIEST


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
    """Jobs of the largest memory size first; others may go to a larger size."""

    by_size = True
    big_first = True

    def set_up(self, machine: Machine) -> Hook:
        from headway.policies.nodes.sizes import backfill_big
        from headway.policies.nodes.tables import Rule

        machine.memory.rules[Rule.FORM] = self.params["allowance"] == "mean"
        return backfill_big


class AreaFilling(OnNodes):
    """Jobs use larger memory sizes within areas planned from earlier jobs."""

    by_size = True

    def set_up(self, machine: Machine) -> Hook:
        from headway.policies.nodes.setup import plan_areas
        from headway.policies.nodes.sizes import area_filling

        plan_areas(self.spec, machine)
        return area_filling

    def areas_of_log(self, sizes: Sequence[float]) -> list[int]:
        """Areas of the jobs of each memory size in the log that ``areas`` names."""
        from headway.policies.nodes.areas import areas_of_log

        return areas_of_log(self.spec.word("areas"), sizes)

    def laws(self, seen: Seen) -> tuple[str, ...]:
        found = super().laws(seen)
        return (*found, "planned areas") if found else ()
