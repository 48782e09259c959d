"""Runs of several cases at once, in threads: compiled policies leave Python's lock while they run."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from threading import Event, Lock

from headway.changes import Case, with_parameter
from headway.cores import cores
from headway.grammar import parse_call
from headway.plain import Notify, Progress
from headway.policies.spec import parse_spec
from headway.result import Result
from headway.simulate import simulate


def with_seeds(case: Case, seeds: int) -> list[Case]:
    """The case under phases 1 to ``seeds`` of the controller's clocks.

    It stays as it is where its policy has no clocks, and where the policy names its seed.
    """
    if "seed" not in parse_spec(case.policy).params or "seed" in parse_call(case.policy).kwargs:
        return [case]
    return [replace(case, policy=with_parameter(case.policy, "seed", seed)) for seed in range(1, seeds + 1)]


def simulate_all(
    cases: Sequence[Case],
    progress: Progress | None = None,
    notify: Notify | None = None,
    workers: int | None = None,
    seed: int = 0,
) -> list[Result]:
    """Every case simulated, as many at a time as there are ``workers`` (by default one for each core).

    ``seed`` is that of policies that draw at random themselves, as in :func:`headway.simulate`.

    ``progress`` is told (finished jobs, all jobs) over all cases. The schedules do not depend on the workers.
    """
    tally = _Tally([len(case.workload) for case in cases], progress)
    say = _once(notify)
    workers = min(workers or cores(), len(cases))
    if workers <= 1:
        return [_simulated(case, tally.of(place), say, seed) for place, case in enumerate(cases)]
    with ThreadPoolExecutor(workers, thread_name_prefix="headway") as pool:
        runs: list[Future[Result]] = [
            pool.submit(_simulated, case, tally.of(place), say, seed) for place, case in enumerate(cases)
        ]
        try:
            return [run.result() for run in runs]
        except BaseException:
            tally.stop.set()  # the others end at their next report of progress
            for run in runs:
                run.cancel()
            raise


def simulate_each(
    runs: Sequence[Sequence[Case]], progress: Progress, notify: Notify, seed: int = 0
) -> list[list[Result]]:
    """The cases of several lists, all simulated together, in such lists."""
    done = iter(simulate_all([case for cases in runs for case in cases], progress, notify, seed=seed))
    return [[next(done) for _ in cases] for cases in runs]


def _simulated(case: Case, progress: Progress, notify: Notify | None, seed: int) -> Result:
    progress(0, len(case.workload))  # a run that nobody waits for any more does not begin
    return simulate(case.workload, case.platform, case.policy, progress=progress, notify=notify, seed=seed)


class _Stopped(Exception):
    """Ends a run whose result nobody waits for."""


class _Tally:
    """Progress of several runs as one, and the word to stop."""

    def __init__(self, jobs: Sequence[int], progress: Progress | None) -> None:
        self.all, self.done, self.progress = sum(jobs), [0] * len(jobs), progress
        self.stop, self.lock = Event(), Lock()

    def of(self, place: int) -> Progress:
        def report(done: int, total: int) -> None:
            if self.stop.is_set():
                raise _Stopped
            with self.lock:
                self.done[place] = done
                if self.progress is not None:
                    self.progress(sum(self.done), self.all)

        return report


def _once(notify: Notify | None) -> Notify | None:
    """Each sentence only the first time."""
    said: set[str] = set()

    def say(sentence: str) -> None:
        if notify is not None and sentence not in said:
            said.add(sentence)
            notify(sentence)

    return None if notify is None else say
