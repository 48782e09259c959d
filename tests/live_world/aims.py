"""The writes of journal and queues, and the clusters under which each happens: seed by seed, side by side.

A world aims at one side of one write: there a process is killed at the first passing, or at a later one.
"""

from __future__ import annotations

from typing import Any

WRITES: dict[str, str] = {
    "accounts._heard set_task UPDATE": "",
    "accounts._look_for set_attempt UPDATE": "",
    "accounts._over happened UPDATE": "",
    "accounts._over set_attempt UPDATE": "",
    "accounts._over set_task UPDATE": "",
    "accounts._over together COMMIT": "",
    "accounts._release set_attempt UPDATE": "",
    "accounts._take_back set_attempt UPDATE": "",
    "accounts.settle set_task UPDATE": "",
    "agent.__init__ __init__ INSERT": "",
    "agent._reallocate_if_due set_fact INSERT": "",
    "agent._remember decide INSERT": "",
    "agent._remember set_task UPDATE": "",
    "agent._remember together COMMIT": "",
    "agent.arrive decide INSERT": "",
    "agent.forget forget COMMIT": "",
    "agent.forget forget DELETE": "",
    "agent.on_cancel set_task UPDATE": "",
    "agent.on_submit add_task COMMIT": "",
    "agent.on_submit add_task INSERT": "",
    "agent.on_submit add_task UPDATE": "",
    "proxy.accepted estimated INSERT": "",
    "proxy.accepted set_attempt UPDATE": "",
    "proxy.accepted together COMMIT": "",
    "proxy.cancel set_attempt UPDATE": "",
    "proxy.submit add_attempt COMMIT": "",
    "proxy.submit add_attempt INSERT": "",
    "proxy.submit add_attempt UPDATE": "",
    "proxy.submit set_attempt UPDATE": "",
    "accounts._heard decide INSERT": "slurm slurm",
    "accounts._heard set_attempt UPDATE": "slurm slurm",
    "accounts._note_start set_start INSERT": "local local",
    "local_server.__init__ __init__ COMMIT": "local local",
    "local_server.__init__ __init__ INSERT": "local local",
    "local_server._carry_out commit COMMIT": "local local",
    "local_server._do set UPDATE": "local local",
    "local_server._end note INSERT": "local local",
    "local_server._ended _set UPDATE": "local local",
    "local_server._find_process _set UPDATE": "local local",
    "local_server._forget begin_anew DELETE": "local local",
    "local_server._forget begin_anew INSERT": "local local",
    "local_server._forget commit COMMIT": "local local",
    "local_server._forget forget DELETE": "local local",
    "local_server._go_on _set UPDATE": "local local",
    "local_server._go_on stand INSERT": "local local",
    "local_server._join_again _set UPDATE": "local local",
    "local_server._join_again note INSERT": "local local",
    "local_server._launch _set UPDATE": "local local",
    "local_server._look stand INSERT": "local local",
    "local_server._recover commit COMMIT": "local local",
    "local_server._recover set UPDATE": "local local",
    "local_server._restore begin_anew DELETE": "local local",
    "local_server._restore begin_anew INSERT": "local local",
    "local_server._write _set UPDATE": "local local",
    "local_server.cancel _set UPDATE": "local local",
    "local_server.cancel note INSERT": "local local",
    "local_server.kill _set UPDATE": "local local",
    "local_server.kill commit COMMIT": "local local",
    "local_server.release _set UPDATE": "local local",
    "local_server.release commit COMMIT": "local local",
    "local_server.submit add INSERT": "local local",
    "local_server.submit note INSERT": "local local",
    "proxy.accepted set_task UPDATE": "local local",
    "steered._ended _set UPDATE": "steered steered",
    "steered._find_process _set UPDATE": "steered steered",
    "steered._look stand INSERT": "steered steered",
    "steered._see_ends _set UPDATE": "steered steered",
}
"""By the names of who writes, the method of journal or queue, and of the statement; empty: any clusters."""

SCENES = ("", "slurm slurm", "", "local local", "", "steered local", "slurm local", "")
"""Of seeds whose write is one of the agent's; empty: drawn."""
SIDES = [(site, when) for site in WRITES for when in ("before", "after")]


def aimed(seed: int) -> dict[str, Any]:
    """The write at which a seed aims, in a world that has it."""
    site, when = SIDES[seed % len(SIDES)]
    scene = WRITES[site] or SCENES[seed // len(SIDES) % len(SCENES)]
    return {"aim": (site, when), "scene": scene}
