"""Reading SWF: lines per CPU second, compiled and light parser, plain and gzipped."""

from __future__ import annotations

import gzip
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import headway
from benchmarks.rates import Row
from headway.workload import write_swf
from headway.workload.models import lublin


def on_all_readers(folder: Path | None, quick: bool) -> Iterator[Row]:
    """Both parsers on the largest log at hand, or on a generated one."""
    with tempfile.TemporaryDirectory() as scratch:
        packed = Path(scratch) / "log.swf.gz"
        logs = sorted(folder.glob("*.swf.gz"), key=lambda path: path.stat().st_size) if folder else []
        if logs:
            source = logs[0 if quick else -1]
            packed.write_bytes(source.read_bytes())
            name = source.name.removesuffix(".swf.gz")
        else:
            name = "lublin"
            write_swf(lublin(jobs=20_000 if quick else 400_000, seed=1), packed)
        plain = Path(scratch) / "log.swf"
        plain.write_bytes(gzip.decompress(packed.read_bytes()))
        for parser, compiled in (("compiled", True), ("light", False)):
            for form, path in (("plain", plain), ("gz", packed)):
                yield reading(name, path, parser, compiled, form)


def reading(name: str, path: Path, parser: str, compiled: bool, form: str) -> Row:
    """The best of three readings; the first one, which may compile, is not counted."""
    lines = headway.read(path, compiled=compiled).ledger.total
    seconds = []
    for _ in range(3):
        begin = time.process_time()
        headway.read(path, compiled=compiled)
        seconds.append(time.process_time() - begin)
    return {
        "log": name,
        "parser": parser,
        "file": form,
        "job lines": lines,
        "CPU s": round(min(seconds), 3),
        "lines/CPU s": round(lines / max(min(seconds), 1e-9)),
    }
