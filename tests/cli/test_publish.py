"""`publish`, `keygen`, and the commands that take a public file in the place of a protocol file."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from discreet import Joint
from discreet.cli.app import run


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run([*arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.fixture
def there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with a release and its public file beside it, as the place where commands run."""
    monkeypatch.chdir(folder)
    assert run(["sanitise", "protocol.json", "people.csv", "out.csv"]) == 0
    return folder


def test_from_a_protocol_to_its_public_file(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = said(capsys, "publish", "protocol.json", "public.json")
    data = (there / "public.json").read_bytes()
    assert facts["sha256"] == hashlib.sha256(data).hexdigest()
    assert facts["protocol"] == hashlib.sha256((there / "protocol.json").read_bytes()).hexdigest()
    assert facts["bytes"] == len(data)
    assert facts["signature"] is None
    assert data == (there / "out.csv.public.json").read_bytes()
    assert run(["publish", "protocol.json", "other.json"]) == 0
    assert "chosen from the counts" in " ".join(capsys.readouterr().out.split())


def test_estimates_and_reports_from_it_alone(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    full = said(capsys, "estimate", "protocol.json", "out.csv")
    (there / "protocol.json").unlink()
    public = said(capsys, "estimate", "out.csv.public.json", "out.csv")
    for mine, stewards in zip(public["letters"], full["letters"], strict=True):
        assert mine["letter"] == stewards["letter"]
        assert abs(mine["frequency"] - stewards["frequency"]) < 1e-12
        assert abs(mine["standard_error"] - stewards["standard_error"]) < 1e-12
    said(capsys, "report", "out.csv.public.json", "--out", "public.html")
    page = (there / "public.html").read_text()
    assert "What the public file itself tells" in page
    assert "ill" not in page.split("<body>")[1].split()  # no value of the secret


@pytest.mark.parametrize("command", [["sanitise", "out.csv.public.json", "people.csv", "again.csv"],
                                     ["check", "out.csv.public.json", "people.csv"],
                                     ["publish", "out.csv.public.json", "again.json"]])  # fmt: skip
def test_what_needs_the_counts_says_so(there: Path, command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    before = set(there.iterdir())
    capsys.readouterr()
    assert run([*command, "--json"]) in (4, 5)
    assert "the public file, which has no counts" in capsys.readouterr().out
    assert set(there.iterdir()) == before


def test_signed_and_verified(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "keygen", "KEY") == {"key": "KEY", "public": "KEY.pub"}
    facts = said(capsys, "publish", "protocol.json", "public.json", "--sign", "KEY")
    assert facts["signature"] == "public.json.sig"
    assert said(capsys, "audit", "public.json", "--verify", "KEY.pub")["signature"] == "KEY.pub"
    assert run(["audit", "public.json", "--verify", "KEY.pub"]) == 0
    assert "valid under KEY.pub" in capsys.readouterr().out
    (there / "public.json").write_bytes((there / "public.json").read_bytes().replace(b"colour", b"coloux"))
    assert run(["audit", "public.json", "--verify", "KEY.pub", "--json"]) == 5
    assert "does not belong" in capsys.readouterr().out
    assert run(["publish", "protocol.json", "public.json", "--force"]) == 0
    assert not (there / "public.json.sig").exists()  # a signature of other bytes does not stay behind


def test_an_audit_of_a_public_file_claims_no_level(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = said(capsys, "audit", "out.csv.public.json")
    assert "levels" not in facts
    assert facts["asked_epsilon"] == 0.5
    assert facts["signature"] is None


def test_a_public_file_is_audited_at_a_table(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    columns = ["--data", "people.csv", "--secret", "health", "--release", "colour"]
    public = said(capsys, "audit", "out.csv.public.json", *columns)
    assert public["levels"] == said(capsys, "audit", "protocol.json", *columns)["levels"]
    assert public["proven"] is None


def test_the_key_stays_out_of_everything(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["keygen", "KEY"]) == 0
    assert run(["publish", "protocol.json", "public.json", "--sign", "KEY"]) == 0
    shown = "".join(capsys.readouterr())
    secret = (there / "KEY").read_text().splitlines()[1]
    files = [path for path in there.iterdir() if path.name != "KEY"]
    assert secret not in shown
    assert not any(secret.encode() in path.read_bytes() for path in files)


@pytest.mark.parametrize("kind", ["public.json", "protocol.json", "matrix.csv"])
def test_what_was_verified_is_what_is_audited(
    there: Path, kind: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file was read again after its signature: whoever changed it in between was believed."""
    from discreet.protocol import signature

    (there / "matrix.csv").write_text("0.75,0.25\n0.25,0.75\n")
    assert run(["publish", "protocol.json", "public.json"]) == 0
    key = signature.make_keys(there / "KEY").with_suffix("")
    (there / f"{kind}.sig").write_bytes(signature.signed((there / kind).read_bytes(), key))
    asked = ["audit", kind, "--verify", "KEY.pub"]
    if kind == "matrix.csv":
        asked += ["--data", "people.csv", "--secret", "ill", "--release", "colour", "--encoding", "utf-8"]
        monkeypatch.setattr("discreet.release.joint_of_file", lambda *_, **__: Joint.from_counts([[3, 1], [1, 3]]))
    honest, verified = said(capsys, *asked), signature.verify

    def changed_afterwards(path: Path, public_key: Path) -> Any:
        found = verified(path, public_key)
        path.write_text("forged")
        return found

    monkeypatch.setattr(signature, "verify", changed_afterwards)
    assert said(capsys, *asked) == honest
    assert (there / kind).read_text() == "forged"
