"""Slurm's commands, with a time limit: a controller that is dead takes nine seconds to say so."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from headway.live.grid_file import Site
from headway.live.task import Task
from headway.live.wire import NoAnswer, Refused

SILENT = (
    "Unable to contact slurm controller",
    "Connection refused",
    "Socket timed out",
    "Zero Bytes were transmitted",
    "Slurm backup controller in standby mode",
    "Connection timed out",
    "Unexpected message received",
    "Communication connection failure",
    "Protocol authentication error",
)
"""What commands print when nobody decided anything: whether it was done is unknown."""


CHOICES = re.compile("(SQUEUE|SINFO|SACCT|SCANCEL)_|(SBATCH_(ARRAY_INX|CLUSTERS|WAIT)|SLURM_CLUSTERS)$")
"""Variables by which people have commands show, cancel or submit something else than is asked for here: a
queue that shows only some partition would seem to have lost the others' jobs."""


class Slurm:
    """The commands of one cluster."""

    def __init__(self, name: str, conf: str, timeout: float) -> None:
        self.name, self.conf, self.timeout = name, conf, timeout
        self.env = {name: value for name, value in os.environ.items() if not CHOICES.match(name)}
        self.env["SLURM_TIME_FORMAT"] = "%s"
        if conf:
            self.env["SLURM_CONF"] = conf

    def run(self, *words: str, text: str = "") -> str:
        """What a command prints; NoAnswer if the controller did not answer, Refused if it said no."""
        if self.conf and not Path(self.conf).is_file():  # commands would search the network for another
            raise NoAnswer(f"cluster {self.name}: its configuration (conf) is not at {self.conf}")
        try:
            done = subprocess.run(
                words,
                env=self.env,
                input=text.encode("utf-8", "surrogateescape"),
                capture_output=True,
                timeout=self.timeout,
            )
        except subprocess.TimeoutExpired:
            raise NoAnswer(f"cluster {self.name}: {words[0]} did not answer in {self.timeout:g} s") from None
        except FileNotFoundError:
            raise Refused(f"cluster {self.name}: {words[0]} is not installed on this machine") from None
        if done.returncode == 0:
            return done.stdout.decode("utf-8", "replace")
        said = " ".join((done.stderr or done.stdout).decode("utf-8", "replace").split())
        said = said or f"{words[0]} ended with {done.returncode}"
        if any(sign in said for sign in SILENT):
            raise NoAnswer(f"cluster {self.name} does not answer ({said})")
        raise Refused(f"cluster {self.name}: {said}")


def sbatch_words(site: Site, name: str, task: Task, procs: int, minutes: int, output: Path) -> list[str]:
    """The options with which a task is handed to a cluster, without the ending of its output."""
    chosen = {"--partition": site.partition, "--account": site.account, "--qos": site.qos}
    return [
        f"--job-name={name}", f"--ntasks={procs}", f"--time={minutes}", f"--output={output}.out",
        f"--chdir={task.folder or '/'}", *(f"{option}={value}" for option, value in chosen.items() if value),
        *site.options,
    ]  # fmt: skip
