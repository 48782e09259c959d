"""Damaged exports are read with a ledger that adds up, or refused in one sentence."""

from __future__ import annotations

import io
import json
import random
import sys
import time
from typing import Any

import pytest

from headway.errors import HeadwayError, InputError
from headway.workload import Workload, read
from headway.workload.read import recognised
from headway.workload.slurm.asked import NUMBERS
from headway.workload.slurm.cells import MOST_TASKS, task_numbers, waiting_tasks
from headway.workload.slurm.reading import read_sacct
from sacct_texts import Export
from test_batsim import DOCUMENT
from test_slurm_json import new_job, old_job

TEXTS = {
    "sacct": Export(seed=7).text(60).encode(),
    "sacct-json": json.dumps({"meta": {}, "jobs": [new_job(number) for number in range(4)]}).encode(),
    "batsim": json.dumps(DOCUMENT).encode(),
}
DEBRIS = (
    b"|", b"\n", b"-1", b"9" * 20, b"", b"\xff", b"UNLIMITED", b"1e9", b"\0", b'"', b"[", b"{", b"T", b"0",
    b" ", b"2024-13-45T99:00:00", b"null", b"+0", b".batch", b"_[1-3]", b"Infinity",
)  # fmt: skip


def damaged(text: bytes, rng: random.Random) -> bytes:
    content = bytearray(text)
    for _ in range(rng.choice((1, 1, 2, 5))):
        place = rng.randrange(len(content))
        kind = rng.random()
        if kind < 0.5:
            content[place : place + rng.randrange(6)] = rng.choice(DEBRIS)
        elif kind < 0.8:
            content[place] = rng.randrange(256)
        else:
            del content[place : place + rng.randrange(1, 200)]
    return bytes(content)


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_damage_is_read_or_refused_in_one_sentence(kind: str, zone: str) -> None:
    rng = random.Random(f"{kind} {zone}")
    outcomes = set()
    for _ in range(60):
        text = damaged(TEXTS[kind], rng)
        try:
            work = read(io.BytesIO(text), zone=zone)
        except HeadwayError as error:
            assert "\n" not in str(error) and len(str(error)) < 700
            outcomes.add("refused")
        else:
            assert work.ledger.total == len(work) + work.ledger.dropped
            outcomes.add("read")
    assert outcomes == {"read", "refused"}


@pytest.mark.parametrize("kind", TEXTS)
def test_the_format_is_found_from_the_content(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert recognised(TEXTS[kind], "any name") == kind
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXTS[kind])))
    work = read("-")
    assert work.source.format == kind and work.source.name == "-" and len(work) > 0
    assert work.source.sha256 == read(io.BytesIO(TEXTS[kind])).source.sha256


def jobs(*records: dict[str, str]) -> Workload:
    """The jobs of an export with these cells, and what they asked for."""
    cells = {
        "JobID": "7", "JobIDRaw": "7", "State": "COMPLETED", "Submit": "1700000000", "ElapsedRaw": "60",
        "ReqCPUS": "4", "ReqTRES": "cpu=4", "Timelimit": "00:10:00", "TimelimitRaw": "",
        "SubmitLine": "sbatch x",
    }  # fmt: skip
    lines = ["|".join(cells), *("|".join((cells | record).values()) for record in records)]
    return read_sacct(io.BytesIO("".join(f"{line}\n" for line in lines).encode()), requests=True)


@pytest.mark.parametrize(
    "option",
    [
        "--nice=+-5", f"--nice={'9' * 25}", "--nice=²", "-n ²", f"-n {'9' * 25}", f"-N {'9' * 25}",
        f"-N 1-{'9' * 25}", f"-c {'9' * 25}", f"--mem={'9' * 25}G", f"--mem-per-cpu={'9' * 25}",
        f"--array=1-5%{'9' * 25}", f"--ntasks-per-node={'9' * 25}",
    ],
)  # fmt: skip
def test_what_no_slurm_takes_is_not_asked_for(option: str) -> None:
    asked, plain = jobs({"SubmitLine": f"sbatch {option} x"}), jobs({})
    for name in NUMBERS:
        assert asked.columns[name].tolist() == plain.columns[name].tolist(), name


def test_a_limit_on_the_least_time_stays_in_range() -> None:
    assert jobs({"SubmitLine": f"sbatch --time-min={'9' * 12}-00 x"}).columns["time_min"][0] > 0


@pytest.mark.parametrize("name", ["gres/gpu", "license/tool"])
@pytest.mark.parametrize("count", ["", "=", "=1=2", "=²", "=x"])
def test_a_resource_without_a_count(name: str, count: str) -> None:
    assert len(jobs({"ReqTRES": f"cpu=4,{name}{count}"})) == 1


