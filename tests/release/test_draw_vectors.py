"""The test vectors of a draw, checked by three implementations: the sampler, a few lines here, and JavaScript."""

import importlib.util
import json
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs/draws"


def vectors():
    lines = (FOLDER / "vectors.csv").read_text().splitlines()[1:]
    return [(int(letter), int(word, 16), int(output)) for letter, word, output in (line.split(",") for line in lines)]


def test_the_script_writes_them_again():
    spec = importlib.util.spec_from_file_location("draw_vectors", ROOT / "scripts/draw_vectors.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert {name: (FOLDER / name).read_bytes() for name in ("public.json", "vectors.csv")} == module.written()
    assert len(vectors()) == module.DRAWS == 5000


def slots_of(outputs, weights, bits):
    """Vose's table with whole numbers of Python, written from docs/public-file.md alone."""
    k = max(1, (len(outputs) - 1).bit_length())
    whole = max(bits, k)
    capacity = 2 ** (whole - k)
    left = [w * 2 ** (whole - bits) for w in weights] + [0] * (2**k - len(weights))
    slots = {}
    small, large = [j for j in range(2**k) if left[j] < capacity], [j for j in range(2**k) if left[j] >= capacity]
    while small:
        j = small.pop()
        donor = large[-1]
        slots[j] = (left[j], j, donor) if left[j] else (capacity, donor, donor)
        left[donor] -= capacity - left[j]
        if left[donor] < capacity:
            small.append(large.pop())
    table = [slots.get(j, (capacity, j, j)) for j in range(2**k)]
    borders = [(j * capacity + threshold) * 2 ** (64 - whole) for j, (threshold, _, _) in enumerate(table)]
    return k, [(border, outputs[a], outputs[b]) for border, (_, a, b) in zip(borders, table, strict=True)]


def drawn(table, word):
    k, slots = table
    border, below, above = slots[word >> (64 - k)]
    return below if word < border else above


def tables():
    file = json.loads((FOLDER / "public.json").read_text())
    rows = list(zip(file["weights"]["outputs"], file["weights"]["values"], strict=True))
    law = [(y, w) for y, w in enumerate(file["law"]["outputs"]) if w]
    rows.append(([y for y, _ in law], [w for _, w in law]))
    return [slots_of(outputs, weights, file["bits"]) for outputs, weights in rows]


def test_a_second_implementation_agrees():
    found = tables()
    assert all(drawn(found[letter], word) == output for letter, word, output in vectors())


def test_a_border_that_is_off_by_one_is_seen():
    """The negative control: the words at the borders notice ≤ in the place of <."""
    found = [(k, [(border + 1, below, above) for border, below, above in slots]) for k, slots in tables()]
    assert any(drawn(found[letter], word) != output for letter, word, output in vectors())


def test_the_table_draws_from_the_weights():
    """Exactly: the words below and from each border, counted."""
    file = json.loads((FOLDER / "public.json").read_text())
    for (k, slots), outputs, weights in zip(
        tables(), file["weights"]["outputs"], file["weights"]["values"], strict=False
    ):
        masses = dict.fromkeys(outputs, 0)
        for j, (border, below, above) in enumerate(slots):
            start, end = j * 2 ** (64 - k), (j + 1) * 2 ** (64 - k)
            masses[below] += border - start
            masses[above] += end - border
        assert [mass * 2 ** file["bits"] for mass in masses.values()] == [weight * 2**64 for weight in weights]


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_javascript_agrees(tmp_path):
    script = ["node", str(FOLDER / "draw.mjs"), str(FOLDER / "public.json")]
    done = subprocess.run([*script, str(FOLDER / "vectors.csv")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "5000 of 5000" in done.stdout
    lines = (FOLDER / "vectors.csv").read_text().splitlines()
    letter, word, output = lines[1].split(",")
    lines[1] = f"{letter},{word},{(int(output) + 1) % 9}"
    (tmp_path / "wrong.csv").write_text("\n".join(lines) + "\n")
    done = subprocess.run([*script, str(tmp_path / "wrong.csv")], capture_output=True, text=True, check=False)
    assert done.returncode == 1
