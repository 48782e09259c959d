"""``headway cache``: the compiled kernels that are kept on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from headway.cli import options
from headway.cli.application import command, group
from headway.cli.display import Display, output, table_of
from headway.cores import cores
from headway.errors import UsageError
from headway.jit import cache as jit_cache
from headway.plain import counted
from headway.policies.catalogue import POLICIES

USUAL = ("fcfs", "easy", "conservative")
"""Policies that `warm` compiles where none is named."""


cache = group("cache", "Show, fill or empty the cache of compiled kernels.", default="show")


@command("show", "headway cache show", of=cache)
def show() -> None:
    """Show the compiled kernels on this machine.

    The kernels of all policies come with the package. Where they do not, as in a checkout before 'make
    kernels' or for a policy of your own, a policy is compiled when it is first used, and kept in a folder
    that only you can read or write: HEADWAY_CACHE_DIR, else XDG_CACHE_HOME, else ~/.cache/headway. Where that
    cannot be yours alone, nothing is kept.
    """
    console, own = output(), jit_cache.keeping()
    table = table_of("kernels", ">number", ">MB", "~folder")
    for whose, folder in (("of the package", jit_cache.BUILT), ("yours", jit_cache.root())):
        number, size = _size(folder)
        table.add_row(whose, str(number), f"{size / 1e6:.1f}", str(folder))
    console.print(table)
    if own.why_not:
        console.print(f"No kernels of your own are kept: {own.why_not}", soft_wrap=True)
    console.print("Fill it: headway cache warm [POLICY ...]; empty it: headway cache clear")


def _size(folder: Path) -> tuple[int, int]:
    """Kernels in a folder, and their bytes."""
    sizes = [path.stat().st_size for path in _kept(folder)]
    return len(sizes), sum(sizes)


def _kept(folder: Path) -> Iterator[Path]:
    return folder.glob(f"*{jit_cache.SUFFIX}")


@command("clear", "headway cache clear", of=cache)
def clear() -> None:
    """Remove all kernels that were compiled for you; those of the package stay."""
    folder = jit_cache.root()
    number, size = _size(folder)
    for path in [*_kept(folder), *folder.glob("*.lock")]:
        path.unlink(missing_ok=True)
    output().print(f"{counted(number, 'kernel')} ({size / 1e6:.1f} MB) removed from {folder}")


@command("warm", "headway cache warm easy conservative", of=cache)
def warm(
    policy: Annotated[
        list[str] | None, options.argument("[POLICY]...", "What to compile, or all for every policy.")
    ] = None,
    workers: Annotated[
        int | None,
        options.number(
            "--workers", "N", "Processes that compile at once; by default one for each core.", 1, 4096
        ),
    ] = None,
    built: Annotated[
        bool, options.flag("--built", "Compile for any processor of this kind, into the package itself.")
    ] = False,
) -> None:
    """Compile policies now, in all their forms, so that no simulation has to wait for it."""
    from headway.cli.forms import compiled, parts_of

    if built:
        os.environ |= {jit_cache.BUILDING: "1", "NUMBA_CPU_NAME": "generic"}
    if why_not := jit_cache.keeping().why_not:
        raise UsageError(f"nothing can be kept, because {why_not}")
    wanted = policy or list(USUAL)
    parts = parts_of(list(POLICIES) if wanted == ["all"] else wanted, whole=wanted == ["all"])
    display, used = Display(), set[str]()
    with display.working("compiling") as progress:
        for done, (what, number, files) in enumerate(compiled(parts, min(workers or cores(), len(parts))), 1):
            display.say(f"{what}: {counted(number, 'kernel')} compiled")
            used |= files
            progress(done, len(parts))
    folder = jit_cache.keeping().folder
    assert folder is not None
    if built and wanted == ["all"]:  # a package has no kernels of earlier sources
        for file in _kept(folder):
            if file.name not in used:
                file.unlink()
    number, size = _size(folder)
    output().print(f"{counted(number, 'kernel')} ({size / 1e6:.1f} MB) in {folder}")
