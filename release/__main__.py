"""Build, look inside, try on every Python there is."""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from pathlib import Path

from release.contents import sdist_faults, sdist_files, wheel_faults, wheel_files
from release.pythons import OLDEST, pythons
from release.trial import run, trial
from release.versions import ROOT, dates, versions


def agreed() -> str:
    """The one version; stops where files disagree."""
    said, days = versions(), dates()
    for what, places in (("version", said), ("day", days)):
        if len(set(places.values())) != 1 or "" in places.values():
            listed = ", ".join(f"{place} says {value or 'none'}" for place, value in places.items())
            raise SystemExit(f"the {what} of the release differs: {listed}")
    return said["CITATION.cff"]


def build(dist: Path) -> tuple[Path, Path, Path]:
    """A wheel for all machines, one with kernels for this kind of machine and Python, and the sdist.

    The wheels are made from the sdist, so that all hold the same.
    """
    scratch = ROOT / "build" / "release"
    tool = scratch / "tool"
    run([sys.executable, "-m", "venv", tool], ROOT)
    bin = tool / ("Scripts" if sys.platform == "win32" else "bin")
    run([bin / "python", "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "build"], ROOT)
    shutil.rmtree(dist, ignore_errors=True)
    run([bin / "python", "-m", "build", "--outdir", dist, ROOT], ROOT)
    [everywhere], [sdist] = dist.glob("*.whl"), dist.glob("*.tar.gz")
    shutil.unpack_archive(sdist, scratch / "sources", filter="data")
    [unpacked] = (scratch / "sources").iterdir()
    kernels = Path("src", "headway", "built")
    shutil.copytree(ROOT / kernels, unpacked / kernels, ignore=shutil.ignore_patterns("*.lock"))
    run([bin / "python", "-m", "build", "--wheel", "--outdir", dist, unpacked], ROOT)
    [here] = {*dist.glob("*.whl")} - {everywhere}
    return everywhere, here, sdist


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m release", description="Build a release and try it.")
    parser.add_argument(
        "--python", action="append", metavar="PYTHON", help="try with this one; else with all there are"
    )
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", metavar="FOLDER", help="where to build")
    options = parser.parse_args()
    version = agreed()
    print(f"version {version}, {dates()['CITATION.cff']}")
    scratch = ROOT / "build" / "release"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    run([sys.executable, "-m", "headway", "cache", "warm", "all", "--built"], ROOT)
    wheel, here, sdist = build(options.dist)
    sources = sdist_files(sdist)
    for package, names, faults in (
        *((each, names := wheel_files(each), wheel_faults(names, version)) for each in (wheel, here)),
        (sdist, sources, sdist_faults(sources)),
    ):
        print(f"{package.name}: {package.stat().st_size / 1e6:.1f} MB, {len(names)} files")
        if faults:
            raise SystemExit("\n".join(faults))
    chosen = options.python or pythons()
    tried = []
    for number, python in enumerate([sys.executable, *chosen]):
        # The sdist is built and used once, with the oldest Python; it gives the same wheel for all.
        for package in (here,) if number == 0 else (wheel, sdist) if number == 1 else (wheel,):
            name = re.sub(r"\W+", "-", f"{number} {python} {package.suffix}").strip("-")
            tried.append(made := trial(python, package, version, scratch / name))
            print(
                f"Python {made.python:<8} {package.name}: installed in {made.installed:.0f} s, "
                f"demonstration {made.shown:.0f} s, schedules {made.digest}",
                flush=True,
            )
    if len({made.digest for made in tried}) != 1:
        raise SystemExit("schedules differ between Pythons")
    absent = [f"3.{n}" for n in range(OLDEST, 15) if not any(m.python.startswith(f"3.{n}.") for m in tried)]
    print(f"not tried, as they are not on this machine: {', '.join(absent) or 'none'}")


if __name__ == "__main__":
    main()
