"""What the code says of itself, as Markdown; each function fills one page of the reference."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from pathlib import Path
from types import FunctionType
from typing import Any


def commands() -> str:
    """Every command with its arguments and options, from the command line itself."""
    import typer.main

    from headway.cli.application import app, load

    load()
    top: Any = typer.main.get_command(app)
    parts = []
    for name, command in top.commands.items():
        if inner := getattr(command, "commands", {}):
            rows = [
                (f"[`headway {name} {each}`](#headway-{name}-{each})", one.get_short_help_str(200))
                for each, one in inner.items()
            ]
            parts.append(f"## headway {name}\n\n{command.help}\n\n{table(('command', 'what it does'), rows)}")
            parts.extend(described(f"{name} {each}", one, "###") for each, one in inner.items())
        else:
            parts.append(described(name, command, "##"))
    return "\n".join(parts)


def described(name: str, command: Any, level: str) -> str:
    """A command's help as a section."""
    rows = [(f"`{shown(p)}`", p.help or "", note(p)) for p in command.params if p.name != "help"]
    options = table(("argument or option", "meaning", ""), rows) if rows else ""
    example = (command.epilog or "").removeprefix("Example: ")
    text = inspect.cleandoc(command.help or "")
    return f"{level} headway {name}\n\n{text}\n\n{options}\n```text\n{example}\n```\n"


def shown(parameter: Any) -> str:
    """A parameter as one types it."""
    metavar = parameter.metavar or parameter.name.upper()
    if parameter.param_type_name == "argument":
        return str(metavar)
    names = ", ".join(parameter.opts)
    return names if parameter.is_flag else f"{names} {metavar}"


def note(parameter: Any) -> str:
    """Whether it must be given, what it is otherwise, and how often it may be given."""
    notes = ["required"] if parameter.required else []
    if parameter.param_type_name == "option" and parameter.default not in (None, False, (), [], ""):
        notes = [f"default {parameter.default}"]
    if getattr(parameter, "multiple", False) or parameter.nargs == -1:
        notes.append("may be repeated")
    return ", ".join(notes)


def policies() -> str:
    """The catalogue: a list, then each policy with its parameters and references."""
    from headway.policies.catalogue import POLICIES

    listed = [(f"[`{info.name}`](#{info.name})", info.summary) for info in POLICIES.values()]
    parts = [table(("policy", "in a sentence"), listed)]
    for info in POLICIES.values():
        parts.append(f"## {info.name}\n\n{sentence(info.summary)}\n")
        if info.aliases:
            parts.append(f"Also called {', '.join(f'`{alias}`' for alias in info.aliases)}.\n")
        if info.details:
            parts.append(f"{info.details}\n")
        if info.needs:
            parts.append(f"Needs {', '.join(info.needs)}.\n")
        if info.parameters:
            rows = [(f"`{p.name}`", p.default_words, p.accepts, p.doc) for p in info.parameters]
            parts.append(table(("parameter", "default", "takes", "meaning"), rows))
        parts.extend(f"- {reference}" for reference in info.citation)
        parts.append(f"\n```text\n{info.example_command}\n```\n")
    return "\n".join(parts)


def composition() -> str:
    """Pairs of policies that work together, and pairs that are refused."""
    from headway.policies.composition import PAIRS, REFUSALS

    words = ("mechanism", "over", "clusters", "for example", "with nothing to do")
    rows = [
        (
            p.outer,
            f"`{p.inner}`",
            str(p.clusters),
            f"`{p.example}`",
            f"`{p.off}` is `{p.inner}`" if p.off else "-",
        )
        for p in PAIRS
    ]
    refused = [(each.outer, each.inner, f"`{each.example}`", each.reason) for each in REFUSALS]
    refusals = table(("mechanism", "over", "for example", "refused because"), refused)
    return f"{table(words, rows)}\nWhat is refused, with exit status 2 and the reason:\n\n{refusals}"


