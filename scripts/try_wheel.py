"""`make wheel`: builds sdist and wheel, installs the wheel into an empty environment, and follows tutorial 1 there.

The wheel is built from the unpacked sdist, so that the sdist is tried too. Nothing of the work tree is on the path.
Prints date, machine, Python, sizes and what each step took; an error ends it.

    python scripts/try_wheel.py [--keep FOLDER]
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[1]
TUTORIAL = ROOT / "docs" / "tutorials" / "1-first-release.md"
OURS = "discreet"
OTHER_TABLE = """\
import csv, random
draw = random.Random(7)
with open("survey.csv", "w", encoding="latin-1", newline="") as file:
    table = csv.writer(file, delimiter=";")
    table.writerow(["id", "age", "education", "marital-status", "city"])
    for number in range(6000):
        status = draw.choices(["single", "married", "divorced", "widowed"], [40, 42, 12, 6])[0]
        lean = {"single": [5, 3, 2], "married": [3, 4, 3], "divorced": [4, 4, 2], "widowed": [7, 2, 1]}[status]
        school = draw.choices(["primary", "secondary", "university"], lean)[0]
        table.writerow([f"Q{number}", draw.randint(18, 90), "" if number % 50 == 0 else school, status, "M\\u00e1laga"])
"""


def run(*command: str | Path, folder: Path, quiet: bool = True) -> str:
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment["XDG_DATA_HOME"] = str(folder / ".ledgers")
    ended = subprocess.run(
        [str(part) for part in command], cwd=folder, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    if ended.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\nended with {ended.returncode}:\n{ended.stdout}")
    if not quiet:
        print(ended.stdout)
    return ended.stdout


def built(folder: Path) -> tuple[Path, Path]:
    """The sdist, and the wheel that was built from nothing but it."""
    run(sys.executable, "-m", "venv", "tools", folder=folder)
    python = folder / "tools" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "hatchling", folder=folder)
    run(python, "-m", "hatchling", "build", "-t", "sdist", "-d", folder / "dist", folder=ROOT)
    (sdist,) = (folder / "dist").glob("*.tar.gz")
    with tarfile.open(sdist) as packed:
        packed.extractall(folder / "unpacked", filter="data")
    (source,) = (folder / "unpacked").iterdir()
    run(python, "-m", "hatchling", "build", "-t", "wheel", "-d", folder / "dist", folder=source)
    (wheel,) = (folder / "dist").glob("*.whl")
    return sdist, wheel


def commands() -> list[str]:
    """What tutorial 1 tells a reader to type; not what it says will be refused."""
    blocks = re.findall(r"^```console\n(.*?)^```", TUTORIAL.read_text(), re.MULTILINE | re.DOTALL)
    lines = [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ discreet")]
    return [line for line in lines if "# refused" not in line]


def size(folder: Path) -> float:
    return sum(one.stat().st_size for one in folder.rglob("*") if one.is_file() and not one.is_symlink()) / 1e6


def main(folder: Path) -> None:
    began = time.monotonic()
    print(f"{date.today()}, Python {platform.python_version()}, {platform.system()} {platform.machine()}")
    sdist, wheel = built(folder)
    print(f"sdist {sdist.stat().st_size / 1e6:.1f} MB, wheel {wheel.stat().st_size / 1e6:.1f} MB")
    run(sys.executable, "-m", "venv", "clean", folder=folder)
    place = folder / "clean"
    run(place / "bin" / "python", "-m", "pip", "uninstall", "--quiet", "--yes", "setuptools", folder=folder)
    before = size(place)
    began_install = time.monotonic()
    limits = ["--constraint", str(ROOT / "constraints.txt")]
    run(place / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-compile", *limits, wheel, folder=folder)
    print(f"installed in {time.monotonic() - began_install:.0f} s, {size(place) - before:.0f} MB with what it needs:")
    packages = next((place / "lib").glob("python*")) / "site-packages"
    parts = sorted(((size(one), one.name) for one in packages.iterdir() if one.is_dir()), reverse=True)
    print("  " + ", ".join(f"{name} {megabytes:.0f}" for megabytes, name in parts if megabytes >= 4) + " MB")
    work = folder / "work"
    work.mkdir()
    home = run(place / "bin" / "python", "-c", f"import {OURS}; print({OURS}.__file__)", folder=work).strip()
    if not home.startswith(str(place)):
        raise SystemExit("the package was not taken from the wheel")
    run(place / "bin" / "python", "-c", OTHER_TABLE, folder=work)
    followed = time.monotonic()
    for line in commands():
        run("sh", "-c", line.replace("discreet ", f"{place}/bin/discreet ", 1), folder=work)
    if not (work / "released.csv").is_file() or not (work / "released.csv.public.json").is_file():
        raise SystemExit("tutorial 1 ended without a release")
    print(f"tutorial 1, another table, from the wheel alone: a release after {time.monotonic() - followed:.0f} s")
    print(f"all of it {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "--keep":
        kept = Path(sys.argv[2]).resolve()
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        main(kept)
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
