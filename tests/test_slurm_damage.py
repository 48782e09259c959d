"""Damaged exports are read with a ledger that adds up, or refused in one sentence."""

from __future__ import annotations

import io
import json
import random
import sys

import pytest

from headway.errors import HeadwayError
from headway.workload import read
from headway.workload.formats import recognised
from sacct_texts import Export
from test_batsim import DOCUMENT
from test_slurm_json import new_job

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