def metrics() -> str:
    """Every metric with its unit, formula and source."""
    from headway.metrics.catalogue import METRICS, STRETCH
    from headway.metrics.own_numbers import OWN

    rows = [
        (f"`{m.name}`", "" if m.unit == "1" else m.unit, m.formula, m.better or "-", m.reference)
        for m in (*METRICS, STRETCH)
    ]
    more = table(
        ("number", "unit", "meaning"),
        ((f"`{name}`", "" if unit == "1" else unit, meaning) for name, (unit, meaning) in OWN.items()),
    )
    general = table(("metric", "unit", "formula", "better", "source"), rows)
    about = "Deadlines, urgent jobs, input files, grids, outages and some policies add numbers of their own:"
    return f"{general}\n{about}\n\n{more}"


def laws() -> str:
    """The laws of the audit: those of every schedule, and those that a policy's name adds."""
    from headway.audit.laws import UNIVERSAL
    from headway.audit.policy_laws import FIXED, MADE

    general = table(("law", "demands"), ((law.name, law.demands) for law in UNIVERSAL))
    promised = [(law.name, law.demands) for law in FIXED.values()]
    promised += [(name, demands) for name, (demands, _) in MADE.items()]
    added = table(("law", "demands"), promised)
    return f"{general}\nWhere the policy is known, what it promises is checked as well:\n\n{added}"


def rules() -> str:
    """Every reading rule with its values."""
    from headway.workload.rules import MEANING, RULES

    rows = []
    for rule, values in RULES.items():
        default, *others = (f"`{value}`" for value in values)
        rows.append((f"`{rule}`", ", ".join([f"**{default}**", *others]), MEANING.get(rule, "")))
    return table(("rule", "values", "what it is about"), rows)


def transformations() -> str:
    """Every transformation with its parameters."""
    from headway.workload.transform.registry import TRANSFORMATIONS

    parts = []
    for name, entry in sorted(TRANSFORMATIONS.items()):
        many = " It gives several workloads." if entry.many else ""
        parts.append(f"## {name}\n\n{sentence(entry.summary)}{many}\n\n{parameters(entry.parameters)}")
    return "\n".join(parts)


def models() -> str:
    """Every model with its parameters."""
    from headway.binding import describe, summary
    from headway.workload.models import MODELS

    return "\n".join(
        f"## {name}\n\n{sentence(summary(model))}\n\n{parameters(describe(model))}"
        for name, model in MODELS.items()
    )


def platforms() -> str:
    """The platforms that ship with the package, one line per cluster."""
    from headway.platform import Platform
    from headway.platform.platform_file import named_platforms

    rows = []
    for name in named_platforms():
        for cluster in Platform.load(name).clusters:
            nodes = ", ".join(f"{group.count} x {group.cores} cores" for group in cluster.nodes)
            rows.append((f"`{name}`", cluster.name, f"{cluster.procs:,}", f"{cluster.speed:g}", nodes))
    return table(("platform", "cluster", "processors", "speed", "nodes"), rows)


def python() -> str:
    """Every public name with its signature, docstring and members."""
    import headway

    parts = []
    for name in sorted(name for name in headway.__all__ if not name.startswith("_")):
        thing = getattr(headway, name)
        try:
            signature = laid_out(inspect.signature(thing))
        except (TypeError, ValueError):
            signature = ""
        kind = "class " if inspect.isclass(thing) else ""
        parts.append(f"## headway.{name}\n\n```text\n{kind}{name}{signature}\n```\n")
        parts.append(f"{(inspect.getdoc(thing) or '').strip()}\n")
        if inspect.isclass(thing):
            parts.append(members(thing))
    return "\n".join(parts)


def members(thing: type) -> str:
    """Methods and properties of a class that have something to say."""
    rows = [
        (f"`{key}`", sentence((inspect.getdoc(getattr(thing, key)) or "").split("\n\n")[0]))
        for key, member in vars(thing).items()
        if not key.startswith("_")
        and isinstance(member, property | classmethod | staticmethod | FunctionType)
    ]
    documented = [row for row in rows if row[1]]
    return table(("member", "meaning"), documented) if documented else ""