@pytest.mark.parametrize("shown", ["365-00:00:00", "525600", "UNLIMITED"])
def test_a_year_is_no_limit_whichever_column_says_so(shown: str) -> None:
    for column in ("Timelimit", "TimelimitRaw"):
        log = jobs({"Timelimit": "", column: shown})
        assert [entry.rule for entry in log.ledger] == ["no_limit", "no_estimate"]
        assert log.columns["walltime"].tolist() == log.columns["runtime"].tolist()


def test_a_list_of_tasks_that_was_cut_short_is_no_step() -> None:
    """sacct shows 64 letters of such a list unless SLURM_BITSTR_LEN says otherwise."""
    log = jobs({}, {"JobID": "8_[1,3-5,7...]", "JobIDRaw": "8", "State": "PENDING"})
    assert (log.ledger.total, log.ledger.kept, log.ledger.dropped) == (5, 1, 4)
    (cut,) = [entry for entry in log.ledger if "cut short" in entry.action]
    assert cut.rule == "array_tasks" and cut.jobs == (8,)
    assert "steps" not in {entry.rule for entry in log.ledger}


def test_tasks_beyond_what_slurm_can_have_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("cells", "jobs"):
        monkeypatch.setattr(f"headway.workload.slurm.{module}.MOST_TASKS", 3)
    log = jobs({}, {"JobID": "8_[0-1,7-9]", "JobIDRaw": "8", "State": "PENDING"})
    assert (log.ledger.total, log.ledger.kept, log.ledger.dropped) == (4, 1, 3)
    (told,) = [entry for entry in log.ledger if "more tasks than" in entry.action]
    assert told.action == "a list of more tasks than Slurm can have: the first 3" and told.jobs == (8,)


def test_an_array_of_a_thousand_million_tasks_takes_no_memory() -> None:
    assert len(task_numbers("8_[0-999999999]")) == waiting_tasks("8_[0-999999999]") == MOST_TASKS


HEAD = b"JobID|State|Submit|ElapsedRaw|Timelimit|ReqCPUS|"
RECORD = b"7|COMPLETED|1700000000|60|00:10:00|4|"
FLOOD = b"|".join([b"abcd"] * 24_000)


@pytest.mark.parametrize(
    "text",
    [
        HEAD + b"JobName|Comment|WorkDir|SubmitLine|NNodes\n" + RECORD + FLOOD + b"|y\n",
        HEAD + b"Constraints|Comment|SubmitLine|NNodes\n" + RECORD + FLOOD.replace(b"abcd", b"f") + b"|y\n",
        HEAD + b"JobName|Comment|SubmitLine|NNodes\n" + b"|" * 140_000 + b"\n",
        HEAD
        + b"JobName|"
        + b"|".join(b"c%d" % n for n in range(3000))
        + b"\n"
        + RECORD
        + b"x|" * 4000
        + b"\n",
    ],
)
def test_a_flood_of_separators_is_refused_with_its_line_before_long(text: bytes) -> None:
    begun = time.process_time()
    with pytest.raises(InputError, match=r"-:2: has \d+ fields and the first line names \d+"):
        read(io.BytesIO(text))
    assert time.process_time() - begun < 10


def test_a_flood_of_separators_in_the_only_free_text_is_its_text() -> None:
    assert len(read(io.BytesIO(HEAD + b"SubmitLine|NNodes\n" + RECORD + b"sbatch " + FLOOD + b"|1\n"))) == 1


@pytest.mark.parametrize("cut", range(1, 60))
def test_a_header_that_is_cut_goes_on_nothing_above_it(cut: int) -> None:
    """Joined exports, the last of which broke off in its header: no record is above that, only headers."""
    header = "JobIDRaw|User|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS|JobName\n"
    text = 3 * header + header[:cut]
    with pytest.raises(InputError) as caught:
        read_sacct(io.BytesIO(text.encode()))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("job", [new_job(), old_job()])
def test_halves_of_characters_in_any_text_of_json_are_read(job: dict[str, Any]) -> None:
    """JSON can name them, UTF-8 cannot hold them."""

    def halved(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: halved(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [halved(inner) for inner in value]
        return f"{value}\ud800" if isinstance(value, str) and value else value

    work = read(io.BytesIO(json.dumps({"meta": {}, "jobs": [halved(job)]}).encode()))
    assert len(work) == 1 and work.labels["user"] == [f"{job['user']}\ufffd"]
