"""``headway anonymise``: a copy of a log that can be given away."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from headway.cli import options
from headway.cli.display import Display, output
from headway.cli.frame import command
from headway.errors import UsageError
from headway.plain import counted
from headway.writing import refuse_existing

KEY_VARIABLE = "HEADWAY_KEY"
"""Environment variable with the secret; a secret on the command line is seen by everybody on the machine."""


@command("anonymise", example="headway anonymise jobs.txt anonymous.txt")
def anonymise(
    source: Annotated[
        str,
        options.argument(
            "IN", "SWF log, sacct's text or JSON, - for standard input, or a site's folder or archive."
        ),
    ],
    target: Annotated[
        Path,
        options.argument(
            "OUT", "File to write; .gz packs it, - prints it. For a site a folder or a .tar.gz."
        ),
    ],
    key_file: Annotated[
        Path | None,
        options.value(
            "--key-file",
            "FILE",
            f"File with a secret that gives the same names in several files; else ${KEY_VARIABLE}.",
        ),
    ] = None,
    force: options.ReplaceOut = False,
    quiet: options.Quiet = False,
) -> None:
    """Replace every name in a log or in a whole site.

    Users, accounts, partitions, QOS, nodes, features, licences, reasons, job names and paths are numbered as
    they appear, or hashed with a secret key. Comments and columns that are not known to be harmless are left
    out. What is kept, and why, is listed.
    """
    printed = str(target) == "-"
    refuse_existing(target, force or printed)
    key = _key(key_file)

    from headway.site.archive import is_archive
    from headway.workload.anonymise import anonymise as replace_names

    place = Path(source)
    quiet = quiet or printed
    with Display(quiet).working(f"reading {source}"):
        if place.is_dir() or is_archive(place):
            if printed:
                raise UsageError("a site has several files; give a folder or a .tar.gz in place of -")
            from headway.site.anonymise import anonymise_site

            done = anonymise_site(place, target, key)
        else:
            done = replace_names(source, target, key)
    if quiet:
        return
    console = output()
    replaced = ", ".join(f"{count:,} {kind.lstrip('/')}" for kind, count in done.replaced.items() if count)
    console.print(f"{counted(done.lines, 'line')} written to {target}")
    console.print(f"replaced: {replaced or 'nothing'}")
    by_reason: dict[str, list[str]] = {}
    for what, why in done.kept.items():
        by_reason.setdefault(why, []).append(what)
    for why, listed in by_reason.items():
        console.print(f"kept: {', '.join(listed)} ({why})")
    if done.left_out:
        names = ", ".join(dict.fromkeys(done.left_out))
        console.print(f"left out, because these may contain anything: {names}")
    if done.blanked:
        values = ", ".join(f"{count:,} {kind}" for kind, count in done.blanked.items())
        console.print(f"emptied, because they are not valid values of their fields: {values}")


def _key(file: Path | None) -> str | None:
    """The secret of a file, else of the environment; None where there is neither."""
    if file is not None:
        try:
            key = file.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise UsageError(f"--key-file {file}: the key cannot be read: {why}") from None
        where = str(file)
    else:
        key, where = os.environ.get(KEY_VARIABLE, "").strip(), f"${KEY_VARIABLE}"
        if not key:
            return None
    if len(key) < 8:
        raise UsageError(
            f"{where}: a key must have at least 8 characters, or names could be guessed by trying"
        )
    return key
