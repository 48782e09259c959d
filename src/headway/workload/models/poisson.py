"""Serial jobs with Poisson arrivals: the workloads of queueing theory.

On c processors under FCFS these are the M/M/c and M/G/c queues, whose mean waits are known exactly.
"""

from __future__ import annotations

import numpy as np

from headway.arrays import Ints
from headway.binding import canonical, describe
from headway.errors import UsageError
from headway.grammar import Call, parse_call
from headway.units import SECOND
from headway.workload.models.generated import generated
from headway.workload.table import Workload


def poisson(
    jobs: int, rate: float, service: str = "exponential(1)", procs: int = 1, seed: int = 0
) -> Workload:
    """Serial jobs that arrive at random times, as queueing theory has them.

    jobs: how many.
    rate: mean arrivals a second.
    service: run times in seconds: exponential(mean), constant(value), uniform(low, high),
        erlang(stages, mean) or hyperexponential(share, mean, other_mean).
    procs: processors of the machine, servers of the queue.
    seed: of the random numbers.
    """
    if jobs < 0 or rate <= 0 or procs < 1:
        raise UsageError("poisson: jobs must be at least 0, rate above 0 and procs at least 1")
    roots = np.random.SeedSequence(seed).spawn(2)
    gap_rng, run_rng = (np.random.Generator(np.random.PCG64(root)) for root in roots)
    submit = np.rint(np.cumsum(gap_rng.exponential(1.0 / rate, jobs)) * SECOND).astype(np.int64)
    columns = {
        "submit": submit,
        "runtime": service_times(parse_call(service), jobs, run_rng),
        "procs": np.ones(jobs, np.int64),
    }
    arguments = {"jobs": jobs, "rate": rate, "service": service, "procs": procs, "seed": seed}
    spec = canonical("poisson", describe(poisson), arguments)
    return generated(columns, model="Poisson", spec=spec, procs=procs, estimates="exact", seed=seed)


def service_times(service: Call, jobs: int, rng: np.random.Generator) -> Ints:
    """Run times (µs) of a named distribution whose numbers are seconds."""
    counts = {"exponential": 1, "constant": 1, "uniform": 2, "erlang": 2, "hyperexponential": 3}
    numbers = [float(value) for value in service.args if isinstance(value, (int, float))]
    if len(numbers) != counts.get(service.name) or len(service.args) != len(numbers) or min(numbers) < 0:
        known = ", ".join(f"{name} with {count} numbers" for name, count in counts.items())
        raise UsageError(f"poisson: service {service} is not one of {known}, all at least 0")
    if service.name == "exponential":
        seconds = rng.exponential(numbers[0], jobs)
    elif service.name == "constant":
        seconds = np.full(jobs, numbers[0])
    elif service.name == "uniform":
        seconds = rng.uniform(numbers[0], numbers[1], jobs)
    elif service.name == "erlang":
        seconds = rng.gamma(numbers[0], numbers[1] / numbers[0], jobs)
    else:
        means = np.where(rng.random(jobs) < numbers[0], numbers[1], numbers[2])
        seconds = means * rng.exponential(1.0, jobs)
    return np.rint(seconds * SECOND).astype(np.int64)
