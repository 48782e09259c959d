"""The outages that --events, --failures and --on-failure ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from headway.errors import UsageError
from headway.platform import Platform
from headway.platform.outages import ON_FAILURE, Outages

if TYPE_CHECKING:
    from headway.workload import Workload


@dataclass(frozen=True)
class WantedOutages:
    """Files of events, a model of failures, and what becomes of jobs that lose their processors."""

    files: tuple[Path, ...] = ()
    failures: str | None = None
    on_failure: str = "requeue"

    @classmethod
    def parse(
        cls, events: Sequence[Path] | None, failures: str | None, on_failure: str | None
    ) -> WantedOutages:
        """What the options say, checked as far as that can be done before anything is read."""
        if on_failure is not None and on_failure not in ON_FAILURE:
            raise UsageError(f"--on-failure must be {' or '.join(ON_FAILURE)}, not {on_failure!r}")
        if on_failure is not None and not events and failures is None:
            raise UsageError(
                "--on-failure says what becomes of jobs that fail; give --events or --failures too"
            )
        for path in events or ():
            if not path.exists() or path.is_dir():
                raise UsageError(f"--events {path}: there is no such file")
        if failures is not None:
            from headway.platform.failures import parse_failures

            parse_failures(failures)
        return cls(tuple(events or ()), failures, on_failure or "requeue")

    def caution(self, procs: int, workload: Workload) -> str:
        """What to say beforehand of jobs that can hardly end; mostly nothing."""
        if self.failures is None or self.on_failure != "requeue":
            return ""
        from headway.platform.failures import parse_failures

        return parse_failures(self.failures).caution(procs, workload)

    def on(self, platform: Platform, workload: Workload) -> Platform:
        """The machine with these outages; the same machine where none are asked for."""
        if not self.files and self.failures is None:
            return platform
        from headway.site.outages import load_outages

        found = Outages((), self.on_failure)
        for path in self.files:
            zone = workload.rules.get("zone", "UTC")
            found += load_outages(path, platform, workload.header.unix_start, self.on_failure, zone)
        if self.failures is not None:
            procs = platform.total_procs
            found += Outages.failures(self.failures, procs, workload, on_failure=self.on_failure)
        return platform.with_outages(found)


NONE = WantedOutages()
