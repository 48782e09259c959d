"""What reallocation did to the tasks of a grid, against the same grid without it.

Y. Caniou, G. Charrier and F. Desprez, AusPDC 2011. A task is impacted if its completion is another than in
the reference, a run of the same tasks without reallocation. Local jobs are not counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import UsageError
from headway.schedule import Schedule


def grid_tasks(schedule: Schedule) -> NDArray[np.bool_]:
    """The jobs that the agent handles."""
    local = schedule.workload.get("local")
    return np.ones(len(schedule), np.bool_) if local is None else ~local


def impact(schedule: Schedule, reference: Schedule) -> dict[str, Any]:
    """Numbers of a run against its reference; None where no task was impacted.

    impacted: share of the tasks whose completion changed.
    reallocations: moves / tasks, which may exceed 1.
    early: share of the impacted tasks that were completed earlier.
    relative_response: mean response of the impacted tasks / the same in the reference.
    relative_response_of_all: the same over all tasks.
    local_relative_response: the same over the local jobs, which are not asked; None where there are none.
    """
    if not np.array_equal(schedule.workload.job, reference.workload.job):
        raise UsageError("the reference has other jobs; simulate the same workload with mode=none")
    tasks = grid_tasks(schedule)
    with_, without = schedule.end[tasks], reference.end[tasks]
    changed = with_ != without
    submit = schedule.submit[tasks]
    moves = 0 if schedule.moves is None else len(schedule.moves)
    numbers: dict[str, Any] = {
        "grid_tasks": int(tasks.sum()),
        "impacted": float(changed.mean()) if tasks.any() else None,
        "reallocations": moves / int(tasks.sum()) if tasks.any() else None,
        "early": float((with_ < without)[changed].mean()) if changed.any() else None,
        "relative_response": _ratio((with_ - submit)[changed], (without - submit)[changed]),
        "relative_response_of_all": _ratio(with_ - submit, without - submit),
    }
    apart = ~tasks
    numbers["local_relative_response"] = _ratio(schedule.response[apart], reference.response[apart])
    return numbers


def _ratio(with_: NDArray[np.int64], without: NDArray[np.int64]) -> float | None:
    """The ratio of the two means."""
    below = int(without.sum())
    return int(with_.sum()) / below if below else None


def came(schedule: Schedule) -> dict[str, Any]:
    """What was expected of the moves and what came; empty where none were made.

    expected_gain: mean of the gain in completion that a move was made for (s).
    kept_share: share of the moves after which the task was completed no later than was expected then.
    better_share: share of the moves after which it was completed earlier than it would have been expected to
        be without that move.
    """
    moves = schedule.moves
    if moves is None or len(moves) == 0:
        return {}
    end = schedule.end[moves.job]
    return {
        "expected_gain": float((moves.before - moves.after).mean()) / 1e6,
        "kept_share": float((end <= moves.after).mean()),
        "better_share": float((end < moves.before).mean()),
    }
