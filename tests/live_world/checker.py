"""What clients were told against the marks that tasks left; nothing of the code is known here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headway.units import SECOND

if TYPE_CHECKING:
    from live_world.world import World

OVER = ("done", "failed", "killed", "cancelled", "refused")
TOLERANCE = 5 * SECOND
"""Messages and processes take some time."""


@dataclass
class Asked:
    """A task as its client knows it, and what the client was told of it."""

    name: str
    length: int
    walltime: int
    status: int
    number: int | None = None
    state: str = ""
    forgotten: bool = False
    """Whether it was told that there is no such task, as of one that ended long ago."""
    last: dict[str, Any] = field(default_factory=dict)
    taken_back: int | None = None
    """When it was confirmed that the task is cancelled."""
    promises: list[tuple[int, str, int]] = field(default_factory=list)
    """(when it was told, cluster, latest end)."""

    @property
    def is_over(self) -> bool:
        return self.state in OVER or self.forgotten

    def hears(self, told: dict[str, Any], t: int) -> None:
        if self.state in OVER and told["state"] != self.state:
            self.state = f"{self.state}, then {told['state']}"
            return
        self.state, self.last = told["state"], told
        if told["state"] == "cancelled" and self.taken_back is None:
            self.taken_back = t
        if told["state"] == "waiting" and told["latest_end"] is not None and "cluster" in told:
            self.promises.append((t, told["cluster"], told["latest_end"]))


def judged(every: Sequence[Asked], world: World) -> Iterator[str]:
    """What is wrong."""
    ended = dict(world.ends)
    ends = Counter(name for name, _ in world.ends)
    for asked in every:
        name, state = asked.name, asked.state
        starts = [(fence, at) for each, fence, at in world.starts if each == name]
        if not asked.is_over:
            yield f"{name} has not ended: it is {state or 'not accepted'}"
        if any(count > 1 for count in Counter(fence for fence, _ in starts).values()):
            yield f"{name} ran {len(starts)} times"
        if ends[name] > 1:
            yield f"{name} ran to its end {ends[name]} times"
        if state == "done" and (ends[name] != 1 or asked.status):
            yield f"{name} is told done, and ended {ends[name]} times with status {asked.status}"
        if state == "failed" and name not in world.harmed and not (ends[name] == 1 and asked.status):
            yield f"{name} is told failed, and nothing was wrong with it"
        if state == "killed" and name not in world.harmed and (asked.length < asked.walltime or ends[name]):
            yield f"{name} is told killed, and would have ended before its walltime"
        if state in ("cancelled", "refused") and ends[name]:
            yield f"{name} is told {state}, and ran to its end"
        if state == "refused":
            yield f"{name} is refused, and there was room for it"
        if asked.taken_back is not None and any(at > asked.taken_back for _, at in starts):
            yield f"{name} started after its cancellation was confirmed"
        if state in ("done", "failed") and ends[name] == 1:
            told = asked.last.get("ended")
            cluster = asked.last.get("cluster", "")
            late = TOLERANCE + world.unattended[cluster] + world.unattended["agent"]
            if told is not None and not ended[name] - late <= told <= ended[name] + late:
                yield f"{name} is told to have ended {(told - ended[name]) / SECOND:g} s after it did"
            if asked.promises and name not in world.harmed:
                latest = asked.promises[-1][2]
                if ended[name] > latest + late:
                    yield f"{name} ended {(ended[name] - latest) / SECOND:g} s after the latest end told"
