"""Makes a workload on which something goes wrong as small as it can, while it still goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from headway.check.instances import Instance

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
