"""run.json read back: every entry is what it should be, and the files beside it are those of the same run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from headway.documents import (
    Check,
    check_entries,
    digest_of,
    either,
    is_none,
    is_number,
    is_table,
    is_text,
    is_whole,
    list_of,
    read_json,
    table_of,
)
from headway.errors import InputError
from headway.platform.cluster import MOST_PROCS
from headway.schedule.files import NAMES, RUN
from headway.schedule.twins import Difference, first_difference

AGAIN = "run the simulation again"


def _is_entry(row: Any) -> bool:
    """Whether a value is an entry of a ledger."""
    return (
        is_table(row)
        and is_text(row.get("rule"))
        and is_text(row.get("action"))
        and is_whole(row.get("count"))
        and list_of(is_number)(row.get("jobs"))
    )


SOURCE = ("name", "sha256", "format")
"""What is said of a log."""

ENTRIES: dict[str, Check] = {
    "version": is_text,
    "policy": is_text,
    "platform": is_table,
    "processors": lambda value: is_whole(value) and 0 < value <= MOST_PROCS,
    "groups": table_of(is_whole),
    "promise": is_text,
    "jobs": is_whole,
    "ledger": list_of(_is_entry),
    "jobs_in_log": is_whole,
    "dropped": is_whole,
    "trace": lambda value: is_table(value) and all(is_text(value.get(key)) for key in SOURCE),
    "rules": table_of(is_text),
    "unix_start": either(is_none, is_whole),
    "transformations": list_of(is_text),
    "named": list_of(is_text),
    "labels": table_of(list_of(is_text)),
    "own": is_table,
    "files": table_of(is_text),
    "seed": is_whole,
    "command": is_text,
    "policy_source": is_table,
    "timing": table_of(is_number),
    "mean_queue_per_pass": is_number,
    "max_queue": is_number,
    "events": is_number,
    "passes": is_number,
}
"""What the entries of run.json are; others are kept as they stand there."""

NEEDED = ("policy", "platform", "processors")


def read_record(folder: Path) -> dict[str, Any]:
    """The run.json of a folder; a folder in which files of two runs are mixed is refused."""
    path = folder / RUN
    record = read_json(path, AGAIN)
    check_entries(record, ENTRIES, path, AGAIN)
    for key in NEEDED:
        if key not in record:
            raise InputError(f"the entry is missing; {AGAIN}", file=path, field=key)
    _check_files(folder, record)
    return dict(record)


def _check_files(folder: Path, record: dict[str, Any]) -> None:
    """Hold the files against their digests; a record that has none is of an older version."""
    written = record.get("files")
    if written is None:
        return
    for name in NAMES:
        path = folder / name
        if name == RUN or (name not in written and not path.exists()):
            continue
        if name not in written or not path.is_file() or digest_of(path) != written[name]:
            wrong = "is not of the same run as" if path.is_file() else "is missing beside"
            found = _what_differs(path, written)
            raise InputError(
                f"{wrong} {RUN}, or was changed since{f': {found.message}' if found else ''}; {AGAIN}, or "
                "judge the table alone with 'headway audit FILE.csv --trace LOG'",
                file=path,
                line=found.line if found else None,
                field=found.field if found else None,
            )


def _what_differs(path: Path, written: dict[str, str]) -> Difference | None:
    """What was changed in a table, where the same one is there in the other format, as it was written."""
    twin = path.with_suffix({".csv": ".parquet", ".parquet": ".csv"}.get(path.suffix, path.suffix))
    if twin == path or not (path.is_file() and twin.is_file()) or digest_of(twin) != written.get(twin.name):
        return None
    return first_difference(path, twin)
