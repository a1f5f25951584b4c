"""Numbers that are not what they seem: cut to whole ones, under a mask, or larger than any float."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

import discreet as dc

JOINT = dc.Joint.from_counts([[30, 10], [10, 30]])
HUGE = 10**5000
MASKED = np.ma.masked_array([[3, 1], [1, 3]], [[False, True], [False, False]])


@pytest.mark.parametrize(
    "weights",
    [
        [[3.9, 1.2], [1.9, 3.8]], [[3.5, 1], [0.5, 3]], sparse.csc_array([[3.9, 1.0], [1.9, 3.0]]), [[HUGE, 1], [1, 3]],
        [[np.nan, 1], [1, 3]], [["3", "1"], ["1", "3"]], [[3, 1], [1]], [[2.0**64, 1], [1, 3]], [3, 1],
    ],
)  # fmt: skip
def test_weights_are_whole_numbers_or_refused(weights):
    with pytest.raises(dc.ChannelError, match="not integers"):
        dc.Protocol(weights, 2, JOINT, dc.LDP(2))


def test_whole_numbers_of_any_type_are_the_same_weights():
    expected = dc.Protocol([[3, 1], [1, 3]], 2, JOINT, dc.LDP(2)).digest
    for kind in (float, np.float32, np.uint8, object, np.uint64):
        assert dc.Protocol(np.array([[3, 1], [1, 3]], kind), 2, JOINT, dc.LDP(2)).digest == expected


@pytest.mark.parametrize(
    "made",
    [
        lambda: dc.Protocol(MASKED, 2, JOINT, dc.LDP(2)),
        lambda: dc.Joint.from_counts(MASKED),
        lambda: dc.Joint(MASKED / 8),
        lambda: dc.Channel(MASKED / 4),
        lambda: dc.Joint.from_counts([MASKED[0], MASKED[1]]),
    ],
)
def test_a_mask_is_not_lost(made):
    with pytest.raises(dc.ParameterError, match="masked"):
        made()


@pytest.mark.parametrize(
    "made",
    [
        lambda: dc.Joint([[HUGE, 0], [0, 1]]),
        lambda: dc.Joint.from_counts([[HUGE, 0], [0, 1]]),
        lambda: dc.Joint.from_counts([[1, 2], [3]]),
        lambda: dc.Channel([[HUGE, 0], [0, 1]]),
        lambda: dc.LIP(HUGE),
        lambda: dc.LDP("much"),
    ],
)
def test_what_is_no_number_is_refused_in_own_words(made):
    with pytest.raises(dc.InputError):
        made()


@pytest.mark.parametrize(
    "counts",
    [
        [[1.9, 1.1], [1.1, 1.9]], [[np.nan, 3], [3, 0]], [[np.inf, 3], [3, 0]], [[-1, 4], [4, -1]], [[HUGE, 1], [1, 3]],
        [["3", "0"], ["1", "2"]], [[1.5j, 1], [1, 3]], np.ma.masked_array([[3, 0], [1, 2]], [[True, False]] * 2),
    ],
)  # fmt: skip
def test_counts_are_whole_numbers_or_refused(counts):
    """Once the proof cut 1.9 to 1, and proved levels that the distribution does not have."""
    law = np.array([[1.9, 1.1], [1.1, 1.9]]) / 6
    with pytest.raises(dc.InputError):
        dc.Joint(law, n=6, counts=counts)


def test_noisy_counts_may_be_negative_but_are_whole():
    law, noise = np.array([[0.5, 0], [0, 0.5]]), dc.Noise(1.0)
    assert dc.Joint(law, n=6, counts=np.array([[3.0, -1], [-1, 3]]), noise=noise).counts.tolist() == [[3, -1], [-1, 3]]
    with pytest.raises(dc.DistributionError, match="not a whole number"):
        dc.Joint(law, n=6, counts=[[3.4, -1], [-1, 3]], noise=noise)


@pytest.mark.parametrize("notion", [dc.LIP(5.0), dc.RLDP(5.0), dc.RLIP(5.0), dc.RLDP(5.0, dc.ChiSquare(0.95))], ids=str)
def test_counts_and_numbers_of_records_of_any_type_are_the_same(notion, tmp_path):
    """Once the bytes of other types were read as whole numbers of eight bytes, and a number of numpy was not saved."""
    table = np.array([[120, 40], [40, 120]])
    expected = dc.Protocol([[3, 1], [1, 3]], 2, dc.Joint.from_counts(table), notion)
    for kind in (np.int32, np.uint8, np.uint64, np.float32, ">i8", ">f8"):
        counts = table.astype(kind)
        for n in (320, 320.0, np.int64(320), np.float32(320)):
            joint = dc.Joint(table / 320, n=n, counts=counts)
            found = dc.Protocol([[3, 1], [1, 3]], 2, joint, notion)
            assert (found.digest, found.epsilon) == (expected.digest, expected.epsilon)
        assert dc.audit(found).rldp == dc.audit(expected).rldp
    found.save(tmp_path / "p.json")
    assert dc.load_protocol(tmp_path / "p.json").digest == expected.digest


def test_counts_of_a_joint_are_its_own():
    table = np.array([[30, 10], [10, 30]])
    joint = dc.Joint(table / 80, n=80, counts=table)
    table[0, 0] = 1
    assert joint.counts.tolist() == [[30, 10], [10, 30]]


@pytest.mark.parametrize("n", [float("nan"), float("inf"), 80.5, "80", 0, -1, 1e300, HUGE, [80]], ids=range(9))
def test_a_number_of_records_is_whole_or_refused(n):
    for notion in (dc.LIP(5), dc.RLDP(5, dc.ChiSquare(0.95))):
        with pytest.raises(dc.DistributionError, match="n is not a whole number"):
            dc.Protocol([[3, 1], [1, 3]], 2, dc.Joint([[0.4, 0.1], [0.1, 0.4]], n=n), notion)


@pytest.mark.parametrize("name", ["a\0b.csv", "a\0b.json", "\ud800.csv", "\ud800.json"])
def test_a_path_that_is_none_is_refused_in_own_words(name):
    with pytest.raises(dc.DiscreetError, match="cannot be read"):
        dc.audit(name, JOINT)


@pytest.mark.parametrize(
    "joint", [[[0.3, 0.2], [0.2, 0.3]], np.eye(2) / 2, "joint", 5], ids=["list", "array", "text", "number"]
)
def test_an_audit_at_what_is_no_joint_is_refused_in_own_words(joint):
    with pytest.raises(dc.ParameterError, match="is no joint"):
        dc.audit([[0.7, 0.3], [0.3, 0.7]], joint)


@pytest.mark.parametrize(
    "options", [{"secret": 5, "release": "b"}, {"secret": "a", "release": [1]}, {"secret": None, "release": "b"}]
)
def test_a_column_name_that_is_no_text_is_refused_in_own_words(options):
    with pytest.raises(dc.AlphabetError, match="no column name"):
        dc.Joint.from_table(pa.table({"a": ["x", "y"] * 9, "b": ["u", "v", "v"] * 6}), **options)


def test_columns_of_a_frame_that_are_numbered_are_named_as_text():
    frame = pd.DataFrame({0: ["x", "y", "y"] * 9, 1: ["u", "v", "v"] * 9, 2: range(27)})
    joint = dc.Joint.from_table(frame, secret="0", release="1")
    assert joint.counts.tolist() == [[9, 0], [0, 18]]
    released = dc.design(joint, dc.LIP(0.5)).protocol.sanitise(frame, keep=["2"], keep_anyway=True)
    assert sorted(released["2"]) == list(range(27))


@pytest.mark.parametrize("made", [dc.Channel, lambda m: dc.audit(m, JOINT), dc.Joint.from_counts, dc.Joint])
def test_complex_numbers_are_refused(made):
    """Once their real parts were taken."""
    for given in (np.array([[0.7, 0.3], [0.3, 0.7]]) + 1j, sparse.csr_array(np.eye(2) + 0j)):
        with pytest.raises(dc.InputError, match="complex"):
            made(given)
