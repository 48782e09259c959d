"""``python -m release.dependencies``: known faults of what is installed, looked up by pip-audit.

Exit status 1 where a fault is known. pip-audit asks an advisory service over the network; where that cannot
be reached, or knows none of the packages, nothing was audited, and that is said.
"""

from __future__ import annotations

import json
import subprocess
import sys

PATIENCE = 300


def main() -> int:
    try:
        found = subprocess.run(
            [sys.executable, "-m", "pip_audit", "--local", "--format", "json", "--progress-spinner", "off"],
            capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
        packages = json.loads(found.stdout)["dependencies"]
    except (OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
        return _skipped(f"pip-audit gave no answer ({type(error).__name__}: {str(error)[:100]})")
    audited = [package for package in packages if "skip_reason" not in package]
    faulty = [package for package in audited if package["vulns"]]
    if not audited:
        return _skipped(f"the advisory service knows none of {len(packages)} packages, or is not reached")
    for package in faulty:
        names = ", ".join(fault["id"] for fault in package["vulns"])
        print(f"{package['name']} {package['version']}: {names}")
    left = len(packages) - len(audited)
    print(f"{len(audited)} packages audited, {len(faulty)} with known faults; {left} could not be looked up")
    return 1 if faulty else 0


def _skipped(reason: str) -> int:
    print(f"SKIPPED: dependencies were not audited, because {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
