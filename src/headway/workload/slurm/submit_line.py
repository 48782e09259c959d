"""The command line a job was submitted with, as sacct's SubmitLine keeps it: words joined by blanks.

Slurm does not keep quotes, so everything behind --wrap and behind the script's name is left alone.
"""

from __future__ import annotations

import shlex

_WITH_VALUE = {
    "a": "array", "A": "account", "b": "begin", "c": "cpus-per-task", "C": "constraint", "d": "dependency",
    "D": "chdir", "e": "error", "F": "nodefile", "G": "gpus", "i": "input", "J": "job-name",
    "L": "licenses", "m": "distribution", "M": "clusters", "n": "ntasks", "N": "nodes", "o": "output",
    "p": "partition", "q": "qos", "S": "core-spec", "t": "time", "w": "nodelist", "x": "exclude",
}  # fmt: skip
_WITHOUT_VALUE = {
    "H": "hold", "O": "overcommit", "Q": "quiet", "s": "oversubscribe", "u": "unbuffered", "v": "verbose",
    "W": "wait", "k": "no-kill", "h": "help", "I": "immediate", "K": "kill-on-bad-exit", "l": "label",
    "X": "disable-status", "Z": "no-allocate", "E": "preserve-env",
}  # fmt: skip
_LONG_WITH_VALUE = frozenset((
    *_WITH_VALUE.values(), "acctg-freq", "bb", "bbf", "cluster-constraint", "comment", "container",
    "container-id", "container-type", "ignore-signals", "mem-update", "treewidth", "cores-per-socket",
    "cpu-freq", "cpus-per-gpu", "deadline", "delay-boot", "export", "export-file", "extra", "extra-node-info",
    "gid", "gpu-bind", "gpu-freq", "gpus-per-node", "gpus-per-socket", "gpus-per-task", "gres", "gres-flags",
    "hint", "kill-on-invalid-dep", "mail-type", "mail-user", "mcs-label", "mem", "mem-bind", "mem-per-cpu",
    "mem-per-gpu", "mincpus", "network", "ntasks-per-core", "ntasks-per-gpu", "ntasks-per-node",
    "ntasks-per-socket", "open-mode", "power", "prefer", "priority", "profile", "reservation", "resources",
    "resv-ports", "segment", "signal", "sockets-per-node", "switches", "thread-spec", "threads-per-core",
    "time-min", "tmp", "tres-bind", "tres-per-task", "uid", "wckey", "workdir", "wrap",
))  # fmt: skip
_LONG_WITHOUT_VALUE = frozenset((
    *_WITHOUT_VALUE.values(), "exclusive", "contiguous", "get-user-env", "ignore-pbs", "nice", "no-requeue",
    "parsable", "propagate", "reboot", "requeue", "spread-job", "stepmgr", "test-only", "use-min-nodes",
    "usage", "version", "pty", "bell", "no-bell", "no-shell", "overlap", "exact", "external", "interactive",
    "consolidate-segments", "spread-segments",
))  # fmt: skip
_COMMANDS = ("sbatch", "srun", "salloc")


def options(line: str) -> dict[str, str]:
    """Options by their long names; "" for those without a value. Nothing where it is no such command.

    >>> options("sbatch -N 3 -n24 -p batch,big --mem=4G --exclusive job.sh -n 7")
    {'nodes': '3', 'ntasks': '24', 'partition': 'batch,big', 'mem': '4G', 'exclusive': ''}
    """
    return options_and_script(line)[0]


def options_and_script(line: str) -> tuple[dict[str, str], str]:
    """The same, and the name of the job's script; "" where there is none.

    >>> options_and_script("sbatch -N 3 runs/job.sh 7"), options_and_script("sbatch --wrap hostname")
    (({'nodes': '3'}, 'job.sh'), ({}, ''))
    """
    words = _words(line)
    if not words or words[0].rsplit("/", 1)[-1] not in _COMMANDS:
        return {}, ""
    found: dict[str, str] = {}
    place = 1
    while place < len(words):
        word = words[place]
        place += 1
        following = words[place] if place < len(words) else ""
        if word in ("--", "-"):
            break
        if not word.startswith("-"):
            return found, word.rsplit("/", 1)[-1]
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            name = _long(name)
            if not equals and name in _LONG_WITH_VALUE:
                value, place = following, place + 1
            if name == "wrap":
                break
            found[name] = value
            continue
        place += _short(word[1:], following, found)
    return found, ""


def _words(line: str) -> list[str]:
    if '"' in line or "'" in line:
        try:
            return shlex.split(line)
        except ValueError:
            pass  # an apostrophe in a comment, say
    return line.split()


def _long(name: str) -> str:
    """An option's whole name: Slurm takes any beginning that only one of them has."""
    if name in _LONG_WITH_VALUE or name in _LONG_WITHOUT_VALUE:
        return name
    meant = [known for known in (*_LONG_WITH_VALUE, *_LONG_WITHOUT_VALUE) if known.startswith(name)]
    return meant[0] if len(meant) == 1 else name


def _short(letters: str, following: str, found: dict[str, str]) -> int:
    """Options of one letter in a word, such as Hn2; gives how many words their value took besides."""
    while letters:
        letter, letters = letters[0], letters[1:]
        if letter in _WITH_VALUE:
            found[_WITH_VALUE[letter]] = letters or following
            return 0 if letters else 1
        if letter in _WITHOUT_VALUE:
            found[_WITHOUT_VALUE[letter]] = ""
    return 0
