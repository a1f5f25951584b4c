"""A steward's day, tried from end to end: Adult, and tables as they come. Every step ends in a result or in a message
that names the next step.

Run: python scripts/steward_day.py            the steps, through the `discreet` of this environment
     python scripts/steward_day.py --wheel    the same from a wheel, in an environment made for it

`STEPS` says for each step what is typed, in a folder with the tables that `write_tables` makes, and whether a result is
expected or a refusal with a remedy. Anything else, a traceback above all, is a fault, and is printed.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

ROOT = Path(__file__).parents[1]
Run = Callable[[list[str], Path], tuple[int, str]]
"""Runs a command line in a folder; its exit code, and everything it printed."""


@dataclass(frozen=True)
class Step:
    """What is typed; `says` is part of what must be printed, `refused` that a remedy is expected, not a result."""

    typed: str
    refused: bool = False
    says: str = ""


DESIGN = "design {table} --secret illness --release town --epsilon 1 --no-curve --force"
STEPS = (
    # Adult, with a number
    Step("look adult.csv", says="age"),
    Step("look adult.csv --secret marital-status --html look.html", says="Next"),
    Step("look adult.csv --secret marital-state", True, "marital-status"),
    Step("design adult.csv --secret marital-status --release educaton", True, "education"),
    Step("design adult.csv --secret marital-status --release age --release education --bins age=quantiles:6 "
         "--merge rare:50 --notion LIP --epsilon 0.7 --time-limit 4 --out adult.json", says="Next"),
    Step("design adult.csv --secret marital-status --release sex --out adult.json", True, "--force"),
    Step("check adult.json adult.csv", says=""),
    Step("sanitise adult.json adult.csv released.csv", says="first draw"),
    Step("sanitise adult.json adult.csv released.csv", True, "--force"),
    Step("sanitise adult.json adult.csv again.csv --budget 0.7", True, "--people"),
    Step("sanitise adult.json adult.csv other.csv --people 1995", says="do not add up"),
    Step("estimate adult.json released.csv"),
    Step("audit adult.json"),
    Step("report adult.json", says="Written"),
    Step("publish adult.json public.json"),
    Step("estimate public.json released.csv"),
    Step("design adult.csv --secret native-country --release education --merge native-country:rare:50 --no-curve "
         "--out country.json", says="Next"),
    Step("design adult.csv --secret marital-status --release education --release workclass --release race "
         "--release relationship --notion srlip --out large.json", True, "What would work"),
    # tables as they come
    Step("look people.csv --secret illness", says="identifier"),
    Step(DESIGN.format(table="people.csv"), says="Next"),
    Step("design people.csv --secret illness --release person --out none.json", True, "names people"),
    Step("design people.csv --secret illness --release born --out none.json", True, "names people"),
    Step("design people.csv --secret illness --release wage --bins wage=quantiles:4 --no-curve --force", says="Next"),
    Step("design people.csv --secret illness --release town --weight weight --no-curve --force", says="weight"),
    Step("design people.csv --secret illness --release town --weight town --no-curve --force", True),
    Step("look latin.csv", True, "--encoding"),
    Step("look latin.csv --encoding latin-1", says="illness"),
    Step(DESIGN.format(table="latin.csv") + " --encoding latin-1", says="Next"),
    Step(DESIGN.format(table="semicolons.csv"), says="Next"),
    Step(DESIGN.format(table="tabs.tsv"), says="Next"),
    Step(DESIGN.format(table="utf16.csv"), says="Next"),
    Step(DESIGN.format(table="ragged.csv"), says="fields"),
    Step("look ragged.csv", says="fields"),
    Step("look headless.csv", True, "names"),
    Step("design headless.csv --secret illness --release town", True),
    Step("look dates.csv --secret illness", says="date"),
    Step("design dates.csv --secret illness --release day --merge day:rare:20 --no-curve --force", says="Next"),
    Step("look wide.csv --secret illness --k 30", says="40 columns"),
    Step("design wide.csv --secret illness --release " + " --release ".join(f"c{i}" for i in range(38)), True),
    Step("look empty.csv", True),
    Step("look nothing-there.csv", True),
    Step("design broken.csv --secret illness --release town --out none.json", True, "quote"),
    Step("design people.csv --secret country --release town --out none.json", True, "one value"),
    Step("design people.csv --secret illness --release town --bins town=0,5 --no-curve --force", True),
    Step("design people.csv --secret illness --release town --merge town:rare --out none.json", True, "rare:50"),
)  # fmt: skip


def write_tables(folder: Path) -> None:
    """Adult as a CSV file, and generated tables of 2,000 people with what real ones have."""
    import pyarrow.csv as pacsv

    from discreet.datasets import adult

    pacsv.write_csv(adult(), folder / "adult.csv")
    rows = list(_people(random.Random(7)))
    names = list(rows[0])
    lines = [names, *([row[name] for name in names] for row in rows)]

    def written(separator: str) -> str:
        return "\n".join(separator.join(line) for line in lines) + "\n"

    (folder / "people.csv").write_text(written(","), encoding="utf-8")
    (folder / "latin.csv").write_bytes(written(",").encode("latin-1"))
    (folder / "semicolons.csv").write_text(written(";"), encoding="utf-8-sig")
    (folder / "tabs.tsv").write_text(written("\t"), encoding="utf-8")
    (folder / "utf16.csv").write_text(written(","), encoding="utf-16")
    ragged = written(",").splitlines()
    ragged[5] += ",too,many"
    ragged[9] = "too few"
    (folder / "ragged.csv").write_text("\n".join(ragged) + "\n", encoding="utf-8")
    (folder / "headless.csv").write_text(written(",").split("\n", 1)[1], encoding="utf-8")
    (folder / "broken.csv").write_text(written(",") + '"never closed,1,2\n', encoding="utf-8")
    (folder / "empty.csv").write_text("illness,town\n", encoding="utf-8")
    days = [f"{row['illness']},{row['day']}" for row in rows]
    (folder / "dates.csv").write_text("\n".join(["illness,day", *days]) + "\n", encoding="utf-8")
    chance = random.Random(3)
    header = ",".join(["illness", "person", *(f"c{i}" for i in range(38))])
    wide = [
        ",".join([row["illness"], row["person"], *(str(chance.randrange(2 + i % 7)) for i in range(38))])
        for row in rows
    ]
    (folder / "wide.csv").write_text("\n".join([header, *wide]) + "\n", encoding="utf-8")


def _people(chance: random.Random) -> Iterator[dict[str, str]]:
    towns = ["Köln", "Zürich", "Århus", "Łódź".replace("Ł", "L").replace("ź", "z").replace("ó", "o"), "Malmö"]
    for i in range(2000):
        ill = chance.random() < 0.3
        town = chance.choices(towns, [5, 4, 3, 2, 1] if ill else [1, 2, 3, 4, 5])[0]
        born = date(1930, 1, 1) + timedelta(days=chance.randrange(29000))
        yield {
            "person": f"P{i:05d}",
            "illness": "" if chance.random() < 0.1 else "ill" if ill else "well",
            "town": "" if chance.random() < 0.1 else town,
            "born": born.isoformat(),
            "day": (date(2024, 3, 1) + timedelta(days=chance.randrange(12))).isoformat(),
            "wage": f"{chance.lognormvariate(10, 0.5):.2f}",
            "weight": f"{chance.choice([0.5, 1, 2.5])}",
            "country": "here",
        }


def faults(run: Run, folder: Path, steps: tuple[Step, ...] = STEPS) -> list[str]:
    """What went wrong, in words; a step that ends as it should adds nothing."""
    found = []
    for step in steps:
        code, told = run(step.typed.split(), folder)
        told = " ".join(told.split())
        wrong = _wrong(step, code, told)
        if wrong:
            found.append(f"discreet {step.typed}\n  {wrong}\n  {told[-600:]}")
    return found


def _wrong(step: Step, code: int, told: str) -> str:
    if "Traceback" in told or "error inside" in told:
        return "it broke"
    if step.says not in told:
        return f"it does not say {step.says!r}"
    if step.refused:
        return "" if code and "remedy:" in told else f"no refusal with a remedy, code {code}"
    warned = step.typed.startswith("check") and code == 3  # of a check: warnings
    return "" if code == 0 or warned else f"no result, code {code}"


def by_program(program: Path) -> Run:
    def run(words: list[str], folder: Path) -> tuple[int, str]:
        done = subprocess.run([str(program), *words], cwd=folder, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    return run


def from_wheel(folder: Path) -> Path:
    """The `discreet` of a new environment, installed from a wheel that is built for it."""
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)],
        check=True,
    )
    wheel = next(folder.glob("discreet-*.whl"))
    venv.create(folder / "env", with_pip=True)
    python = folder / "env/bin/python"
    constraints = str(ROOT / "constraints.txt")
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", "-c", constraints, str(wheel)], check=True)
    return folder / "env/bin/discreet"


def main() -> int:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        wheel = "--wheel" in sys.argv
        program = from_wheel(folder) if wheel else Path(sys.executable).with_name("discreet")
        write_tables(folder)
        found = faults(by_program(program), folder)
    print("\n\n".join(found) if found else f"{len(STEPS)} steps, each with a result or a remedy.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
