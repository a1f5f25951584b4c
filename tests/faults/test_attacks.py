"""False claims and careless paths that an attack on the proofs and the release once got through."""

import io
import math
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import discreet as dc
from discreet.audit.sampler_audit import LowerBound, describe
from discreet.certify import prove
from discreet.certify.exact_arithmetic import LARGEST, exp_bounds, exp_lower
from discreet.phrases import rounded_up, times
from discreet.randomness import Keystream
from discreet.records.cells import as_text
from discreet.records.csvfile import CsvRecords
from discreet.release.batches import BatchSanitiser
from discreet.release.draws_together import total_epsilon
from discreet.release.keyed_draws import KeyedDraws
from discreet.release.manifest import statement
from discreet.uncertainty import set_words

BITS = 52
ONE = 1 << BITS


def two_rows(first):
    first = np.array(first, dtype=np.int64)
    return np.vstack([first, ONE - first])


@pytest.mark.parametrize("order", [1e-3, 1e-4, 1e-5, 1e-6])
@pytest.mark.parametrize("scale", [20, 30, 40])
def test_a_tiny_order_proves_no_more_than_the_truth(order, scale):
    """At P̂ itself the first output is five times as likely under one secret as under the other."""
    unit = ONE >> (scale + 4)
    weights = two_rows([9 * unit, unit, unit, unit])
    joint = dc.Joint.from_counts([[50, 50], [50, 50]], include_secret=True)
    with pytest.raises(dc.ProofError):
        prove(weights, BITS, joint, dc.RLDP(1.0, dc.Renyi(order, order / 10)))


def test_no_upper_bound_is_invented():
    with pytest.raises(dc.ProofError):
        exp_bounds((LARGEST + 1) << 64, 64)
    assert exp_lower(LARGEST + 1000, 64) == exp_lower(LARGEST, 64)


