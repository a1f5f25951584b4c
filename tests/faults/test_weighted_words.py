"""Weighted records are called weighted wherever a prior is spoken of."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.cli.app import run


def test_a_weighted_design_has_no_exact_counts_inside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, out = tmp_path / "t.csv", tmp_path / "p.json"
    rows = ["ill,red,2.5"] * 60 + ["ill,blue,1"] * 40 + ["well,red,1"] * 50 + ["well,blue,0.5"] * 90
    table.write_text("\n".join(["health,colour,w", *rows]) + "\n")
    words = ["design", str(table), "--secret", "health", "--release", "colour", "--no-curve", "--out", str(out)]
    assert run([*words, "--weight", "w"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "exact counts" not in said
    assert "the weighted shares of your table inside" in said
    assert run([*words, "--force"]) == 0
    assert "the exact counts of your table inside" in " ".join(capsys.readouterr().out.split())
