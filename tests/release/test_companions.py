"""Beside a release: the public file and the metadata, the same for all joints that agree in weights and law."""

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from public_cases import CANARY, FORMS, channel_of, protocol_of, table_of, twins

import discreet as dc
from discreet.protocol.public_file import load_public
from discreet.protocol.strata import load_protocol
from discreet.release import Job, sanitise_file
from discreet.release.companions import COMPANIONS, DECODING, beside, written_files
from discreet.report import public_page

PEOPLE = table_of(twins()[0], 500)


def released(folder, protocol, name="out.csv", **options):
    """The folder after a release from the testing stream."""
    folder.mkdir(exist_ok=True)
    protocol.save(folder / "protocol.json")
    pacsv.write_csv(PEOPLE, folder / "people.csv")
    options = {"keep_anyway": True, "testing": True, "data": str(folder), **options}
    sanitise_file(Job(folder / "protocol.json", str(folder / "people.csv"), str(folder / name), **options))
    return folder / name


def package_of(target):
    return json.loads(target.with_name(f"{target.name}.datapackage.json").read_text())


@pytest.mark.parametrize("form", FORMS)
def test_what_lies_beside_a_release_is_the_same_for_twins_but_for_digests(form, tmp_path):
    contents, raw = [], set()
    for number, joint in enumerate(twins()):
        protocol = FORMS[form](joint)
        target = released(tmp_path / str(number), protocol)
        public = load_public(f"{target}.public.json")
        parts = [target.read_bytes(), public_page(public).encode()]
        parts += [beside(target, name).read_bytes() for name in COMPANIONS[1:]]
        assert beside(target, DECODING).exists() == (form != "include_secret")
        parts += [beside(target, DECODING).read_bytes()] if form != "include_secret" else []
        for part in parts:
            assert not any(str(count).encode() in part for count in joint.counts.ravel())
        raw |= {b"".join(parts)}
        hidden = (protocol.digest, public.digest)
        contents.append([part.replace(hidden[0].encode(), b"1").replace(hidden[1].encode(), b"2") for part in parts])
    assert len(raw) == 2  # the digests differ, so something was compared
    assert contents[0] == contents[1]


