"""Values of Slurm's tables and configuration with every name in them replaced.

Each kind of value has a treatment. It keeps what Slurm itself can have written (numbers, times, words of a
known list) and replaces names; where a value is neither, nothing of it is kept. So a name that stands where
nobody expects one is not given away either.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable

from headway.workload.slurm.submit_line import options

Treatment = Callable[[str], str]

_NUMBER = re.compile(
    r"[-+]?[\d.,:]*(?:[KMGTPEB]|min|sec|usec|percent)?[nc]?|\d+-[\d:]+|[\d.]+ (?:min|sec|usec)"
)
_SAID = frozenset((
    "", "Unknown", "None", "NONE", "N/A", "n/a", "None assigned", "UNLIMITED", "INFINITE", "INVALID",
    "(null)", "Partition_Limit", "YES", "NO", "Yes", "No", "yes", "no", "ALL", "ANY", "inf", "nan",
    "parent", "NOW",
))  # fmt: skip
"""Words that stand for a value, whatever the column."""

_EVERYWHERE = frozenset((("qos", "normal"), ("user", "root"), ("account", "root")))
"""Names that Slurm itself gives at every site."""

_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-][\d:]+)?)?")
_JOB = re.compile(r"\d+(?:_(?:\d+|\[[\d,:%.-]*\])|\+\d+)?(?:\.(?:\d+|batch|extern|interactive))?")
_STATE = re.compile(
    r"(?:BOOT_FAIL|CANCELLED|COMPLETED|COMPLETING|CONFIGURING|DEADLINE|EXPIRED|FAILED|LAUNCH_FAILED|NODE_FAIL|"
    r"OUT_OF_MEMORY|PENDING|PREEMPTED|RECONFIG_FAIL|REQUEUED|REQUEUE_FED|REQUEUE_HOLD|RESIZING|RESV_DEL_HOLD|"
    r"REVOKED|RUNNING|SIGNALING|SPECIAL_EXIT|STAGE_OUT|STOPPED|SUSPENDED|TIMEOUT|"
    r"UP|DOWN|DRAIN|DRAINED|DRAINING|INACTIVE|ACTIVE|IDLE|ALLOCATED|MIXED|ALLOC|FAIL|FAILING|FUTURE|INVAL|"
    r"MAINT|PLANNED|POWERED_DOWN|POWERING_DOWN|POWERING_UP|POWER_DOWN|POWER_UP|REBOOT|REBOOT_ISSUED|"
    r"REBOOT_REQUESTED|NO_RESPOND|NOT_RESPONDING|PERFCTRS|RESERVED|UNKNOWN|CLOUD|DYNAMIC_NORM|DYNAMIC_FUTURE|"
    r"BLOCKED|[+*$~#!%@^-])+(?: by (\d+))?"
)
_REASON = re.compile(
    r"(?:Assoc|QOS|Node|Job|Part|Req|Resource|Begin|Burst|Cleaning|Config|Dead|Dependency|Fed|Front|Held|Inact|"
    r"Invalid|Launch|License|Max|NonZero|OutOfMemory|PartitionDown|Priority|Prolog|Raised|Reservation|"
    r"Resources|Sched|System|TimeLimit|WaitArr|Account|Array|BadConstraints|None)"
    r"(?:Grp|Max|Min|Per|Job|Jobs|Node|Nodes|CPU|CPUs|Cpu|Mem|Memory|Wall|Time|Limit|Run|Minutes|Submit|User|"
    r"Account|Not|Avail|NotAvail|Available|Down|Config|Inactive|Held|Admin|Task|Array|Exit|Code|GRES|Gres|"
    r"License|Billing|Energy|BB|Unk|Unknown|Failure|Requeue|Constraints|Satisfied|Never|Allowed|Usage|s|ed)*"
)
_WORDS: dict[str, re.Pattern[str]] = {
    "flags": re.compile(
        r"(?:(?:SchedMain|SchedBackfill|SchedSubmit|StartRecieved|StartReceived|STARTED_ON_SCHEDULE|STARTED_ON_BACKFILL|STARTED_ON_SUBMIT|START_RECEIVED|CLEAR_SCHEDULING|JobAltered|Dependent|NotSet|"
        r"DenyOnLimit|EnforceUsageThreshold|NoDecay|NoReserve|OverPartQOS|PartitionMaxNodes|PartitionMinNodes|"
        r"PartitionTimeLimit|RequiresReservation|UsageFactorSafe|Relative|Deleted|"
        r"MAINT|OVERLAP|FLEX|IGNORE_JOBS|DAILY|WEEKLY|WEEKDAY|WEEKEND|HOURLY|SPEC_NODES|ALL_NODES|ANY_NODES|"
        r"STATIC|STATIC_ALLOC|PART_NODES|PURGE_COMP(?:=[\d:]+)?|REPLACE|REPLACE_DOWN|NO_HOLD_JOBS_AFTER_END|"
        r"MAGNETIC|TIME_FLOAT|LICENSE_ONLY|FIRST_CORES|USER_DELETE|FORCE_START|"
        r"ACCRUE_ALWAYS|CALCULATE_RUNNING|DEPTH_OBLIVIOUS|NO_FAIR_TREE|FAIR_TREE|INCR_ONLY|MAX_TRES|"
        r"MAX_TRES_GRES|NO_NORMAL_ALL|NO_NORMAL_ASSOC|NO_NORMAL_PART|NO_NORMAL_QOS|NO_NORMAL_TRES|"
        r"SMALL_RELATIVE_TO_TIME)(?:[,+ ]|$))*"
    ),
    "mode": re.compile(r"(?:(?:OFF|CANCEL|GANG|REQUEUE|SUSPEND|WITHIN|CLUSTER|PRIORITY|NO|YES|FORCE|EXCLUSIVE"
                       r"|ANY|ALL|USER|NODE|TOPO|MCS|NONE)(?:[,:]\d*|$))*", re.IGNORECASE),
    "plugin": re.compile(
        r"(?:accounting_storage/(?:slurmdbd|none|ctld_relay)|priority/(?:basic|multifactor)|"
        r"preempt/(?:none|qos|partition_prio)|sched/(?:backfill|builtin)|"
        r"select/(?:cons_tres|cons_res|linear)|topology/(?:none|default|flat|tree|block|3d_torus))"
    ),
    "select": re.compile(
        r"(?:(?:CR_(?:CPU|CORE|SOCKET)(?:_MEMORY)?|CR_MEMORY|CR_ONE_TASK_PER_CORE|CR_LLN|"
        r"CR_CORE_DEFAULT_DIST_BLOCK|CR_PACK_NODES|LL_SHARED_GRES|ENFORCE_BINDING_GRES|"
        r"MULTIPLE_SHARING_GRES_PJ|OTHER_CONS_RES|OTHER_CONS_TRES|NONE)(?:,|$))*", re.IGNORECASE
    ),
    "network": re.compile(r"(?:(?:TopoOptional|Dragonfly|RoutePart|RouteTree|SwitchAsNodeRank|SplitRoute)"
                          r"(?:,|$))*", re.IGNORECASE),
    "enforce": re.compile(r"(?:(?:all|associations|limits|nojobs|nosteps|qos|safe|wckeys|none)(?:,|$))*",
                          re.IGNORECASE),
}  # fmt: skip

_TRES = frozenset(("cpu", "mem", "node", "billing", "energy", "vmem", "pages", "fs/disk", "fs"))
_GRES = frozenset(("gpu", "mps", "shard", "craynetwork", "nic", "gres"))
_COUNT = re.compile(r"[-+]?[\d.]*[KMGTPE]?", re.IGNORECASE)
_HOST_PART = re.compile(r"\[[^\]]*\]|[^\[\],]+|,")
_RANGES = re.compile(r"\[[\d,-]*\]")
_LETTERS = re.compile(r"\D+")
_OPTIONS_NUMBER = (
    "nodes", "ntasks", "cpus-per-task", "time", "mem", "mem-per-cpu", "mem-per-gpu", "time-min", "nice",
    "ntasks-per-node", "ntasks-per-core", "ntasks-per-socket", "gpus", "gpus-per-node", "gpus-per-task",
    "cpus-per-gpu", "mincpus", "sockets-per-node", "cores-per-socket", "threads-per-core", "switches",
)  # fmt: skip
_OPTIONS_ALONE = ("hold", "exclusive", "requeue", "no-requeue", "contiguous", "overcommit", "oversubscribe")
_ASKED = re.compile(r"[\d.:@-]+[KMGT]?")
_ARRAY = re.compile(r"[\d,:-]+(?:%\d+)?")
_BEGIN = re.compile(r"now(?:\+\d+(?:seconds?|minutes?|hours?|days?|weeks?)?)?|[\d:T-]+")
_DEPENDENCY = re.compile(
    r"(?:(?:after|afterany|afterok|afternotok|aftercorr|singleton)(?::\d+(?:_[\d*]+)?(?:\+\d+)?)*[,?]?)+"
)


class Pseudonyms:
    """One list of names for each kind, such as users or accounts.

    Without a key names are numbered in the order in which they appear. With a key each is a keyed hash (48
    bits of HMAC-SHA-256), so that several files get the same names and nobody without the key can try out
    who is who.
    """

    def __init__(self, key: str | None = None) -> None:
        self._key = None if key is None else key.encode()
        self._numbers: dict[str, dict[str, int]] = {}

    def number(self, kind: str, name: str) -> int:
        """A number above 0 for a name."""
        known = self._numbers.setdefault(kind, {})
        if name not in known:
            if self._key is None:
                known[name] = len(known) + 1
            else:
                digest = hmac.digest(self._key, f"{kind}\0{name}".encode(), hashlib.sha256)
                known[name] = int.from_bytes(digest[:6]) + 1
        return known[name]

    def name(self, kind: str, name: str) -> str:
        """A word for a name: its kind's letters and a number."""
        number = self.number(kind, name)
        return f"{kind}{number}" if self._key is None else f"{kind}{number:012x}"

    def counts(self) -> dict[str, int]:
        """How many names of each kind were replaced."""
        return {kind: len(known) for kind, known in self._numbers.items()}


