"""``headway policies``: the catalogue, and the check of anyone's policy against the laws."""

from __future__ import annotations

from typing import Annotated

from headway.cli import options
from headway.cli.application import DONE, FAULT, command
from headway.cli.display import Display, output, table_of
from headway.errors import UsageError
from headway.policies.catalogue import ALIASES, POLICIES, offered
from headway.policies.policy import Policy
from headway.policies.spec import Spec, parse_spec


@command("policies", example="headway policies easy")
def policies(
    name: Annotated[
        str | None, options.argument("NAME", "Show this policy in full.", autocompletion=options.policy_names)
    ] = None,
    check: Annotated[
        str | None,
        options.value(
            "--check",
            "SPEC",
            "Check the invariants of a policy, yours or ours, on small and awkward workloads.",
        ),
    ] = None,
    skip: Annotated[
        list[str] | None, options.value("--skip", "INVARIANT", "With --check: leave this invariant out.")
    ] = None,
) -> int:
    """List the policies, show one in full, or check one."""
    if skip and check is None:
        raise UsageError("--skip goes with --check, as in --check ./mine.py:Mine --skip idle")
    if check is not None:
        if name is not None:
            raise UsageError("give either a name to show or --check SPEC, not both")
        return _check(check, skip or [])
    if name is None:
        _list()
    else:
        spec = parse_spec(name)
        if spec.is_user:
            _show_own(spec)
        else:
            _show(POLICIES[spec.name])
    return DONE


def _check(text: str, skip: list[str]) -> int:
    from headway.check import check_policy

    spec = parse_spec(text)
    display = Display()
    with display.working(f"checking {spec.brief}") as progress:
        check = check_policy(spec, skip=skip, progress=progress, notify=display.say)
    console = output()
    console.print(str(check), soft_wrap=True)
    return DONE if check.ok else FAULT


def _list() -> None:
    table = table_of("", "~", show_header=False)
    table.columns[0].style = "bold"
    for info in POLICIES.values():
        table.add_row(", ".join((info.name, *info.aliases)), info.summary)
    for offer in offered().values():
        package = offer.module.partition(".")[0]
        if offer.name in POLICIES or offer.name in ALIASES:
            table.add_row(offer.value, f"from the installed package {package}; the name {offer.name} is ours")
        else:
            table.add_row(offer.name, f"from the installed package {package}")
    console = output()
    console.print(table)
    console.print("\nParameters, references and an example: headway policies NAME")
    console.print("Your own policy: --policy './file.py:Name(parameter=value)'")


def _show_own(spec: Spec) -> None:
    """A policy of the user's own, as its docstring and its signature describe it."""
    import inspect

    from headway.policies.own.compiled import Compiled
    from headway.policies.own.forms import parameters
    from headway.policies.own.loading import find

    assert spec.attribute is not None
    thing = find(spec.file, spec.module, spec.attribute)
    if isinstance(thing, Compiled):
        takes = [f"{name}={default}" for name, default in thing.options.items()]
    else:
        takes = [str(parameter) for parameter in parameters(thing).values()]
    console = output()
    words = inspect.getdoc(getattr(thing, "hook", thing)) or "a policy of your own, without a docstring"
    console.print(f"{spec.name}: {words}")
    if takes:
        console.print(f"Parameters: {', '.join(takes)}")
    console.print(f"\nCheck it against the invariants\n  headway policies --check '{spec}'")


def _show(info: type[Policy]) -> None:
    console = output()
    console.print(f"{info.name}: {info.summary}.", style="bold")
    if info.aliases:
        console.print(f"Also called {', '.join(info.aliases)}.")
    if info.details:
        console.print(info.details)
    if info.needs:
        console.print(f"Needs {', '.join(info.needs)}.")
    if info.parameters:
        table = table_of("~parameter", "~default", "~takes", "~meaning")
        for parameter in info.parameters:
            table.add_row(parameter.name, parameter.default_words, parameter.accepts, parameter.doc)
        console.print()
        console.print(table)
    console.print("\nReferences" if len(info.citation) > 1 else "\nReference")
    for reference in info.citation:
        console.print(f"  {reference}")
    console.print(f"\nExample\n  {info.example_command}")