def laid_out(signature: inspect.Signature) -> str:
    """A signature without the quotes of its annotations, on several lines where it is long."""
    short = unquoted(str(signature))
    if len(short) < 80:
        return short
    inner = [unquoted(str(parameter)) for parameter in signature.parameters.values()]
    named = [p.kind is inspect.Parameter.KEYWORD_ONLY for p in signature.parameters.values()]
    if any(named) and not any(p.kind is p.VAR_POSITIONAL for p in signature.parameters.values()):
        inner.insert(named.index(True), "*")
    return "(\n" + "".join(f"    {each},\n" for each in inner) + ")" + short[short.rindex(")") + 1 :]


def unquoted(text: str) -> str:
    """Annotations as they are written in the source."""
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)


def parameters(found: Iterable[Any]) -> str:
    """A table of parameters of specs."""
    rows = [
        (f"`{p.name}`", "required" if p.required else f"`{p.default}`", p.expected(), p.doc) for p in found
    ]
    return table(("parameter", "default", "takes", "meaning"), rows) if rows else "No parameters.\n"


def sentence(text: str) -> str:
    """A text as one sentence on one line."""
    one = " ".join(text.split())
    return one if one.endswith((".", ":")) or not one else f"{one}."


def table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table; bars inside cells would end them."""

    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(" ".join(str(c).split()).replace("|", "\\|") for c in cells) + " |"

    heads = list(titles)
    return "\n".join([line(heads), line("---" for _ in heads), *map(line, rows)]) + "\n"


def scoreboard() -> str:
    """How many claims of each paper were put to a test, and how each came out; from their pages."""
    folder = Path(__file__).parents[1] / "papers"
    from headway.papers.verdicts import COUNTED

    kinds = (*COUNTED, "could not fail", "not tested")
    rows, totals = [], dict.fromkeys((*kinds, "tested"), 0)
    for page in sorted(folder.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if "| claim | source |" not in text:
            continue
        counts = {kind: len(re.findall(rf"\| {kind} \|", text)) for kind in kinds}
        counts["tested"] = sum(counts[kind] for kind in COUNTED)
        title = re.search(r"^# (.+)$", text, re.MULTILINE)
        for kind in counts:
            totals[kind] += counts[kind]
        cells = [str(counts[kind]) for kind in kinds]
        link = f"[{title[1] if title else page.stem}]({page.name})"
        rows.append((link, *cells[:4], str(counts["tested"]), *cells[4:]))
    order = (*COUNTED, "tested", "could not fail", "not tested")
    rows.append(("**all**", *(f"**{totals[kind]}**" for kind in order)))
    heads = [f'<span class="verdict {kind.replace(" ", "-")}">{kind}</span>' for kind in kinds]
    return table(("paper", *heads[:4], "tested", *heads[4:]), rows)


def licences() -> str:
    """What `pip install headway` brings, with the licence that each package says it has."""
    from importlib.metadata import PackageNotFoundError, metadata, requires

    found: dict[str, str] = {}
    waiting = ["headway"]
    while waiting:
        for text in requires(waiting.pop()) or ():
            name, marker = re.split(r"[ ;<>=!~\[(]", text, maxsplit=1)[0], text.partition(";")[2]
            if "extra" in marker or name.lower() in found:
                continue
            try:
                about = metadata(name)
            except PackageNotFoundError:  # for other systems or versions of Python
                continue
            said = [text for text in about.get_all("Classifier", ()) if text.startswith("License")]
            classified = [text.rpartition(" :: ")[2] for text in said]
            stated = about.get("License-Expression") or ", ".join(classified) or about.get("License", "?")
            found[name.lower()] = stated.splitlines()[0][:80]
            waiting.append(name)
    rows = [f"| {name} | {licence} |" for name, licence in sorted(found.items())]
    return "\n".join(["| package | licence |", "|---|---|", *rows])
