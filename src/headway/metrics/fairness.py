"""How evenly users are served: the spread of the users' mean bounded slowdowns.

With b_u the mean bounded slowdown of user u over the user's measured jobs, and one value per user whatever
the number of jobs: `std` is the population standard deviation of the b_u, `cv` the standard deviation over
their mean, `max_over_median` the worst-served user against the median one. All are 0, 0 and 1 where every
user fares alike. Jobs whose user the log does not know (-1) are left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def fairness(users: list[dict[str, Any]]) -> dict[str, float | int | None]:
    """Spread over the rows of the table by user; nulls where no user is known."""
    means = np.array([row["mean_bsld"] for row in users if row["user"] not in (-1, None)])
    if not len(means):
        return {"users": 0, "mean": None, "std": None, "cv": None, "max_over_median": None}
    mean, std = float(means.mean()), float(means.std())
    return {
        "users": len(means),
        "mean": mean,
        "std": std,
        "cv": std / mean,
        "max_over_median": float(means.max() / np.median(means)),
    }
