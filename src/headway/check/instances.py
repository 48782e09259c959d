"""Small and awkward workloads: ties, jobs of no length, jobs as wide as the machine, early ends, kills.

One on which something goes wrong can be made smaller, as long as it still goes wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from headway.workload import Workload

SEED = 20_240_229


class Request(NamedTuple):
    """One job; times in whole seconds."""

    submit: int
    procs: int
    walltime: int
    runtime: int
    user: int = 1


@dataclass(frozen=True)
class Instance:
    """Some jobs, in the order of the log, and a machine."""

    procs: int
    jobs: tuple[Request, ...]

    def __len__(self) -> int:
        return len(self.jobs)

    def workload(self) -> Workload:
        columns = [list(column) for column in zip(*self.jobs, strict=True)]
        submit, procs, walltime, runtime, user = columns
        return Workload.from_arrays(
            unit="s", submit=submit, procs=procs, walltime=walltime, runtime=runtime, user=user
        )

    def without(self, place: int) -> Instance:
        return replace(self, jobs=self.jobs[:place] + self.jobs[place + 1 :])

    def changed(self, place: int, **values: int) -> Instance:
        job = self.jobs[place]._replace(**values)
        return replace(self, jobs=(*self.jobs[:place], job, *self.jobs[place + 1 :]))

    def table(self) -> str:
        """The jobs as lines of text."""
        names = ("job", "submit", "procs", "walltime", "runtime", "user")
        rows = [names, *((str(n), *map(str, job)) for n, job in enumerate(self.jobs, 1))]
        return "\n".join("  ".join(f"{cell:>8}" for cell in row) for row in rows)


AWKWARD = (
    # one job; two that exclude each other; one behind another that ends early
    Instance(4, (Request(0, 4, 10, 10),)),
    Instance(4, (Request(0, 4, 10, 10), Request(0, 4, 10, 10))),
    Instance(4, (Request(0, 3, 10, 2), Request(1, 2, 5, 5))),
    # a wide head, a short job that may pass it, a long one that may not
    Instance(4, (Request(0, 3, 10, 10), Request(1, 4, 10, 10), Request(2, 1, 5, 5), Request(2, 1, 50, 50))),
    # jobs of no length, and one that is killed
    Instance(2, (Request(0, 2, 5, 0), Request(0, 2, 5, 9), Request(0, 1, 0, 0), Request(5, 2, 5, 5))),
    # an end and an arrival at the same instant
    Instance(2, (Request(0, 2, 10, 10), Request(10, 1, 5, 5), Request(10, 2, 5, 5))),
    # a silence, then a crowd
    Instance(3, (Request(0, 1, 3, 3), *(Request(1000, n % 3 + 1, 9 - n, 9 - n) for n in range(7)))),
    # many narrow jobs around one wide one
    Instance(8, (*(Request(n, 1, 20, 7 + n) for n in range(8)), Request(3, 8, 9, 9), Request(4, 1, 30, 3))),
)


def instances(count: int = 40) -> Iterator[Instance]:
    """The awkward ones, then random ones, the same in every run."""
    yield from AWKWARD
    random = np.random.default_rng(SEED)
    for number in range(count):
        procs = int(random.choice([1, 2, 4, 7]))
        jobs = int(random.integers(2, 9)) if number < count - 4 else 40
        span = int(random.choice([1, 10, 40])) * jobs // 4
        yield Instance(procs, tuple(_request(random, procs, span) for _ in range(jobs)))


def _request(random: np.random.Generator, procs: int, span: int) -> Request:
    walltime = int(random.choice([1, 5, 10, 30]))
    part = float(random.choice([0.0, 0.3, 1.0, 1.0, 1.5]))
    return Request(
        submit=int(random.integers(0, span + 1)),
        procs=int(random.integers(1, procs + 1)) if random.random() < 0.8 else procs,
        walltime=walltime,
        runtime=int(part * walltime),
        user=int(random.integers(1, 4)),
    )


TRIES = 400
"""Workloads tried at most."""


def shrunk(
    instance: Instance, message: str, breaks: Callable[[Instance], str], most: int = TRIES
) -> tuple[Instance, str]:
    """The smallest workload found by dropping jobs, then by making numbers smaller, and what it shows.

    ``breaks`` says in words what goes wrong on a workload, nothing if all is well.
    """
    tries = 0
    progress = True
    while progress:
        progress = False
        for smaller in _smaller(instance):
            tries += 1
            if tries > most:
                return instance, message
            if found := breaks(smaller):
                instance, message, progress = smaller, found, True
                break
    return instance, message


def _smaller(instance: Instance) -> Iterator[Instance]:
    """Workloads a little smaller, the boldest steps first."""
    jobs = len(instance)
    if jobs > 4:
        for first in range(0, jobs, jobs // 2):
            kept = instance.jobs[:first] + instance.jobs[first + jobs // 2 :]
            if kept:
                yield replace(instance, jobs=kept)
    for place in range(jobs - 1, -1, -1):
        if jobs > 1:
            yield instance.without(place)
    widest = max(job.procs for job in instance.jobs)
    for procs in {1, instance.procs // 2, instance.procs - 1}:
        if widest <= procs < instance.procs:
            yield replace(instance, procs=procs)
    for place, job in enumerate(instance.jobs):
        for name, least in (("submit", 0), ("procs", 1), ("walltime", 1), ("runtime", 0), ("user", 1)):
            value = getattr(job, name)
            for less in sorted({least, value // 2, value - 1}):
                if least <= less < value:
                    yield instance.changed(place, **{name: less})
        if job.runtime > 1 and job.walltime == job.runtime:
            yield instance.changed(place, walltime=1, runtime=1)