class Anonymous:
    """Treatments of values by kind; the same name is replaced by the same one in all of them."""

    def __init__(self, names: Pseudonyms) -> None:
        self.names = names
        self.blanked: dict[str, int] = {}
        """Kind of value -> how many were neither known nor a name, and are left empty."""

    def blank(self, kind: str) -> str:
        """Nothing, and a note that something stood there."""
        self.blanked[kind] = self.blanked.get(kind, 0) + 1
        return ""

    def number(self, text: str) -> str:
        """A number, a time or a word for none."""
        word = text.strip()
        if word in _SAID or _NUMBER.fullmatch(word) or _TIME.fullmatch(word):
            return text
        return self.blank("values that are not numbers")

    def job(self, text: str) -> str:
        """A job's number, with its place in an array and its step."""
        return text if not text or _JOB.fullmatch(text.strip()) else self.blank("values that are not numbers")

    def name(self, kind: str) -> Treatment:
        """Names of one kind, between commas; blanks in front stay, which show a tree."""

        def replace(text: str) -> str:
            words = text.strip()
            if words in _SAID:
                return text
            indent = text[: len(text) - len(text.lstrip(" "))]
            return indent + ",".join(self._one(kind, word) for word in words.split(","))

        return replace

    def _one(self, kind: str, word: str) -> str:
        sign = word[:1] if word[:1] in "+-!" else ""
        bare = word[len(sign) :].strip()
        if not bare or bare in _SAID or (kind, bare) in _EVERYWHERE:
            return word
        return sign + self.names.name(kind, bare)

    def text(self, kind: str) -> Treatment:
        """A text as a whole, whatever stands in it."""
        return lambda text: text if text.strip() in _SAID else self.names.name(kind, text)

    def hosts(self, text: str) -> str:
        """A list of nodes: every letter replaced, numbers and ranges kept, so that neighbours stay so."""
        if text.strip() in _SAID:
            return text
        parts = []
        for part in _HOST_PART.findall(text.strip()):
            if part == ",":
                parts.append(part)
            elif part.startswith("["):
                parts.append(part if _RANGES.fullmatch(part) else self.blank("lists of nodes"))
            else:
                parts.append(_LETTERS.sub(lambda found: f"{self.names.name('host', found[0])}-", part))
        return "".join(parts)

    def features(self, text: str) -> str:
        """Features between |, &, commas and brackets, with their counts."""
        if text.strip() in _SAID:
            return text
        return re.sub(r"\*\d+|[^|&,()\[\]*]+", self._feature, text)

    def _feature(self, found: re.Match[str]) -> str:
        return found[0] if found[0].startswith("*") else self.names.name("feature", found[0].strip())

    def gres(self, text: str) -> str:
        """Generic resources name[:type][:count], between commas."""
        if text.strip() in _SAID:
            return text
        text = re.sub(r"\((?:S:[\d,-]+|IDX:[\d,/N-]*|null)\)", "", text)
        return ",".join(self._generic(part.strip(), ":") for part in text.split(",") if part.strip())

    def _generic(self, text: str, before: str) -> str:
        name, *rest = text.split(before)
        words = [name if name in _GRES else self.names.name("gres", name)]
        for word in rest:
            known = word == "no_consume" or (word and _COUNT.fullmatch(word))
            words.append(word if known else self.names.name("type", word))
        return before.join(words)

    def tres(self, text: str) -> str:
        """Resources and their counts, cpu=4,gres/gpu:a100=2,license/x=1."""
        if text.strip() in _SAID:
            return text
        found = []
        for part in text.split(","):
            name, equals, count = part.strip().partition("=")
            kind, _, rest = name.partition("/")
            if name.lower() not in _TRES:
                if kind.lower() == "gres":
                    name = f"gres/{self._generic(rest, ':')}"
                elif kind.lower() == "license":
                    name = f"license/{self.names.name('licence', rest)}"
                elif kind.lower() in ("bb", "ic", "interconnect"):
                    name = f"{kind.lower()}/{self.names.name('resource', rest)}"
                else:
                    name = self.names.name("resource", name)
            if equals and not _COUNT.fullmatch(count.strip()):
                count = self.blank("counts of resources")
            found.append(f"{name}{equals}{count}")
        return ",".join(found)

    def licences(self, text: str) -> str:
        """Licences name[@server][:count], between commas."""
        if text.strip() in _SAID:
            return text
        found = []
        for part in text.split(","):
            name, colon, count = part.strip().replace("*", ":").partition(":")
            kept = count if count.isdigit() else ""
            found.append(self.names.name("licence", name) + (colon + kept if kept else ""))
        return ",".join(found)

    def state(self, text: str) -> str:
        """A state; who cancelled a job gets the number that user ids get."""
        words = text.strip()
        match = _STATE.fullmatch(words)
        if words in _SAID:
            return text
        if match is None:
            return self.blank("states")
        if match[1] is None:
            return words
        by = match[1]
        return f"{words.partition(' by ')[0]} by {self.names.number('uid', by) if by.strip('0') else by}"

    def uid(self, text: str) -> str:
        """A user's or group's number; 0 is root everywhere."""
        if not text.strip("0") or text.strip() in _SAID:
            return text
        return str(self.names.number("uid", text))

    def reason(self, text: str) -> str:
        """A reason out of Slurm's own list, else another name for it: people write reasons too."""
        known = text.strip() in _SAID or _REASON.fullmatch(text.strip())
        return text if known else self.names.name("reason", text)

    def words(self, kind: str) -> Treatment:
        """Words of one of the known lists."""
        return lambda text: text if text in _SAID or _WORDS[kind].fullmatch(text) else self.blank(kind)

    def submit_line(self, text: str) -> str:
        """The options of a submit line that say what was asked for; nothing of script, paths and comments."""
        if not text.strip():
            return text
        given = options(text)
        words = ["sbatch"]
        for name in _OPTIONS_NUMBER:
            if name in given and (not given[name] or _ASKED.fullmatch(given[name])):
                words.append(f"--{name}={given[name]}" if given[name] else f"--{name}")
        words += [f"--{name}" for name in _OPTIONS_ALONE if name in given and not given[name]]
        words += ["--exclusive=user"] if given.get("exclusive") == "user" else []
        treated: tuple[tuple[str, Treatment], ...] = (
            ("account", self.name("account")), ("partition", self.name("partition")),
            ("qos", self.name("qos")), ("constraint", self.features), ("gres", self.gres),
            ("licenses", self.licences), ("reservation", self.name("resv")), ("nodelist", self.hosts),
            ("exclude", self.hosts), ("job-name", self.text("name")),
        )  # fmt: skip
        words += [f"--{name}={how(given[name])}" for name, how in treated if given.get(name)]
        for name, looks in (("array", _ARRAY), ("begin", _BEGIN), ("dependency", _DEPENDENCY)):
            if name in given and looks.fullmatch(given[name]):
                words.append(f"--{name}={given[name]}")
        return " ".join([*words, "job.sh"])
