"""One voice: every command shows an example, every table says its units, one word for one thing."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import pytest

import headway
from commands import Headway, every_command
from headway.cli.sweep import with_unit
from headway.metrics.catalogue import METRICS, unit_of, unit_text
from headway.platform import Cluster, Platform
from headway.workload.models import generate
from instances import busy
from surroundings import ROOT

UNITS = {metric.name: metric.unit for metric in METRICS}
COMMANDS = every_command()

QUANTITIES = re.compile(
    r"\b(wait|walltime|runtime|start|submit|bias|error|recorded|simulated|median|p\d\d)\b"
)
"""Words of a heading that mean a time."""

SPELT = {
    "utilisation": "utilization",
    "turnaround": "response",
    "makespans": "makespan",
    "time limit": "walltime",
}
"""A word of others -> ours; the first is found in text, the second is said instead."""


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_shows_an_example_of_its_own_options(name: str) -> None:
    command = COMMANDS[name]
    example = (command.epilog or "").removeprefix("Example: ")
    words = shlex.split(example)
    assert example.startswith(f"headway {name}")
    known = {option for parameter in command.params for option in parameter.opts}
    used = {word.partition("=")[0] for word in words if word.startswith("-") and word != "-"}
    assert used <= known, (example, used - known)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_says_what_each_word_is_for(name: str) -> None:
    command = COMMANDS[name]
    assert (command.help or "").strip().splitlines()[0].endswith(".")
    for parameter in command.params:
        if parameter.name != "help":
            assert parameter.help and parameter.help.endswith("."), (name, parameter.name)


def test_one_option_has_one_meaning() -> None:
    """Options that several commands share say the same in all of them."""
    meanings: dict[str, set[str]] = {}
    for command in COMMANDS.values():
        for parameter in command.params:
            if parameter.param_type_name == "option":
                for option in parameter.opts:
                    meanings.setdefault(option, set()).add(parameter.help)
    shared = {"--annotations", "--rule", "--json", "--quiet", "--platform"}
    assert all(len(meanings[option]) == 1 for option in shared), {o: meanings[o] for o in shared}


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Headway:
    command = Headway(tmp_path, capsys, monkeypatch)
    from headway.workload import write_swf

    log = generate("lublin(jobs=40, procs=16, load=0.9, seed=1)")
    made = headway.simulate(log, 16, "fcfs")
    write_swf(log.with_columns(wait=made.wait), tmp_path / "log.swf")
    return command


def headings(text: str) -> list[str]:
    """Lines that name the columns of a table: no digits but in names, and at least three words apart."""
    return [
        line
        for line in text.splitlines()
        if len(re.split(r"\s{2,}", line.strip())) >= 3 and not re.search(r"\d{3}|\d,\d|\d\.\d|%", line)
    ]


@pytest.mark.parametrize(
    "words",
    [
        ("replay", "log.swf", "--policy", "fcfs"),
        ("weeks", "log.swf", "--at-least", "0", "--utilization", "submitted"),
    ],
)
def test_times_in_headings_have_a_unit(shell: Headway, words: tuple[str, ...]) -> None:
    result = shell(*words)
    assert result.status == 0, result.err
    found = headings(result.out)
    assert found
    for line in found:
        for cell in re.split(r"\s{2,}", line.strip()):
            if QUANTITIES.search(cell):
                assert re.search(r"\((s|tau .*)\)$", cell), (cell, line)


def test_every_number_of_a_summary_has_a_unit_and_names_tau(shell: Headway) -> None:
    result = shell("simulate", "log.swf", "--policy", "fcfs")
    rows = [line.split() for line in result.out.splitlines() if line.split()[:1] and line.split()[0] in UNITS]
    assert len(rows) > 12
    for row in rows:
        assert row[2] == unit_text(UNITS[row[0]]), row
    assert any(row[:3] == ["tau", "10", "s"] for row in rows)
    assert with_unit("max_bsld", 60) == "max_bsld (tau 60 s)"
    assert with_unit("mean_stretch", 10) == "mean_stretch (ratio)"
    assert unit_text("1") == "ratio"


def test_what_a_user_reads_uses_one_word_for_one_thing() -> None:
    """The help of every command, and the catalogue's and the documentation's own text."""
    texts = {
        name: (command.help or "") + str([p.help for p in command.params])
        for name, command in COMMANDS.items()
    }
    for page in (ROOT / "docs").rglob("*.md"):
        texts[page.name] = page.read_text("utf-8")
    for name, text in texts.items():
        for other, ours in SPELT.items():
            found = re.search(rf"\b{other}\b", text, re.IGNORECASE)
            assert found is None, f"{name}: {other!r} is called {ours!r} here"


DIALECT = {
    r"anew": "again",
    r"(goes|go|went|going) on": "continues",
    r"of yours": "of your own",
    r"beside": "next to",
    r"(?<!leaves )behind": "after",
    r"nobody": "no job, no user, not known",
    r"whom": "which",
    r"(jobs|tasks|all) who": "jobs that",
    r"(?<!there )is no (?!longer|such|more)\w+": "is not a",
    r"(was|were|is|are|be) told": "given, said",
    r"it is said": "says",
    r"foretold": "predicted",
    r"stands? (in|at|on|below|last|before|with|beside|once|first|between) (?!for)": "is, are",
}
"""Words that read as translated -> what is written instead."""

NOT_YET = re.compile(r"docs/papers/|slurm-fidelity|fuzzing|contribute/style")
"""Pages that tell of other people's words, or are still to be read for them."""