def test_the_scan_finds_what_the_full_file_has(tmp_path):
    protocol_of(twins()[0]).save(tmp_path / "protocol.json")
    data = (tmp_path / "protocol.json").read_bytes()
    assert all(str(count).encode() in data for count in CANARY)


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow"])
def test_the_package_describes_the_file(kind, tmp_path):
    protocol = protocol_of(twins()[0], dc.LIP(6.0) & dc.OrdinaryLDP(20.0))
    target = released(tmp_path, protocol, f"Über out.{kind}", keep=("sex",))
    said = package_of(target)
    [resource] = said["resources"]
    content = target.read_bytes()
    assert resource["path"] == target.name
    assert resource["bytes"] == len(content)
    assert resource["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
    assert resource["name"] == f"ber-out.{kind}"
    assert [field["name"] for field in resource["schema"]["fields"]] == ["release", "sex"]
    listed = set(resource["schema"]["fields"][0]["constraints"]["enum"])
    readers = {"csv": pacsv.read_csv, "parquet": pq.read_table, "arrow": lambda path: pa.ipc.open_file(path).read_all()}
    cells = readers[kind](target)["release"].cast(pa.string()).to_pylist()
    assert set(cells) <= listed == set(map(str, protocol.outputs))
    public = beside(target, "public.json").read_bytes()
    assert said["discreet"] == {
        "notion": "LIP",
        "epsilon": 6.0,
        "also": [{"notion": "OrdinaryLDP", "epsilon": 20.0}],
        "protocol_sha256": hashlib.sha256((tmp_path / "protocol.json").read_bytes()).hexdigest(),
        "public": f"{target.name}.public.json",
        "public_sha256": hashlib.sha256(public).hexdigest(),
    }


def test_values_that_a_spreadsheet_would_execute_are_listed_as_they_are_written(tmp_path):
    joint = twins()[0]
    named = dc.Channel(protocol_of(joint).matrix, joint.letters, ("=A", "B", "C"))
    target = released(tmp_path, dc.Protocol.make(named, joint, dc.LIP(6.0)))
    [field] = package_of(target)["resources"][0]["schema"]["fields"]
    assert field["constraints"]["enum"] == ["'=A", "B", "C"]
    cells = set(pacsv.read_csv(target)["release"].to_pylist())
    assert cells <= {"'=A", "B", "C"}
    found = dc.estimate(str(target), load_public(f"{target}.public.json"))
    assert found.n == 500


def test_types_of_kept_columns(tmp_path):
    table = PEOPLE.append_column("size", pa.array(range(500)))
    table = table.append_column("share", pa.array([i / 7 for i in range(500)]))
    protocol_of(twins()[0]).save(tmp_path / "protocol.json")
    pq.write_table(table, tmp_path / "people.parquet")
    job = Job(
        tmp_path / "protocol.json", str(tmp_path / "people.parquet"), str(tmp_path / "out.parquet"),
        keep=("size", "share"), keep_anyway=True, data="types",
    )  # fmt: skip
    sanitise_file(job)
    fields = package_of(tmp_path / "out.parquet")["resources"][0]["schema"]["fields"]
    assert [field["type"] for field in fields] == ["string", "integer", "number"]


def test_a_pipe_has_nothing_beside_it(tmp_path, capfdbinary):
    protocol_of(twins()[0]).save(tmp_path / "protocol.json")
    pacsv.write_csv(PEOPLE, tmp_path / "people.csv")
    before = set(tmp_path.iterdir())
    sanitise_file(Job(tmp_path / "protocol.json", str(tmp_path / "people.csv"), "-", data="pipe"))
    assert {path.name for path in set(tmp_path.iterdir()) - before} <= {"protocol.json.ledger"}
    assert capfdbinary.readouterr().out


def test_nothing_is_written_when_the_ledger_refuses(tmp_path):
    protocol = protocol_of(twins()[0])
    target = released(tmp_path, protocol)
    for path in written_files(target):
        path.unlink()
    job = Job(
        tmp_path / "protocol.json",
        str(tmp_path / "people.csv"),
        str(target),
        data=str(tmp_path),
        budget=protocol.epsilon / 2,
    )
    with pytest.raises(dc.ReleaseError):
        sanitise_file(job)
    assert not any(path.exists() for path in written_files(target))


R_BLOCK = re.compile(r"^```r\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_r_reads_all_three_and_estimates(tmp_path):
    """The vignette docs/r.md, run as it stands; the ten lines of its first block are ten."""
    probe = subprocess.run(["Rscript", "-e", "library(jsonlite)"], capture_output=True, check=False)
    if probe.returncode:
        pytest.skip("jsonlite is not installed")
    joint = twins()[0]
    protocol = dc.Protocol.make(channel_of(joint, ("A", "B, or C", "D", "'E'", "F")), joint, dc.LIP(9.0))
    target = released(tmp_path, protocol, "released.csv")
    blocks = R_BLOCK.findall((Path(__file__).parents[2] / "docs/r.md").read_text())
    assert len(blocks[0].splitlines()) == 10
    (tmp_path / "read.R").write_text("".join(blocks) + 'writeLines(sprintf("%.15g", estimate), "estimate.txt")\n')
    done = subprocess.run(["Rscript", "read.R"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = [float(line) for line in (tmp_path / "estimate.txt").read_text().split()]
    assert found == pytest.approx(dc.estimate(str(target), protocol).frequencies, abs=1e-9)


def test_the_full_file_is_not_what_lies_beside(tmp_path):
    target = released(tmp_path, protocol_of(twins()[0]))
    with pytest.raises(dc.ProtocolError, match="no counts"):
        load_protocol(f"{target}.public.json")
