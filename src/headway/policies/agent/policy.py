"""A trained agent as Headway asks it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.policies.entry import Parameter
from headway.policies.policy import Policy

if TYPE_CHECKING:
    from headway.engine.tables import State
    from headway.platform import Platform
    from headway.policies.agent.network import Network
    from headway.policies.prepare import Arrivals, Prepared
    from headway.workload import Workload

ALWAYS = "present"
"""A feature of every job that can be chosen, so that it decides nothing."""


class Agent(Policy):
    """A trained agent: a small network chooses among the first jobs of the queue.

    The file says what it was trained for: to choose any job that fits, which job may pass the head of the
    queue, or the weights of a priority, once a period, for EASY in that order. The name of the file alone
    means the same.
    """

    name = "agent"
    citation = (
        "D. Zhang, D. Dai, Y. He, F. S. Bao and B. Xie, RLScheduler: an automated HPC batch job "
        "scheduler using reinforcement learning, SC 2020, doi:10.1109/SC41405.2020.00035",
    )
    needs = ("a file of a trained agent",)
    example = "agent(file=./agent.npz)"

    file = Parameter("the agent's file (.npz)", "agent.npz", file=True)

    def on(self, platform: Platform, workload: Workload) -> Policy:
        self.network()
        return super().on(platform, workload)

    def network(self) -> Network:
        """The agent's file, read."""
        from headway.policies.agent.network import load_network

        return load_network(self.spec.word("file"))

    def prepare(self, arrivals: Arrivals, procs: int) -> Prepared:
        from headway.engine.setup import Setup
        from headway.engine.tables import JobTable
        from headway.policies.agent.agent import agent
        from headway.policies.agent.choices import MORE_ROWS, QUEUE_OPTIONS
        from headway.policies.agent.features import NAMES, WEIGHED_NAMES
        from headway.policies.agent.weights import agent_of_weights
        from headway.policies.prepare import Prepared
        from headway.policies.queueing.setup import ordered

        network = self.network()
        fill = ordered(arrivals, arrivals.walltime, {JobTable["key"]: "fcfs"}, None)
        memory = tables_of(network, arrivals.origin)
        by_weights = network.task == "weights"
        hook = agent_of_weights if by_weights else agent
        setup = Setup((procs,), hook, QUEUE_OPTIONS, fill, more_rows=MORE_ROWS, memory=memory)
        file = self.spec.word("file")
        source = {"name": Path(file).name, "file": file, "sha256": network.digest}
        noted, names = ("weighed_by", WEIGHED_NAMES) if by_weights else ("decided_by", NAMES)
        return Prepared(
            setup,
            arrivals.walltime,
            own=lambda state: decided(state, names),
            notes=lambda state, ids: {noted: what_decided(state)},
            source=source,
        )


def tables_of(network: Network, origin: int) -> Any:
    """What the hook finds in its memory."""
    import numpy as np

    from headway.policies.agent.agent import NetworkTables, Shape
    from headway.policies.agent.choices import agent_tables, settings_of
    from headway.policies.agent.features import OF_MACHINE, OF_SLOT
    from headway.policies.agent.network import ACTIVATIONS, KINDS, TASKS

    window, widths = network.window, network.widths
    settings = settings_of(TASKS.index(network.task), window, origin, network.period, network.may_wait)
    shape = KINDS.index(network.kind), ACTIVATIONS.index(network.activation), len(network.layers)
    return NetworkTables(
        agent_tables(settings, window, window * OF_SLOT + OF_MACHINE),
        shape=Shape(np.array(shape, np.int64)),
        widths=np.array(widths, np.int64),
        network=network.flat,
        layers=np.zeros((2, max(widths))),
        scores=np.zeros(2 * window + 1),
    )


def decided(state: State, names: Sequence[str]) -> dict[str, object]:
    """How many starts each feature, or each part of the priority, decided where there was a choice."""
    import numpy as np

    counts = np.bincount(what_decided(state), minlength=len(names) + 1)[1:]
    return {
        f"decided_by_{name}": int(count) for name, count in zip(names, counts, strict=True) if name != ALWAYS
    }


def what_decided(state: State) -> Any:
    """The number of what decided each job's start, plus 1; 0 where there was no choice."""
    from headway.policies.agent.choices import AgentJobs

    return AgentJobs(state.jobs).decided_by.copy()
