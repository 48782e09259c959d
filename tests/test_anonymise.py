"""An anonymous copy: nobody is named in it, and it means the same to a scheduler."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headway.errors import InputError
from headway.workload import read
from headway.workload.anonymise import anonymise
from headway.workload.slurm.anonymous import Pseudonyms
from headway.workload.swf_partial import WHOLE_JOBS_LINE
from sacct_texts import Export

SWF = """\
; Computer: The machine of J. Smith
; MaxProcs: 8
; Note: mail jane@example.org about /home/jane
1 0 5 10 2 -1 -1 2 12 -1 1 501 20 7 1 -1 -1 -1
2 1 5 10 4 -1 -1 4 10 -1 1 502 20 -1 1 -1 -1 -1
3 2 5 5 2 -1 -1 2 8 -1 1 501 21 7 1 -1 -1 -1
"""

SACCT = """\
JobID|User|UID|Account|JobName|WorkDir|State|Submit|Elapsed|AllocCPUS|NodeList|Comment|SubmitLine|Shoes
7|jane|501|chem|prot|/home/jane/a|COMPLETED|100|00:01:00|4|cn[01-02]|call me|sbatch /home/jane/x|39
7.batch|||chem|batch||COMPLETED|100|00:01:00|4|cn01|||
8|bob|502|chem|jane's|/home/bob|CANCELLED by 501|110|00:01:00|4|gpu1|||
9|jane|501|phys|prot|/home/jane/a|COMPLETED|120|00:01:00|4|cn01|||
"""


def written(tmp_path: Path, text: str, key: str | None = None) -> str:
    source, target = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text(text)
    anonymise(source, target, key)
    return target.read_text()


def test_swf_by_hand(tmp_path: Path) -> None:
    assert written(tmp_path, SWF).splitlines() == [
        "; MaxProcs: 8",
        "1 0 5 10 2 -1 -1 2 12 -1 1 1 1 1 1 -1 -1 -1",
        "2 1 5 10 4 -1 -1 4 10 -1 1 2 1 -1 1 -1 -1 -1",
        "3 2 5 5 2 -1 -1 2 8 -1 1 1 2 1 1 -1 -1 -1",
    ]


def test_what_readers_take_from_comments_is_kept(tmp_path: Path) -> None:
    job = "7 0 5 10 2 -1 -1 2 12 -1 2 501 20 7 1 -1 -1 -1\n"
    comments = "; MaxProcs: 1,024 (on cn[1-8])\n; MaxNodes: 8\n; UnixStartTime: soon\n"
    kept = written(tmp_path, comments + "; WholeJobs: says Jane\n" + job + job.replace("7", "8", 1))
    assert kept.splitlines()[:-2] == ["; MaxProcs: 1024", "; MaxNodes: 8", WHOLE_JOBS_LINE]
    workload = read(tmp_path / "out.txt")
    assert workload.header.max_procs == 1024
    assert workload.job.tolist() == [7, 8] and workload.status.tolist() == [2, 2]


def test_sacct_by_hand(tmp_path: Path) -> None:
    assert written(tmp_path, SACCT).splitlines() == [
        "JobID|User|UID|Account|JobName|WorkDir|State|Submit|Elapsed|AllocCPUS|NodeList|SubmitLine",
        "7|user1|1|account1|name1|/path1|COMPLETED|100|00:01:00|4|host1-[01-02]|sbatch job.sh",
        "7.batch|||account1|batch||COMPLETED|100|00:01:00|4|host1-01|",
        "8|user2|2|account1|name2|/path2|CANCELLED by 1|110|00:01:00|4|host2-1|",
        "9|user1|1|account2|name1|/path1|COMPLETED|120|00:01:00|4|host1-01|",
    ]


def test_what_was_done_is_told(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text(SACCT)
    done = anonymise(tmp_path / "in.txt", tmp_path / "out.txt.gz")
    assert done.lines == 4 and done.left_out == ["Comment", "Shoes"]
    assert done.replaced["user"] == 2 and done.replaced["/path"] == 2
    assert len(read(tmp_path / "out.txt.gz")) == 3


def test_a_key_gives_the_same_names_in_several_files(tmp_path: Path) -> None:
    first = written(tmp_path, SACCT, "a long secret")
    lines = SACCT.splitlines()
    reversed_order = "\n".join([lines[0], lines[4], lines[3], lines[1]]) + "\n"
    second = written(tmp_path, reversed_order, "a long secret")
    other = written(tmp_path, SACCT, "another secret")
    assert set(first.splitlines()) > set(second.splitlines())
    assert not set(first.splitlines()[1:]) & set(other.splitlines()[1:])
    assert re.search(r"^7\|user[0-9a-f]{12}\|\d+\|", first, re.MULTILINE)
    for text in (first, other):
        assert not re.search("jane|bob|chem|prot|home|gpu|call", text)


def test_the_scheduler_sees_no_difference(tmp_path: Path) -> None:
    text = Export().text(2_000)
    (tmp_path / "in.txt").write_text(text)
    anonymise(tmp_path / "in.txt", tmp_path / "out.txt")
    before, after = read(tmp_path / "in.txt"), read(tmp_path / "out.txt")
    for name in ("job", "submit", "wait", "runtime", "walltime", "procs", "user", "group", "queue"):
        assert before.columns[name].tolist() == after.columns[name].tolist(), name
    assert len(before.labels["user"]) == len(after.labels["user"]) == 40
    assert not re.search(r"\bu\d+\b", (tmp_path / "out.txt").read_text())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("JobID|User\n7|a|b\n", "2: has 3 fields and the first line names 2"),
        ("User|State\n7|a\n", "has no column JobIDRaw or JobID"),
        ('{"jobs": [], "meta": 1}', "has no job lines"),
        ('{"nb_res": 4, "jobs": []}', "only SWF and sacct's output"),
        ("1 2 3 jane\n", "1: is not a line of numbers"),
        ("; MaxProcs: 3\n", "has no job lines"),
    ],
)
def test_damage_gets_one_sentence_and_no_file(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        written(tmp_path, text)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt"]


def test_pseudonyms_differ_between_kinds_and_keys() -> None:
    names = Pseudonyms("secret key")
    assert names.number("user", "a") == names.number("user", "a") != names.number("group", "a")
    assert names.number("user", "a") != Pseudonyms("other key").number("user", "a")
    assert Pseudonyms().name("user", "a") == "user1"
