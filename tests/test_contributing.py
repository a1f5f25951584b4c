"""CONTRIBUTING is true: its notion and its set, added to a copy of the package as it says, go from design to report."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import discreet

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n# (src/\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILES: dict[str, str] = dict(BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))

NOTION = """
import json
from pathlib import Path

import discreet as dc
from discreet.cli.app import run
from discreet.notions.ceiling import Ceiling

from conformance import JOINT, missing
assert missing(Ceiling) == [], missing(Ceiling)

found = dc.design(JOINT, Ceiling(0.1))
assert found.is_optimal(1e-4) and found.utility > 0, found
assert found.utility >= dc.design(JOINT, dc.LIP(0.1)).utility - 1e-6  # a weaker notion keeps at least as much
protocol = found.protocol
assert protocol.epsilon <= 0.1
protocol.save("protocol.json")
again = dc.Protocol.load("protocol.json")
assert (again.notion, again.digest) == (Ceiling(0.1), protocol.digest)
assert dc.audit("protocol.json").levels["Ceiling"].epsilon <= protocol.epsilon + 1e-9
assert run(["report", "protocol.json", "--out", "report.html"]) == 0
shown = Path("report.html").read_text()
assert "a ceiling for every secret" in shown and "finds no value of illness more than 1.106 times as likely" in shown
Path("people.csv").write_text("illness,income\\n" + "flu,low\\ncold,high\\nflu,high\\ncold,low\\nflu,low\\n" * 20)
line = ["design", "people.csv", "--secret", "illness", "--release", "income", "--out", "p.json"]
assert run([*line, "--notion", "ceiling", "--epsilon", "0.1", "--no-curve"]) == 0
assert json.loads(Path("p.json").read_text())["notions"] == [{"epsilon": "0.1", "name": "Ceiling"}]
"""

SET = """
import numpy as np

import discreet as dc
from discreet.uncertainty.contaminated import Contaminated

from conformance import JOINT, missing_from_set
assert missing_from_set(Contaminated) == [], missing_from_set(Contaminated)

found = dc.design(JOINT, dc.RLDP(0.8, Contaminated(0.1)), method="grr")
assert 0 < found.utility and found.protocol.epsilon <= 0.8
protocol = found.protocol
known, rng = Contaminated(0.1).around(JOINT), np.random.default_rng(1)
worst = 0.0
for _ in range(2000):  # members of F, found without the oracle
    letters = rng.integers(0, 3, 3)
    conditional = 0.9 * known.conditional + 0.1 * np.eye(3)[letters]
    likelihood = protocol.matrix @ conditional.T
    worst = max(worst, np.log(likelihood.max(axis=1) / likelihood.min(axis=1)).max())
assert protocol.epsilon - 1e-6 <= worst <= protocol.epsilon, (worst, protocol.epsilon)
try:
    dc.design(JOINT, dc.RLDP(0.8, Contaminated(0.1)), method="coupling")
    raise AssertionError("a search for balls took another set")
except dc.ParameterError as error:
    assert "balls" in str(error), error
"""


def added(folder: Path, names: list[str]) -> dict[str, str]:
    """A copy of the package with these files of CONTRIBUTING and a new schema; the environment to run it."""
    source = Path(discreet.__file__).parent
    shutil.copytree(source, folder / "src/discreet", ignore=shutil.ignore_patterns("__pycache__"))
    for name in names:
        assert not (folder / name).exists()
        (folder / name).write_text(FILES[name], encoding="utf-8")
    paths = [str(folder / "src"), str(ROOT / "tests/notions")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "NO_COLOR": "1"}
    subprocess.run([sys.executable, "-m", "discreet.protocol.schema"], env=environment, check=True, cwd=folder)
    return environment


@pytest.mark.parametrize(
    ("names", "script"),
    [
        (["src/discreet/notions/ceiling.py", "src/discreet/certify/ceiling_proof.py"], NOTION),
        (["src/discreet/uncertainty/contaminated.py", "src/discreet/certify/contamination_proof.py"], SET),
    ],
    ids=["notion", "set"],
)
def test_the_example_goes_from_design_to_report(names: list[str], script: str, tmp_path: Path) -> None:
    environment = added(tmp_path, names)
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_file_of_the_page_is_tried_and_fits_the_line() -> None:
    assert len(FILES) == 4
    assert all(len(line) <= 120 for code in FILES.values() for line in code.splitlines())
