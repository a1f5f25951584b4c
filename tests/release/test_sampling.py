from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chi2

from discreet.exceptions import ChannelError, ProofError
from discreet.randomness import Keystream
from discreet.release.sampling import Sampler, _slots, _slots_of_many

DRAWS = 10_000_000
LIMIT = 1e-6


def random_weights(outputs: int, letters: int, bits: int, seed: int = 0) -> NDArray[np.int64]:
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.integers(0, 2**bits, (outputs - 1, letters), endpoint=True), axis=0)
    edges = np.vstack([np.zeros((1, letters), int), cuts, np.full((1, letters), 2**bits)])
    return np.diff(edges, axis=0)


@st.composite
def weights(draw: st.DrawFn) -> NDArray[np.int64]:
    outputs, letters, bits = draw(st.integers(1, 40)), draw(st.integers(1, 5)), draw(st.integers(0, 60))
    made = random_weights(outputs, letters, bits, draw(st.integers(0, 2**32)))
    return made[:, draw(st.permutations(range(letters)))]


@given(weights())
@settings(max_examples=200, deadline=None)
def test_the_table_holds_exactly_the_weights(given_weights: NDArray[np.int64]) -> None:
    for compressed in (False, True):
        assert np.array_equal(Sampler(given_weights, compressed).law().toarray(), given_weights)


@given(weights())
@settings(max_examples=50, deadline=None)
def test_slots_are_full_and_nothing_is_lost(given_weights: NDArray[np.int64]) -> None:
    """The same law counted from the slots in plain integers, without the packed table."""
    sampler = Sampler(given_weights)
    bits = max(sampler.bits, int(sampler.slot_bits[0]))
    capacity = 1 << (bits - int(sampler.slot_bits[0]))
    for z in range(given_weights.shape[1]):
        scaled = [int(w) << (bits - sampler.bits) for w in given_weights[:, z]]
        scaled += [0] * ((1 << int(sampler.slot_bits[0])) - len(scaled))
        law = [0] * len(scaled)
        for threshold, first, second in _slots(scaled, capacity):
            assert 1 <= threshold <= capacity
            law[first] += threshold
            law[second] += capacity - threshold
        assert law == scaled


@given(weights())
@settings(max_examples=100, deadline=None)
def test_slots_of_many_letters_are_those_of_each(given_weights: NDArray[np.int64]) -> None:
    """Filled together or one by one: draws do not depend on how many letters there are."""
    size = max(1, (len(given_weights) - 1).bit_length())
    bits = int(given_weights[:, 0].sum()).bit_length() - 1
    scaled = np.zeros((given_weights.shape[1], 1 << size), np.int64)
    scaled[:, : len(given_weights)] = given_weights.T << max(size - bits, 0)
    capacity = 1 << (max(bits, size) - size)
    together = np.stack(_slots_of_many(scaled, capacity), axis=2)
    assert together.tolist() == [[list(slot) for slot in _slots(one, capacity)] for one in scaled.tolist()]


@pytest.mark.parametrize("compressed", [False, True])
def test_many_letters_are_drawn_as_few(compressed: bool) -> None:
    few, words = random_weights(6, 5, 40), Keystream.testing().words(2000)
    many = Sampler(np.tile(few, 20), compressed)
    codes = np.random.default_rng(0).integers(0, 5, 2000)
    assert np.array_equal(Sampler(few, compressed).draw(codes, words), many.draw(codes + 5 * (codes % 20), words))


@pytest.mark.parametrize("compressed", [False, True])
def test_every_word_decides_as_the_law_says(compressed: bool) -> None:
    """With 12 bits all words that matter can be tried: each output comes up exactly as often as its weight."""
    given_weights = random_weights(5, 3, 12)
    given_weights[:, 1] = [0, 2**11, 0, 0, 2**11]  # fewer slots than the others when compressed
    words = np.arange(2**12, dtype=np.uint64) << np.uint64(52)
    edges = np.concatenate([words, words + np.uint64(2**52 - 1)])
    for z in range(3):
        drawn = Sampler(given_weights, compressed).draw(np.full(len(edges), z, np.uint8), edges)
        assert np.array_equal(np.bincount(drawn, minlength=5), 2 * given_weights[:, z])


def p_value(sampler: Sampler, expected: NDArray[np.int64], z: int) -> float:
    """Pearson's chi-square of the draws for one letter against the expected weights."""
    drawn = sampler.sample(np.full(DRAWS, z, np.uint8), Keystream.fresh())
    counts = np.bincount(drawn, minlength=len(expected))
    mean = expected[:, z] / expected[:, z].sum() * DRAWS
    assert not counts[mean == 0].any()
    used = mean > 0
    return float(chi2.sf(((counts[used] - mean[used]) ** 2 / mean[used]).sum(), used.sum() - 1))


def test_released_frequencies_at_ten_million_draws_a_letter() -> None:
    """Sixteen letters at 1e-6 each, so a sound sampler fails once in 60,000 runs; two swapped weights always fail."""
    expected = random_weights(16, 16, 52, seed=3)
    sampler = Sampler(expected)
    assert min(p_value(sampler, expected, z) for z in range(16)) > LIMIT


@pytest.mark.parametrize("letter", [0, 7])
def test_two_neighbouring_weights_swapped_are_caught(letter: int) -> None:
    """The swap is the mildest that moves at least a thousandth of the mass."""
    expected = random_weights(16, 16, 52, seed=3)
    gaps = np.abs(np.diff(expected[:, letter])) / 2**52
    y = int(np.argmin(np.where(gaps >= 1e-3, gaps, 1)))
    swapped = expected.copy()
    swapped[[y, y + 1], letter] = expected[[y + 1, y], letter]
    assert p_value(Sampler(swapped), expected, letter) < LIMIT
    assert p_value(Sampler(swapped), expected, letter + 1) > LIMIT


def test_a_wrong_table_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.release.sampling._slots", lambda w, c: [(c, j, j) for j in range(len(w))])
    with pytest.raises(ProofError, match="does not reproduce"):
        Sampler(random_weights(4, 2, 20))


@pytest.mark.parametrize(
    "wrong",
    [
        np.array([[1, 2], [1, 2]]),
        np.array([[3], [2]]),
        np.array([[-1], [5]]),
        np.zeros((2, 2)),
        np.zeros((0, 2)),
        np.array([1, 1]),
        np.array([[2**62], [2**62]]),
    ],
)
def test_weights_that_are_no_law_are_refused(wrong: NDArray[np.int64]) -> None:
    with pytest.raises(ChannelError):
        Sampler(wrong)


def test_a_code_without_a_letter_is_refused() -> None:
    with pytest.raises(ChannelError, match="without a letter"):
        Sampler(random_weights(4, 2, 20)).sample(np.array([0, 2], np.uint8), Keystream.fresh())