def dialect(texts: dict[str, str]) -> list[str]:
    """Where texts say what others say otherwise."""
    return [
        f"{name}: {hit[0]!r}, write {ours!r}"
        for name, text in texts.items()
        for theirs, ours in DIALECT.items()
        if (hit := re.search(rf".{{0,20}}\b{theirs}\b", text, re.IGNORECASE))
    ]


def test_pages_and_help_are_plain_english() -> None:
    texts = {name: f"{command.help} {[p.help for p in command.params]}" for name, command in COMMANDS.items()}
    for page in (*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md"):
        if not NOT_YET.search(page.as_posix()):
            texts[page.name] = re.sub(r"```.*?```|`[^`]*`", "", page.read_text("utf-8"), flags=re.S)
    assert not (found := dialect(texts)), "\n".join(found)


SAID = ("cli", "what_if", "replay", "report", "figures", "changes", "forecast", "explain", "metrics", "site")
"""Rooms whose sentences people read first."""


def test_sentences_in_the_code_are_plain_english() -> None:
    texts: dict[str, str] = {}
    for room in SAID:
        for file in (ROOT / "src" / "headway" / room).rglob("*.py"):
            tree = ast.parse(file.read_text("utf-8"))
            notes = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            sentences = [
                node.value
                for node in ast.walk(tree)
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in notes
            ]
            texts[f"{room}/{file.name}"] = "\n".join(text for text in sentences if " " in text.strip())
    assert not (found := dialect(texts)), "\n".join(found)


@pytest.mark.parametrize(
    "words",
    [
        ("simulate",),
        ("simulate", "log.swf"),
        ("simulate", "log.swf", "--polcy", "easy"),
        ("compare", "log.swf", "--policy"),
        ("nonsense",),
    ],
)
def test_a_wrong_word_is_one_sentence_that_says_where_to_look(shell: Headway, words: tuple[str, ...]) -> None:
    result = shell(*words)
    assert result.status == 2
    assert re.fullmatch(r"headway: [^\n]+; see 'headway[\w ]* --help'\n", result.err), result.err


@pytest.mark.parametrize(
    ("policy", "clusters"),
    [("redirection(theta=2)", 1), ("dbf", 1), ("ujfb(swap=5)", 1), ("reallocation", 2)],
)
def test_every_number_that_a_policy_adds_has_a_unit(policy: str, clusters: int) -> None:
    log = busy(150, 24, 2.5, seed=3)
    log = log.with_columns(deadline=log.submit + 3 * log.walltime)
    made = headway.simulate(log, Platform(tuple(Cluster(f"c{i}", procs=24) for i in range(clusters))), policy)
    own = {name for name, value in made.summary().items() if isinstance(value, int | float)}
    assert len(own - set(UNITS)) > 5
    assert [name for name in own if not unit_of(name)] == []
