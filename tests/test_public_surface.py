"""The names people may import, and nothing else by accident."""

import discreet


def test_all_is_sorted_and_real():
    assert sorted(discreet.__all__, key=lambda n: (not n.isupper(), not n[0].isupper(), n)) == discreet.__all__
    assert all(hasattr(discreet, name) for name in discreet.__all__)


def test_settled_names_are_there():
    settled = {
        *("Joint", "Channel", "Protocol", "Design", "design", "plan", "audit", "estimate"),
        *("LDP", "LIP", "SRLIP", "RLDP", "OrdinaryLDP", "ChiSquare", "Renyi", "Everything", "Exactly"),
        *("MutualInformation", "ChiSquareInformation", "CorrectGuess"),
    }
    assert settled <= set(discreet.__all__)
