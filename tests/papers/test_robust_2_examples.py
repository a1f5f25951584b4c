"""Examples 4 and 5 of robust-2 to the printed digits. (Examples 1 and 2: tests/uncertainty; 3: with the solvers.)"""

import math

import numpy as np
import pytest

from discreet.channel import Channel
from discreet.information import utility
from discreet.joint import Joint
from discreet.mechanisms.independent_reporting import distance, paper_ir
from discreet.mechanisms.randomised_response import grr, srr
from discreet.notions.rldp import RLDP
from discreet.uncertainty import ChiSquare

ESTIMATE = Joint.from_counts([[7, 10], [26, 57]], include_secret=True)
TRUTH = Joint([[0.1, 0.1], [0.2, 0.6]], include_secret=True)
EPSILON = math.log(2)


def to_digits(value, printed, digits=4):
    return value == pytest.approx(printed, abs=0.5000001 * 10**-digits)


def test_example_4_matrices():
    np.testing.assert_allclose(grr(ESTIMATE, EPSILON).matrix, np.full((4, 4), 0.2) + 0.2 * np.eye(4))
    expected = np.array([[4, 1, 2, 2], [1, 4, 2, 2], [2, 2, 4, 1], [2, 2, 1, 4]]) / 9
    np.testing.assert_allclose(srr(ESTIMATE, EPSILON).matrix, expected, atol=1e-12)


def test_example_4_utilities():
    assert to_digits(utility(ESTIMATE, grr(ESTIMATE, EPSILON)), 0.0419)
    assert to_digits(utility(ESTIMATE, srr(ESTIMATE, EPSILON)), 0.1005)
    assert to_digits(utility(TRUTH, grr(ESTIMATE, EPSILON)), 0.0412)
    assert to_digits(utility(TRUTH, srr(ESTIMATE, EPSILON)), 0.0942)


def test_example_5():
    """d = 1.4591 is printed, and follows from Theorem 1, though the printed radius 0.6107 gives 1.4184 (errata 3)."""
    assert to_digits(distance(ChiSquare(0.95).around(ESTIMATE)), 1.4591)
    found = paper_ir(ESTIMATE, RLDP(EPSILON, ChiSquare(0.95)))
    assert found.strength == pytest.approx(EPSILON)
    printed = np.array([0.3517, 0.1483, 0.3517, 0.1483])
    assert to_digits(found.channel.matrix[0], printed)
    assert to_digits(utility(ESTIMATE, found.channel), 0.0755)
    assert to_digits(utility(TRUTH, found.channel), 0.0718)


def test_the_printed_digits_can_fail():
    assert not to_digits(utility(ESTIMATE, Channel(np.eye(4))), 0.1005)
    assert not to_digits(0.10056, 0.1005)
