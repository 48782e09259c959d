"""``headway generate``: a workload drawn by a model, as a log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headway.cli import options
from headway.cli.display import Display, output
from headway.cli.frame import command
from headway.cli.writing import check_target, several, write_each, write_one
from headway.errors import UsageError
from headway.grammar import Call, parse_call


@command("generate", example="headway generate lublin jobs=10000 procs=256 load=0.8 -o lublin.swf")
def generate(
    model: Annotated[
        list[str],
        options.argument(
            "MODEL [KEY=VALUE]...", "Model with its parameters, as words or as 'lublin(jobs=1000, procs=64)'."
        ),
    ],
    target: Annotated[
        Path,
        typer.Option(
            "-o",
            "--out",
            "--output",
            metavar="OUT",
            help="SWF (.gz packs it, - prints it) or Batsim's .json.",
        ),
    ],
    seed: Annotated[int | None, options.number("--seed", "N", "Seed of the model.", 0)] = None,
    apply: options.Apply = None,
    force: options.ReplaceOut = False,
    quiet: options.Quiet = False,
) -> None:
    """Draw a workload from a model.

    lublin is the model of Lublin and Feitelson; poisson draws the workloads of queueing theory.
    """
    from headway.workload.models import generate as draw

    spec = _spec(model, seed)
    many = several(apply or [])
    check_target(target, many, force)
    display = Display(quiet or str(target) == "-")
    from headway.workload.transform import apply_each

    with display.working(spec):
        workloads = apply_each(draw(spec), *(apply or ()))
        written = write_each(workloads, target, force) if many else write_one(workloads[0], target)
    if not display.quiet:
        console = output()
        for done in workloads[0].transformations:
            console.print(done)
        for sentence in written:
            console.print(sentence)


def _spec(words: list[str], seed: int | None) -> str:
    """The model as one spec.

    >>> _spec(["lublin", "jobs=10", "procs=4"], 3)
    'lublin(jobs=10, procs=4, seed=3)'
    """

    first, *rest = words
    call = parse_call(f"{first}({', '.join(rest)})" if rest and "(" not in first else first)
    if rest and "(" in first:
        raise UsageError(f"give parameters of {call.name} inside its parentheses or as KEY=VALUE, not both")
    if seed is None:
        return str(call)
    if "seed" in call.kwargs:
        raise UsageError("the seed is given twice; use either --seed or seed=")
    return str(Call(call.name, call.args, call.kwargs | {"seed": seed}))
