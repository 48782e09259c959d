"""A site that can be given away: every file of its folder with other names, and nothing else in it.

What is kept is listed here by key; a key, a comment or a file that is not is left out.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from headway.errors import InputError, UsageError
from headway.site.access import read_groups
from headway.site.accounts import DUMPED, dump_pairs, table
from headway.site.archive import is_archive, pack
from headway.site.bringing_in import NAMES as FILES
from headway.site.bringing_in import bring_in
from headway.site.entries import Entry, blocks_shown, configuration, parameters_shown, text_of
from headway.site.folder import JOBS
from headway.site.limits import NAMES
from headway.site.parameters import DEFAULTS, SCHEDULER
from headway.site.topology import FILE as TOPOLOGY
from headway.workload.anonymise import Anonymised, anonymise_log
from headway.workload.slurm.anonymous import Anonymous, Pseudonyms, Treatment
from headway.writing import replacing_folder

_NAMED = {
    "user": "user", "users": "user", "account": "account", "accounts": "account", "allowaccounts": "account",
    "denyaccounts": "account", "parentname": "account", "partition": "partition",
    "partitionname": "partition", "qos": "qos", "allowqos": "qos", "denyqos": "qos", "defaultqos": "qos",
    "suspendexcparts": "partition",
    "defqos": "qos", "preempt": "qos", "cluster": "cluster", "clustername": "cluster",
    "allowgroups": "group", "groups": "group", "reservationname": "resv", "reservation": "resv",
}  # fmt: skip
_HOSTS = (
    "nodename", "nodes", "nodelist", "nodenames", "nodeset", "suspendexcnodes", "switchname", "switches",
)  # fmt: skip
_FEATURES = ("feature", "features", "availablefeatures")
_MODES = (
    "preemptmode", "oversubscribe", "shared", "enforcepartlimits", "default", "rootonly", "reqresv", "lln",
    "exclusive", "exclusiveuser",
)  # fmt: skip
_PLUGINS = (
    "accountingstoragetype", "prioritytype", "preempttype", "schedulertype", "selecttype", "topologyplugin",
)  # fmt: skip
_TRES = ("tres", "tresbillingweights", "priorityweighttres", *(
    name.lower() for field, names in NAMES.items() if "tres" in field for name in names
))  # fmt: skip
_NUMBERS = frozenset((
    "cpus", "cputot", "procs", "boards", "socketsperboard", "sockets", "corespersocket", "threadspercore",
    "realmemory", "memspeclimit", "weight", "prioritytier", "priorityjobfactor", "priority", "maxtime",
    "defaulttime", "minnodes", "maxnodes", "maxcpuspernode", "defmempercpu", "defmempernode", "maxmempercpu",
    "maxmempernode", "overtimelimit", "gracetime", "starttime", "endtime", "timestart", "timeend",
    "duration", "nodecnt", "corecnt", "share", "shares", "fairshare", "rawshares", "normshares", "rawusage",
    "normusage", "effectvusage", "levelfs", "usagefactor", "usagethres", "limitfactor", "minpriothres",
    "preemptexempttime", "suspendtime", "resumetimeout", "id", "unusedwall", "level", "linkspeed",
    *(name.lower() for field, names in NAMES.items() if "tres" not in field for name in names),
    *(key for key, value in DEFAULTS.items() if re.fullmatch(r"[\d-]+|NO|NONE|INFINITE|", value)),
))  # fmt: skip
_NO_NUMBERS = frozenset((
    "authinfo", "clustername", "licenses", "preemptparameters", "priorityflags", "grestypes",
    "accountingstorageenforce", "accountingstoragetres", "priorityweighttres", "schedulerparameters",
    "slurmctldparameters", "prioritysitefactorparameters", "accountingstoragetype", "suspendexcnodes",
    "suspendexcparts", "topologyparam",
))  # fmt: skip
_LINE_OF_SDIAG = re.compile(r"\s*[A-Za-z][A-Za-z ()/_-]{2,60}:\s+[\d.]+\s*")


_TIME_OF_SDIAG = re.compile(r"(sdiag output at|Data since) .*(\(\d{9,11}\))\s*")


def _of_sdiag(line: str) -> str:
    """What may be given away of a line: a number and what it counts, the seconds of a time, a heading."""
    if time := _TIME_OF_SDIAG.fullmatch(line):
        return " ".join(time.groups())
    if line.startswith("Backfilling stats"):
        return "Backfilling stats"
    return line if _LINE_OF_SDIAG.fullmatch(line) else ""


class SiteCopy:
    """An anonymous copy of a site's folder in the making."""

    def __init__(self, source: Path, target: Path, names: Anonymous, done: Anonymised) -> None:
        self.source, self.target, self.names, self.done = source, target, names, done

    def write(self) -> None:
        """Every file that is known; the others are left out and listed."""
        files = {path.name: path for path in sorted(self.source.iterdir()) if path.is_file()}
        included = self._configuration(files)
        for name in ("nodes.txt", "partitions.txt", "reservations.txt"):
            if name in files:
                self._shown(files[name])
        if TOPOLOGY in files:
            switches = configuration(files[TOPOLOGY])
            self._lines(TOPOLOGY, filter(None, (self._pairs(entry, "=") for entry in switches)))
        for name in ("qos.txt", "associations.txt", "shares.txt", "events.txt"):
            if name in files:
                self._table(files[name], {"name": "qos"} if name == "qos.txt" else {})
        if "groups.txt" in files:
            self._lines("groups.txt", self._groups(files["groups.txt"]))
        if "associations.cfg" in files:
            self._lines("associations.cfg", self._dump(files["associations.cfg"]))
        if "sdiag.txt" in files:
            lines = text_of(files["sdiag.txt"], "sdiag").splitlines()
            self._lines("sdiag.txt", filter(None, map(_of_sdiag, lines)))
        jobs = next((files[name] for name in JOBS if name in files), None)
        if jobs is not None:
            ending = ".swf" if ".swf" in jobs.name else ".txt"
            anonymise_log(jobs, self.target / f"jobs{ending}", self.names, self.done)
        known = {path.name for path in self.target.iterdir()} | included | ({jobs.name} if jobs else set())
        self.done.left_out += [name for name in files if name not in known]

    def _lines(self, name: str, lines: Iterable[str]) -> None:
        text = "".join(f"{line}\n" for line in lines)
        (self.target / name).write_text(text, "utf-8")
        self.done.lines += text.count("\n")

    def _configuration(self, files: dict[str, Path]) -> set[str]:
        """Parameters and the lines of nodes and partitions, those of included files among them."""
        if "slurm.conf" in files:
            entries = list(configuration(files["slurm.conf"]))
            self._lines("slurm.conf", filter(None, (self._pairs(entry, "=") for entry in entries)))
            return {Path(entry.file).name for entry in entries}
        if "config.txt" in files:
            entries = list(parameters_shown(files["config.txt"]))
            self._lines("config.txt", filter(None, (self._pairs(entry, " = ") for entry in entries)))
        return set()

    def _groups(self, file: Path) -> Iterator[str]:
        """Groups and their users by other names, without numbers."""
        group, user = self.names.name("group"), self.names.name("user")
        for name, users in (read_groups(file) or {}).items():
            yield f"{group(name)}:x:0:{','.join(user(one) for one in sorted(users))}"

    def _shown(self, file: Path) -> None:
        first = text_of(file, file.name).lstrip().partition("\n")[0]
        if "|" in first:
            self._table(file, {"name": "resv"})
            return
        kind = {"nodes.txt": "NodeName", "partitions.txt": "PartitionName"}.get(file.name, "ReservationName")
        self._lines(file.name, (self._pairs(entry, "=") for entry in blocks_shown(file, kind)))

    def _pairs(self, entry: Entry, between: str) -> str:
        treated = []
        for key, value in entry.pairs.items():
            how = self.treatment(key)
            if how is None:
                self._dropped(key)
                continue
            text = how(value)
            quoted = f'"{text}"' if between == "=" and " " in text else text
            treated.append(f"{key}{between}{quoted}")
        return " ".join(treated)

    def _table(self, file: Path, own: dict[str, str]) -> None:
        """A table of sacctmgr or sshare; `own` has the kinds of names that only this table has."""
        rows = list(table(file, file.name))
        columns = list(rows[0].pairs) if rows else []
        treatments: dict[str, Treatment] = {}
        for column in columns:
            kind = own.get(column.lower())
            how = self.names.name(kind) if kind else self.treatment(column)
            if how is None:
                self._dropped(column)
            else:
                treatments[column] = how
        head = "|".join(treatments)
        body = ("|".join(how(row.pairs[column]) for column, how in treatments.items()) for row in rows)
        self._lines(file.name, [head, *body] if head else [])

    def _dump(self, file: Path) -> Iterator[str]:
        for line in text_of(file, "the associations").splitlines():
            match = DUMPED.match(line)
            if match is None:
                continue  # comments
            kind = match[1]
            named = self.names.name("account" if kind.lower() == "parent" else kind.lower())
            parts = [f"{kind} - '{named(match[2].strip())}'"]
            for key, value in dump_pairs(match[3] or "").items():
                how = self.names.name("account") if key.lower() == "defaultaccount" else self.treatment(key)
                if how is None:
                    self._dropped(key)
                else:
                    parts.append(f"{key}='{how(value)}'" if "qos" in key.lower() else f"{key}={how(value)}")
            yield ":".join(parts)

    def _dropped(self, key: str) -> None:
        name = re.sub(r"[^\w]", "", key)[:40]
        if name not in self.done.left_out:
            self.done.left_out.append(name)

    def treatment(self, key: str) -> Treatment | None:
        """What is done to the values of a key; None leaves it out."""
        name, names = key.lower(), self.names
        if name in _NAMED:
            return names.name(_NAMED[name])
        if name in _HOSTS:
            return names.hosts
        if name in _FEATURES:
            return names.features
        if name in _TRES or name == "accountingstoragetres":
            return names.tres
        if name in _MODES:
            return names.words("mode")
        if name in _PLUGINS:
            return names.words("plugin")
        others: dict[str, Treatment] = {
            "gres": names.gres, "grestypes": names.gres, "licenses": names.licences, "state": names.state,
            "flags": names.words("flags"), "priorityflags": names.words("flags"),
            "selecttypeparameters": names.words("select"),
            "accountingstorageenforce": names.words("enforce"), "topologyparam": names.words("network"),
            "schedulerparameters": self._known_parts, "preemptparameters": self._known_parts,
            "authinfo": self._expiry,
        }  # fmt: skip
        if name in others:
            return others[name]
        return names.number if name in _NUMBERS and name not in _NO_NUMBERS else None

    def _known_parts(self, text: str) -> str:
        """Parts of SchedulerParameters that are known, with numbers."""
        parts = []
        for part in text.split(","):
            name, equals, value = part.strip().partition("=")
            known = name.lower() in SCHEDULER or f"preempt_{name.lower()}" in SCHEDULER
            if known and re.fullmatch(r"-?\d*", value):
                parts.append(f"{name}{equals}{value}")
            elif part.strip() not in ("", "(null)"):
                self.names.blank("parts of SchedulerParameters")
        return ",".join(parts)

    @staticmethod
    def _expiry(text: str) -> str:
        found = re.search(r"cred_expire=\d+", text)
        return found[0] if found else ""


