"""The job script of a task, with a fence that lets it run once.

    mkdir FENCE || exit          whoever makes the folder runs, on whichever cluster; all others end at once
    FENCE/started                the process of the script
    FENCE/exit                   the exit status of the task, written when it has ended into space that was
                                 taken before it began: it is known also where the disk is full by then

A batch system may run a job twice, as Slurm does when its controller is killed and restarted from an older
state; the fence, on storage that all clusters see, is what makes that harmless. It also is the truth about a
task that no queue knows any more: not started, started, or ended.
"""

from __future__ import annotations

import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from headway.errors import UsageError
from headway.live.task import Task, filled

FENCED, NO_FENCE, NO_SCRIPT = 75, 74, 73
"""Exit statuses of a copy that met the fence, of one that could not make it, and of a task whose script could
not be written."""


@dataclass(frozen=True)
class Fence:
    """What the folder of a task says; times in µs since 1970."""

    pid: int | None
    cluster: str
    started: int
    code: int | None
    ended: int | None


def read_fence(folder: Path) -> Fence | None:
    """What is known of a task by its fence; None: it has not started."""
    try:
        started = folder.stat().st_mtime_ns // 1000
    except OSError:
        return None
    pid = code = ended = None
    cluster = ""
    try:
        file = folder / "started"
        number, _, cluster = file.read_text().strip().partition(" ")
        pid, started = int(number), file.stat().st_mtime_ns // 1000
    except (OSError, ValueError):
        pass
    try:
        file = folder / "exit"
        code, ended = int(file.read_text()), file.stat().st_mtime_ns // 1000
    except (OSError, ValueError):
        pass
    return Fence(pid, cluster, started, code, ended)


def take_fence(folder: Path) -> None:
    """Make the fence of a task that was cancelled, so that no copy of it that is left somewhere can start."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise UsageError(f"a cancelled task is not fenced off: {folder}: {error.strerror}") from None


def remove_fence(folder: Path) -> None:
    """Forget a task that is long over."""
    shutil.rmtree(folder, ignore_errors=True)


def job_script(task: Task, fence: Path, key: str, procs: int, cluster: str) -> str:
    """The text of the script, for /bin/sh. Every word of the user's is quoted."""
    place = shlex.quote(str(fence))
    lines = [
        "#!/bin/sh",
        f"# Headway task {key}",
        f"fence={place}",
        'if ! mkdir "$fence" 2>/dev/null; then',
        f'  [ -d "$fence" ] && {{ echo "headway: {key} has started before" >&2; exit {FENCED}; }}',
        f'  echo "headway: the fence $fence cannot be made" >&2; exit {NO_FENCE}',
        "fi",
        f'if ! {{ echo "$$" {shlex.quote(cluster)} > "$fence/started.new" &&',
        '  echo "        " > "$fence/exit.new" &&',
        '  mv "$fence/started.new" "$fence/started"; } 2>/dev/null; then',
        f'  rm -rf "$fence"; echo "headway: nothing can be written to $fence" >&2; exit {NO_FENCE}',
        "fi",
        "leave() {",
        '  printf %-8s "$1" 1<> "$fence/exit.new" && mv "$fence/exit.new" "$fence/exit"',
        '  exit "$1"',
        "}",
        f"export HEADWAY_TASK={shlex.quote(key)} HEADWAY_PROCS={procs}",
        f"export HEADWAY_CLUSTER={shlex.quote(cluster)}",
    ]
    if task.folder:
        lines.append(f"cd {shlex.quote(task.folder)} || leave 72")
    if task.stage:
        lines.append(f"{_words(task.stage, procs, cluster)} || leave $?")
    if task.script:
        lines += _embedded(filled(task.script, procs, cluster))
        lines.append('"$fence/script"')
    else:
        lines.append(_words(task.command, procs, cluster))
    lines.append("leave $?")
    return "\n".join(lines) + "\n"


def _words(command: tuple[str, ...], procs: int, cluster: str) -> str:
    """A command whose words reach the program as they are: exec knows no words of the shell."""
    return f"(exec {' '.join(shlex.quote(filled(word, procs, cluster)) for word in command)})"


def _embedded(text: str) -> list[str]:
    """Lines that write a script beside the fence, ending at a word that is no line of it."""
    end = "HEADWAY"
    while end in text.splitlines():
        end += "_"
    or_leave = f"|| leave {NO_SCRIPT}"
    begin = f"cat > \"$fence/script\" <<'{end}' {or_leave}"
    return [begin, text.rstrip("\n"), end, f'chmod +x "$fence/script" {or_leave}']
