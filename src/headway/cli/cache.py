"""``headway cache``: the compiled kernels that are kept on this machine."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from headway.cli import options
from headway.cli.display import Display, output, table_of
from headway.cli.frame import command
from headway.cores import cores
from headway.errors import HeadwayError, UsageError
from headway.jit import cache as jit_cache
from headway.plain import counted
from headway.policies.catalogue import POLICIES
from headway.policies.spec import parse_spec

if TYPE_CHECKING:
    from headway.platform import Platform
    from headway.policies.spec import Spec

USUAL = ("fcfs", "easy", "conservative")
"""Policies that `warm` compiles where none is named; with every order and backfill order of them."""

SWF = b"; MaxProcs: 8\n1 0 -1 10 2 -1 -1 2 12 -1 1 1 1 -1 1 -1 -1 -1\n"


@command("cache", example="headway cache warm easy conservative")
def cache(
    action: Annotated[
        str | None,
        options.argument("[warm | clear]", "What to do; by default the cache is shown."),
    ] = None,
    policy: Annotated[
        list[str] | None,
        options.argument("[POLICY]...", "With warm: what to compile, or all for every policy."),
    ] = None,
    workers: Annotated[
        int | None,
        options.number(
            "--workers",
            "N",
            "With warm: processes that compile side by side; by default one for each core.",
            1,
            4096,
        ),
    ] = None,
) -> None:
    """Show, fill or empty the cache of compiled kernels.

    A policy is compiled when it is first used on a machine, and kept in a folder that only you can read or
    write. The folder is chosen by HEADWAY_CACHE_DIR, else XDG_CACHE_HOME, else it is ~/.cache/headway. Where
    it cannot be yours alone, nothing is kept. The very first simulation of a short log runs interpreted while
    the policy is compiled beside it, and headway site begins to compile Slurm's rules; with
    HEADWAY_FIRST_USE=compile kernels are compiled when they are needed, and waited for.
    """
    if action not in (None, "warm", "clear"):
        raise UsageError(f"there is no 'headway cache {action}'; there are warm and clear")
    if policy and action != "warm":
        raise UsageError(f"policies go with warm, as in headway cache warm {policy[0]}")
    if action is None:
        _show()
    elif action == "clear":
        _clear()
    else:
        _warm(policy or list(USUAL), workers)


def _show() -> None:
    console = output()
    kept = jit_cache.keeping()
    said = f"No kernels are kept: {kept.why_not}" if kept.why_not else f"Kernels in {jit_cache.root()}"
    console.print(said, soft_wrap=True)
    table = table_of("folder", "~>kernels", "~>MB", "~")
    for folder in jit_cache.folders():
        kernels, size = _size(folder)
        use = "in use" if folder == kept.folder else "of other versions"
        table.add_row(folder.name, str(kernels), f"{size / 1e6:.1f}", use)
    console.print(table)
    console.print("Fill it: headway cache warm [POLICY ...]; empty it: headway cache clear")


def _size(folder: Path) -> tuple[int, int]:
    """Kernels in a folder, and the bytes of all files there."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sum(path.suffix == ".nbi" for path in files), sum(path.stat().st_size for path in files)


def _clear() -> None:
    found = [(folder, *_size(folder)) for folder in jit_cache.folders()]
    for folder, _, _ in found:
        shutil.rmtree(folder)
    kernels, size = sum(each[1] for each in found), sum(each[2] for each in found)
    said = f"{counted(kernels, 'kernel')} ({size / 1e6:.1f} MB) removed from {jit_cache.root()}"
    output().print(said)


def _warm(policies: list[str], workers: int | None) -> None:
    from io import BytesIO

    from headway.workload.swf import read_swf

    if why_not := jit_cache.keeping().why_not:
        raise UsageError(f"nothing can be kept, because {why_not}")
    if policies == ["all"]:  # an example that names a file of one's own stands for the policy without it
        policies = [
            info.name if "./" in info.example else info.example or info.name
            for info in POLICIES.values()
            if info.name != "agent"  # it is nothing without its file
        ]
    specs = [parse_spec(text) for text in policies]
    display = Display()
    with display.working("compiling") as progress:
        read_swf(BytesIO(SWF), compiled=True)
        for done, spec in enumerate(_compiled(specs, min(workers or cores(), len(specs))), 1):
            display.say(f"compiled {spec.brief}")
            progress(done, len(specs))
    kept = jit_cache.keeping().folder
    assert kept is not None
    kernels, size = _size(kept)
    output().print(f"{counted(kernels, 'kernel')} ({size / 1e6:.1f} MB) in {kept}")


def _compiled(specs: list[Spec], workers: int) -> Iterator[Spec]:
    """Compile policies side by side; each as it is ready."""
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    if workers == 1:
        for spec in specs:
            _compile(spec)
            yield spec
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        asked = {pool.submit(_compile, spec): spec for spec in specs}
        for compiled in as_completed(asked):
            compiled.result()
            yield asked[compiled]


def _compile(spec: Spec) -> None:
    """Simulate and audit a few jobs of every kind, on the first machine that the policy takes."""
    import headway
    from headway.workload import Workload

    workload = Workload.from_arrays(
        unit="s", submit=[0, 1, 2, 3], procs=[2, 4, 1, 1], runtime=[5, 5, 5, 5], walltime=[9, 9, 9, 9],
        urgent=[0, 1, 0, 0], swap=[1, 1, 1, 1], deadline=[99, -1, 99, -1], file=[0, 0, 1, 1],
        file_gb=[1.0, 1.0, 2.0, 2.0], labels={"file": ["a", "b"]},
    )  # fmt: skip
    refused: HeadwayError | None = None
    for platform in _machines():
        try:
            headway.audit(headway.simulate(workload, platform, spec))
            return
        except HeadwayError as error:
            refused = refused or error
    assert refused is not None
    raise refused


def _machines() -> list[Platform]:
    """Machines to compile on: counted processors, nodes, a grid, a site."""
    from headway.platform import Platform
    from headway.site import Site
    from headway.site.model import Node, Partition

    nodes = (Node("n1", 4), Node("n2", 4))
    site = Site("site", nodes, (Partition("batch", (0, 1), is_default=True),))
    return [Platform.procs(8), Platform.load("rackham-small"), Platform.load("pwa-g5k"), site.platform()]
