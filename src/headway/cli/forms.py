"""Compiles every form of a policy that a user reaches, by running each on a few jobs.

A form is what the compiler tells apart: a parameter, many jobs at once, a machine whose processors come and
go, nodes, a grid, a log larger than memory. Nothing lists them: all combinations are tried, those that a
policy refuses cost nothing, and what is compiled already is taken from where it is kept.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from headway.errors import HeadwayError
from headway.jit import cache as jit_cache
from headway.policies.catalogue import POLICIES
from headway.policies.queueing.policy import ORDERS

if TYPE_CHECKING:
    from headway.platform import Platform
    from headway.workload import Workload

DEEP = 600
"""Jobs at once for which conservative backfilling keeps a table of holes."""
SWF = "; MaxProcs: 8\n" + "".join(f"{n} {n} -1 9 2 -1 -1 2 12 -1 1 1 1 -1 1 -1 -1 -1\n" for n in range(1, 9))
LARGE = ("slurm", "reallocation", "redirection", "dbf", "ujfb")
"""Policies that take longest to compile; they come first, so that all cores are busy to the end."""
FACES = "faces"
"""What is compiled for no policy: reading logs, metrics, learners, policies in Python."""


def parts_of(policies: list[str], whole: bool) -> list[str]:
    """The policies and faces to compile, in the order in which to begin."""
    wanted = [name for name in policies if name != "agent"]  # it is nothing without its file
    first = [name for name in LARGE if name in wanted]
    return [*first, *([FACES] if whole else []), *(name for name in wanted if name not in LARGE)]


def compiled(parts: list[str], workers: int) -> Iterator[tuple[str, int, set[str]]]:
    """Compile in processes side by side; each part as it is ready, how many kernels were compiled for it, and
    the files of all that its process has used."""
    from multiprocessing import get_context

    if workers == 1:
        yield from map(compile_part, parts)
        return
    # An interrupt reaches the process that asked, and leaving the block ends the others at once.
    with get_context("spawn").Pool(workers, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        yield from pool.imap_unordered(compile_part, parts)


def compile_part(part: str) -> tuple[str, int, set[str]]:
    """A part, how many kernels were compiled for it, and the files of those that were used."""
    return part, compile_forms(part), jit_cache.used


def compile_forms(part: str) -> int:
    """Compile all forms of a policy, or what the faces need; how many kernels that were."""
    before = len(jit_cache.compiled)
    if part == FACES:
        for face in (read_log, measure_cells, learn, decide_in_python):
            with suppress(ModuleNotFoundError):  # extras need not be installed
                face()
    else:
        refused: HeadwayError | None = None
        ran = False
        for spec, (workload, platform) in product(specs_of(part), situations()):
            try:
                simulate(spec, workload, platform)
                ran = True
            except HeadwayError as error:
                refused = refused or error
        if refused and not ran:
            raise refused
        for name in specs_of(part)[:1]:
            stream(name)
    return len(jit_cache.compiled) - before


def specs_of(text: str) -> list[str]:
    """A policy with each choice of each parameter; one that is given with parameters is taken as it is.

    Of those that may be nested in two places each is tried with itself and with the default.
    """
    info = POLICIES.get(text)
    if info is None:
        return [text]
    made = [""]
    for parameter in info.parameters:
        numbers = ["2"] if parameter.number else []
        values = representatives(parameter.policies) or [*parameter.choices, *numbers]
        made += [f"{parameter.name}={value}" for value in values]
    nested = [parameter for parameter in info.parameters if parameter.policies]
    if len(nested) > 1:
        for value in representatives(nested[0].policies):
            made.append(", ".join(f"{parameter.name}={value}" for parameter in nested))
    return [f"{text}({given})" if given else text for given in made]


def representatives(policies: tuple[str, ...]) -> list[str]:
    """Policies that may be nested; strict orders are one kernel, so one of them will do."""
    strict = [name for name in policies if name in ORDERS]
    return [name for name in policies if name not in strict[1:]]


def simulate(spec: str, workload: Workload, platform: Platform) -> None:
    """Simulate, and judge where that takes no longer than to compile."""
    import headway

    schedule = headway.simulate(workload, platform, spec)
    if len(workload) < DEEP:
        headway.audit(schedule)


@cache
def situations() -> list[tuple[Workload, Platform]]:
    """Jobs and machines of every kind."""
    from headway.platform import Platform
    from headway.platform.outages import Outages
    from headway.site import Site
    from headway.site.model import Node, Partition

    few, many = jobs(4), jobs(DEEP)
    counted = Platform.procs(8)
    nodes = (Node("n1", 4), Node("n2", 4))
    site = Site("site", nodes, (Partition("batch", (0, 1), is_default=True),))
    grid = Platform.load("pwa-g5k")
    failing = counted.with_outages(Outages.failures("mtbf=1h, repair=1h", 8, few))
    machines = [counted, failing, Platform.load("rackham-small"), grid, site.platform()]
    return [*((few, machine) for machine in machines), (many, counted)]


def jobs(number: int) -> Workload:
    """Jobs that come at once, with all that any policy asks for."""
    from headway.workload import Workload

    def each(*values: Any) -> list[Any]:
        return [values[place % len(values)] for place in range(number)]

    return Workload.from_arrays(
        unit="s", submit=each(0) if number > 4 else each(0, 1, 2, 3), procs=each(2, 4, 1, 1),
        runtime=each(5), walltime=each(9), urgent=each(0, 1, 0, 0), swap=each(1),
        deadline=each(99999, -1), file=each(0, 0, 1, 1), file_gb=each(1.0, 1.0, 2.0, 2.0),
        labels={"file": ["a", "b"]},
    )  # fmt: skip


def in_a_folder(face: Callable[[Path], None]) -> Callable[[], None]:
    """Give a face a folder of its own for its files."""

    def run() -> None:
        with TemporaryDirectory(prefix="headway-") as folder:
            face(Path(folder))

    return run


def stream(spec: str) -> None:
    """Simulate a log as one that is larger than memory."""
    from headway.platform import Platform
    from headway.streams import simulate_stream

    with TemporaryDirectory(prefix="headway-") as folder, suppress(HeadwayError):
        log = Path(folder) / "log.swf"
        log.write_text(SWF)
        simulate_stream(str(log), Platform.procs(8), spec, out=Path(folder) / "out")


def read_log() -> None:
    """Read an SWF log by kernels."""
    from io import BytesIO

    from headway.workload.swf import read_swf

    read_swf(BytesIO(SWF.encode()), compiled=True)


@in_a_folder
def measure_cells(folder: Path) -> None:
    """The metrics of a campaign's cells."""
    from headway.campaign import Campaign

    (folder / "log.swf").write_text(SWF)
    (folder / "c.toml").write_text('[[workload]]\ntrace = "log.swf"\n[[policy]]\npolicy = "fcfs"\n')
    Campaign.from_toml(folder / "c.toml").run(folder / "out", workers=1)


def learn() -> None:
    """The environments of learners."""
    import headway.gym

    for task in ("choose", "backfill", "weights"):
        for make in (headway.gym.SchedulingEnv, headway.gym.SchedulingVectorEnv):
            made: Any = make(jobs(8), procs=8, task=task, jobs=4)
            made.reset(seed=1)
            made.step(made.action_space.sample())


OWN = """
def first(view):
    return [job for job in view.waiting if job.procs <= view.free][:1]

def area(job):
    return job.walltime * job.procs

def age(job, now):
    return job.submit - now
"""


@in_a_folder
def decide_in_python(folder: Path) -> None:
    """Policies of the user's: in Python, and orders by a key, fixed and moving."""
    import headway

    (folder / "own.py").write_text(OWN)
    for spec in ("{0}:first", "easy(order={0}:area)", "easy(order={0}:age)"):
        headway.simulate(jobs(4), 8, spec.format(folder / "own.py"))
