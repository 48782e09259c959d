"""Each command with a file or folder of the wrong kind: a sentence names it, status 2, nothing is written."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from commands import SWF, Headway

pytestmark = pytest.mark.interpreted

GRID = '[grid]\nfolder = "state"\nlisten = "unix"\n\n[[cluster]]\nname = "lyon"\nprocs = 4\n'
CONF = "ClusterName=c\nNodeName=n1 CPUs=4\nPartitionName=p Nodes=n1 Default=YES\n"
KINDS = [
    "log.swf", "result", "site", "table.csv", "picture.png", "folder", "empty.txt", "notes.txt",
    "missing.swf", "site.tar.gz", "grid.toml", "jobs.json",
]  # fmt: skip
LOG, RESULT, SITE, CSV, BINARY, FOLDER, EMPTY, TEXT, _, ARCHIVE, TOML, JSON = KINDS

LOGS = {LOG, SITE}
FILE = "X"
COMMANDS: dict[str, set[str]] = {
    "inspect X": LOGS,
    "convert X new.swf": LOGS | {RESULT},
    "weeks X": LOGS,
    "anonymise X new": LOGS | {ARCHIVE},
    "datasets add X mine": {LOG},
    "simulate X --policy fcfs --procs 4 --out new": LOGS,
    "simulate X --policy fcfs --procs 4 --stream --out new": {LOG},
    "compare X --policy fcfs --policy easy --procs 4 --out new": LOGS,
    "sweep X --out new --workers 1": set(),
    "explain X 1": {RESULT},
    "plot X -o new.svg": {RESULT},
    "report X -o new.html": {RESULT},
    "report result X -o new.html": {RESULT},
    "audit X": {RESULT},
    "audit X --trace log.swf": {RESULT},
    "audit result/schedule.csv --trace X": LOGS,
    "audit result/schedule.csv --trace log.swf --runs X": set(),
    "policies ./X": set(),
    "site X": {SITE},
    "site import X new": {SITE, ARCHIVE},
    "replay X --policy fcfs": LOGS,
    "what-if X procs=+1": LOGS,
    "what-if log.swf --variants X": set(),
    "when X --job-procs 1 --walltime 1h": LOGS,
    "when log.swf --job-procs 1 --walltime 1h --live X --cluster lyon": {TOML},
    "when log.swf --job-procs 1 --walltime 1h --site X": {SITE},
    "forecast check X": LOGS,
    "simulate log.swf --policy fcfs --platform X --out new": set(),
    "simulate log.swf --policy fcfs --annotations X --out new": set(),
    "simulate log.swf --policy fcfs --events X --out new": set(),
    "simulate log.swf --policy ./X --out new": set(),
    "simulate log.swf --policy slurm --site X --out new": {SITE},
    "generate X -o new.swf": set(),
    "reproduce redirection --quick --trace curie=X --out new": LOGS,
    "batsim run X --replay log.swf --procs 4": LOGS,
    "batsim run log.swf --replay X --procs 4": set(),
    "cache warm X": set(),
    "live agent X": {TOML},
    "live server X lyon": {TOML},
    "live queue --grid X": {TOML},
    "live status --grid X": {TOML},
    "live cancel 1 --grid X": {TOML},
    "live submit --grid X --procs 1 --walltime 1h true": {TOML},
    "live shadow X lyon --policy fcfs": {TOML},
    "live record X": {TOML},
    "live ready X --timeout 0": {TOML},
}
"""A command with ``X`` for what is tried, and the kinds that are not wrong there."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kinds")
    (folder / LOG).write_text(SWF)
    (folder / SITE).mkdir()
    (folder / SITE / "slurm.conf").write_text(CONF)
    (folder / CSV).write_text("name,size\na,1\nb,2\n")
    (folder / BINARY).write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8)
    (folder / FOLDER).mkdir()
    (folder / EMPTY).write_bytes(b"")
    (folder / TEXT).write_text("It was a dark night.\nNothing happened.\n")
    (folder / TOML).write_text(GRID)
    (folder / JSON).write_text('{"sizes": [1, 2]}\n')
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        member = tarfile.TarInfo("site/slurm.conf")
        member.size = len(CONF)
        archive.addfile(member, io.BytesIO(CONF.encode()))
    (folder / ARCHIVE).write_bytes(gzip.compress(packed.getvalue()))
    return folder


@pytest.fixture
def headway(made: Path, headway: Headway) -> Headway:
    for path in made.rglob("*"):
        other = headway.folder / path.relative_to(made)
        if path.is_dir():
            other.mkdir(exist_ok=True)
        else:
            other.write_bytes(path.read_bytes())
    assert headway("simulate", LOG, "--policy", "easy", "--out", RESULT).status == 0
    return headway


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_of_the_wrong_kind_is_refused_by_its_name(command: str, headway: Headway) -> None:
    before = headway.files()
    for kind in KINDS:
        if kind in COMMANDS[command]:
            continue
        words = [kind if word == FILE else word.replace(FILE, kind) for word in command.split()]
        done = headway(*words)
        assert done.status == 2 and done.out == "", (words, done)
        *notes, sentence = done.err.splitlines()
        assert not notes or command.startswith("reproduce"), done.err
        assert sentence.startswith("headway: ") and kind in sentence, sentence
        assert "Traceback" not in sentence and "[Errno" not in sentence and "codec" not in sentence, sentence
        if kind in (FOLDER, RESULT, SITE) and not command.startswith("generate"):
            assert "no such file;" not in sentence and "permissions" not in sentence, sentence
        assert headway.files() == before, words
