"""A trained agent."""

from __future__ import annotations

from headway.policies.entry import Parameter, PolicyInfo

ENTRIES: tuple[PolicyInfo, ...] = (
    PolicyInfo(
        "agent",
        "A trained agent: a small network chooses among the first jobs of the queue",
        (
            "D. Zhang, D. Dai, Y. He, F. S. Bao and B. Xie, RLScheduler: an automated HPC batch job "
            "scheduler using reinforcement learning, SC 2020, doi:10.1109/SC41405.2020.00035",
        ),
        (Parameter("file", "the agent's file (.npz)", "agent.npz", file=True),),
        details=(
            "The file says what it was trained for: to choose any job that fits, which job may pass the "
            "head of the queue, or the weights of a priority, once a period, for EASY in that order. The "
            "name of the file alone means the same."
        ),
        example="agent(file=./agent.npz)",
        needs=("a file of a trained agent",),
        home="headway.policies.agent.policy:Agent",
    ),
)