def test_many_draws_of_a_rare_output_are_not_forgotten():
    """Forty draws of an output of probability 2^−38 have no float, and tell the most."""
    rare = ONE >> 38
    joint = dc.Joint.from_counts([[60, 40], [50, 50]])
    protocol = dc.Protocol(two_rows([rare, rare + rare // 4]), BITS, joint, dc.LDP(1))
    grown = 1.25**40
    truth = abs(math.log((0.6 + 0.4 * grown) / (0.5 + 0.5 * grown)))
    assert total_epsilon(protocol, 40) >= truth > 9 * protocol.epsilon


def test_a_secret_column_cannot_be_kept_when_several_became_one():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {name: rng.choice(list(letters), 200) for name, letters in (("a", "pq"), ("b", "rs"), ("x", "uvw"))}
    )
    joint = dc.Joint.from_table(frame, secret=["a", "b"], release="x").observed()
    protocol = dc.design(joint, dc.LDP(1.0)).protocol
    with pytest.raises(dc.AlphabetError, match="cannot be kept"):
        protocol.sanitise(frame, keep=["a"])


@pytest.mark.parametrize(
    ("values", "kind"), [([10**7], pa.date32()), ([10**13], pa.timestamp("s")), ([10**16], pa.duration("s"))]
)
def test_a_value_that_python_cannot_hold_is_no_letter_and_no_error(values, kind):
    assert as_text(pa.array(values, pa.int64()).cast(pa.int32() if kind == pa.date32() else pa.int64()).cast(kind))[
        0
    ].is_valid


def test_the_number_of_records_must_be_the_sum_of_the_counts():
    counts = np.array([[20, 20], [20, 20]])
    joint = dc.Joint(counts / 80, n=10**9, counts=counts, include_secret=True)
    weights = two_rows([ONE // 2 + ONE // 10, ONE // 2, ONE // 2, ONE // 2])
    with pytest.raises(dc.DiscreetError):
        prove(weights, BITS, joint, dc.RLDP(0.3, dc.ChiSquare(0.95)))


def test_odd_integers_for_bits_are_no_way_around_the_sums():
    joint = dc.Joint.from_counts([[1, 2], [3, 4]])
    with pytest.raises(dc.ChannelError):
        prove(np.zeros((2, 2), dtype=np.int64), np.int8(60), joint, dc.LDP(1))


def test_a_confidence_next_to_nothing_is_answered():
    joint = dc.Joint.from_counts([[20, 20], [20, 20]], include_secret=True)
    assert prove(two_rows([ONE // 2] * 4), BITS, joint, dc.RLDP(0.3, dc.ChiSquare(1e-17))).epsilon == 0.3


@pytest.mark.parametrize("epsilon", [1e-9, 0.004, 0.0049, 0.1, 0.3, 1.0, 1.5, 3.0, 20.0])
def test_no_promise_is_rounded_down(epsilon):
    """ε = 0.004 once read "at most 1-fold", and e^1.5 = 4.4817 "4.48-fold"."""
    assert math.exp(epsilon) <= float(times(epsilon)) <= 1 + math.expm1(epsilon) * 1.011
    assert epsilon <= float(rounded_up(epsilon)) <= epsilon * (1 + 1e-5)


@pytest.mark.parametrize("epsilon", [0.004, 0.4056, 1.5])
def test_no_evidence_is_rounded_up(epsilon):
    """e^0.4056 = 1.5002 is at least "1.5 times" and not 1.51; 0.99999 is not certain."""
    bound = LowerBound(epsilon, np.float64(0.9999999), 0, 1, (0,), comparisons=1)
    told = describe(bound, ["one", "other"], ["yes"])
    factor, confidence = re.search(r"at least (\S+) times .* with (\S+) confidence", told).groups()
    assert 1 + math.expm1(epsilon) * 0.989 <= float(factor) <= math.exp(epsilon)
    assert 0.999999 <= float(confidence) <= 0.9999999


def test_a_confidence_below_one_is_not_called_certain():
    notion = dc.RLDP(1.0, dc.ChiSquare(0.999))
    assert "the 99.9% confidence set" in set_words(notion.uncertainty).holds(notion.uncertainty)
    assert "the 95% confidence set" in dc.ChiSquare.words.holds(dc.ChiSquare(0.95))


def test_a_keyed_release_on_a_testing_stream_says_so(tmp_path):
    joint = dc.Joint.from_counts([[7, 10], [26, 57]])
    protocol = dc.design(joint, dc.LIP(1.0)).protocol
    for randomness, said in ((Keystream.testing(), True), (Keystream.fresh(), False)):
        keyed = KeyedDraws("person", bytes(32), protocol.digest)
        kernel = BatchSanitiser(protocol, randomness, (), keyed)
        assert ("testing" in statement(kernel, keep_order=False)["randomness"]) is said


def test_secrets_are_merged_once_each():
    joint = dc.Joint.from_counts([[7, 10], [26, 57], [3, 4]])
    letter, other = joint.secret_letters[:2]
    with pytest.raises(dc.DistributionError, match="cannot be merged"):
        joint.merge_secrets([letter, letter], "both")
    assert len(joint.merge_secrets([letter, other], "both").secret_letters) == 2


@pytest.mark.parametrize("share", [-1.0, 1.0, 5.0, math.nan])
def test_a_share_of_information_to_lose_is_a_share(share):
    found = dc.design(dc.Joint.from_counts([[7, 10], [26, 57]]), dc.LIP(1.0))
    with pytest.raises(dc.ParameterError, match="share"):
        found.sparser(share)


@pytest.mark.parametrize("line", [b"P,SECR\xe9T,XV,N,q,EXTRA,MORE\n", b"\xff\xfe,a\n", b"\xc3\n"])
def test_a_ragged_record_with_bytes_that_do_not_fit_is_refused_as_all_are(line, capfd):
    """pyarrow once showed the byte and its place, and stopped with an error about something else."""
    head, good = b"a,b,c,d,e\n", b"1,2,3,4,5\n"
    with pytest.raises(dc.TableError, match="bytes that do not fit the encoding utf-8"):
        list(CsvRecords(io.BytesIO(head + good * 3 + line + good * 2), ["a"], ["b"], "utf-8"))
    fits = line.decode("latin-1").encode()
    found = pa.Table.from_batches(
        list(CsvRecords(io.BytesIO(head + good * 3 + fits + good * 2), ["a"], ["b"], "utf-8"))
    )
    assert found["a"].to_pylist() == ["1"] * 3 + [None] + ["1"] * 2
    assert capfd.readouterr() == ("", "")


def test_a_column_cannot_say_how_often_its_records_count() -> None:
    """A column of this name was once taken for numbers of records: 310 counted as 100,320, and the level was false."""
    table = pa.table({"s": ["a", "b"] * 50, "discreet records": [1, 1000, 2, 3] * 25})
    for asked in ({"secret": "s", "release": "discreet records"}, {"secret": "discreet records", "release": "s"}):
        with pytest.raises(dc.AlphabetError, match="a name that discreet keeps"):
            dc.Joint.from_table(table, **asked)
    kept = table.append_column("x", pa.array(["p", "q"] * 50))
    assert dc.Joint.from_table(kept, secret="s", release="x").n == 100


def test_the_category_of_somebody_who_was_taken_out_is_not_published() -> None:
    rows = [("a", "p"), ("b", "q"), ("a", "q"), ("b", "p")] * 50 + [("a", "the-only-one")]
    whole = pd.DataFrame(rows, columns=["s", "x"]).astype({"x": "category"})
    protocol = dc.design(
        dc.Joint.from_table(whole[whole.x != "the-only-one"], secret="s", release="x"), dc.LIP(0.5)
    ).protocol
    assert b"the-only-one" not in protocol.encode() + protocol.public().encode()
    everybody = dc.design(dc.Joint.from_table(whole, secret="s", release="x"), dc.LIP(0.5)).protocol
    assert b"the-only-one" in everybody.encode()
