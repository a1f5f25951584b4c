"""A promise that was counted by rows is no promise to persons: who comes often counts often among rows.

The tables are exact: what is true of persons is computed by listing them.
"""

import math
import secrets
from typing import Any

import pandas as pd
import pytest

import discreet as dc
from discreet.exceptions import ReleaseError
from discreet.records.persons import Rule
from discreet.release import Job, RowsAsked, rehearse_file, sanitise_file

KINDS = (("ill", "a", 1, 900), ("ill", "b", 9, 100), ("well", "a", 9, 100), ("well", "b", 1, 900))
"""Secret, value, rows and number of persons: by rows the value says nothing, by persons nearly everything."""
NOTIONS = (dc.LDP(0.1), dc.LIP(0.1), dc.RLDP(0.5))


def visits() -> pd.DataFrame:
    rows, person = [], 0
    for secret, value, times, persons in KINDS:
        for _ in range(persons):
            rows += [(f"P{person:05d}", secret, value, f"P{person:05d}x{k}") for k in range(times)]
            person += 1
    return pd.DataFrame(rows, columns=["id", "s", "x", "row"])


TABLE = visits()


def designed(notion: Any, **whose: Any) -> dc.Protocol:
    return dc.design(dc.Joint.from_table(TABLE, secret="s", release="x", **whose), notion, time_limit=20).protocol


def level_of_persons(protocol: dc.Protocol) -> float:
    """LDP of a draw of each person's one value."""
    place = [protocol.joint.letters.index(value) for value in ("a", "b")]
    told = protocol.channel.matrix[:, place] @ [[0.9, 0.1], [0.1, 0.9]]
    return max(abs(math.log(ill / well)) for ill, well in told if ill + well > 0)


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
@pytest.mark.parametrize("counted", [{}, {"person": "row"}], ids=["rows", "another column"])
def test_a_promise_of_rows_is_not_given_to_persons(notion: Any, counted: dict[str, str]) -> None:
    protocol = designed(notion, **counted)
    assert level_of_persons(protocol) > 2 > 4 * protocol.epsilon, "which would not be theirs"
    for unit in ("person", "household"):
        for rule in (None, "one", "tied", "independent"):
            asked: dict[str, Any] = {unit: "id", "rows": rule}
            with pytest.raises(ReleaseError, match=rf"Design again with --{unit} id .*--rows") as refused:
                protocol.sanitise(TABLE, **asked)
            assert refused.value.what in [one.what for one in protocol.check(TABLE, **asked).refusals]


@pytest.mark.parametrize("rule", ["one", "tied"])
def test_the_remedy_is_the_way(rule: str) -> None:
    for notion in NOTIONS:
        protocol = designed(notion, person="id", rows=rule)
        assert level_of_persons(protocol) <= 2 * notion.epsilon + 1e-9
        assert len(protocol.sanitise(TABLE)) == (2000 if rule == "one" else len(TABLE))


def test_rows_under_a_key_are_no_other_door(tmp_path) -> None:
    key = tmp_path / "key"
    key.write_text(secrets.token_hex(32))
    key.chmod(0o600)
    keyed = {"key": key, "identity": "id", "several_rows": True}
    protocol, tied = designed(dc.LDP(0.1)), designed(dc.LDP(0.1), person="id", rows="tied")
    with pytest.raises(ReleaseError, match="Design again with --person id --rows tied"):
        protocol.sanitise(TABLE, **keyed)
    assert len(tied.sanitise(TABLE, **keyed)) == len(TABLE)


def test_files_and_policies_are_no_other_door(tmp_path) -> None:
    TABLE.to_csv(tmp_path / "t.csv", index=False)
    designed(dc.LDP(0.1)).save(tmp_path / "p.json")
    for rule in (*Rule,)[1:]:
        asked = Job(
            tmp_path / "p.json", str(tmp_path / "t.csv"), str(tmp_path / "o.csv"), rows=RowsAsked("id", None, str(rule))
        )
        assert any("counted rows" in one.what for one in rehearse_file(asked).refusals)
        with pytest.raises(ReleaseError, match="counted rows: its level is not theirs"):
            sanitise_file(asked)
        assert not (tmp_path / "o.csv").exists()
    with pytest.raises(ReleaseError, match="design again with --person id"):
        sanitise_file(Job(tmp_path / "p.json", str(tmp_path / "t.csv"), str(tmp_path / "o.csv")))


def test_a_promise_that_holds_at_every_law_is_a_persons_as_well() -> None:
    for notion in (dc.OrdinaryLDP(1.0), dc.RLDP(1.0, dc.Everything())):
        protocol = designed(notion)
        assert level_of_persons(protocol) <= 1 + 1e-9
        assert len(protocol.sanitise(TABLE, person="id", rows="tied")) == len(TABLE)
    with pytest.raises(ReleaseError, match="counted rows"):
        designed(dc.LIP(0.1) & dc.OrdinaryLDP(8.0)).sanitise(TABLE, person="id", rows="tied")


def test_a_table_of_single_rows_needs_no_count_of_persons() -> None:
    single = TABLE.drop_duplicates("id").drop(columns="row")
    protocol = dc.design(dc.Joint.from_table(single, secret="s", release="x"), dc.LDP(0.1)).protocol
    assert len(protocol.sanitise(single, person="id", rows="tied")) == len(single)
    other = dc.design(dc.Joint.from_table(single, secret="s", release="x", person="id"), dc.LDP(0.1)).protocol
    with pytest.raises(ReleaseError, match="or call the column id if it names the same persons"):
        other.sanitise(TABLE.rename(columns={"id": "patient"}), person="patient", rows="tied")