def anonymise_site(source: Path, target: Path, key: str | None = None) -> Anonymised:
    """Write an anonymous copy of a site's folder or archive, as a folder or an archive."""
    done, names = Anonymised(), Anonymous(Pseudonyms(key))
    with tempfile.TemporaryDirectory(prefix="headway-") as temporary:
        folder = source
        if not source.is_dir():
            folder = Path(temporary) / "source"
            done.left_out += bring_in([source], folder)[1]
        copied = Path(temporary) / "copy"
        with replacing_folder(copied) as draft:
            SiteCopy(folder, draft, names, done).write()
        if not done.lines:
            raise InputError("holds nothing of a site; is it the right folder?", file=source)
        if is_archive(target):
            pack(copied, target)
        else:
            _place(copied, target)
    done.replaced, done.blanked = names.names.counts(), names.blanked
    done.kept |= {"numbers and times": "say how much and when, not who"}
    done.kept |= {"words of Slurm's own": "states, flags, modes and plugins are the same everywhere"}
    return done


def _place(copied: Path, target: Path) -> None:
    """The copy in the place of an earlier one; what is no part of a site is not swept away with it."""
    inside = [entry.name for entry in target.iterdir()] if target.is_dir() else []
    if others := set(inside) - {*FILES, "jobs.swf"}:
        raise UsageError(f"{target} holds {min(others)}, which is not a file of a site; give another folder")
    with replacing_folder(target) as folder:
        for file in copied.iterdir():
            (folder / file.name).write_bytes(file.read_bytes())
