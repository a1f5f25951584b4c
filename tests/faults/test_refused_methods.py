"""A method that does not suit says why, and what is suggested can be followed."""

import pytest

import discreet as dc

JOINT = dc.Joint.from_counts([[30, 10, 5], [5, 20, 40]])


@pytest.mark.parametrize("utility", [dc.Accuracy(), dc.Accuracy(worst=True), dc.Balance(information=0.01)])
def test_accuracy_under_perfect_privacy_is_refused_for_what_it_is(utility) -> None:
    """Once "no such mechanism", which is not true, with a method as the remedy where the method was chosen for you."""
    for options in ({}, {"method": "accuracy"}):
        with pytest.raises(dc.ParameterError, match="without an interior") as error:
            dc.design(JOINT, dc.Perfect(), utility=utility, **options)
        assert error.value.remedy == "Use another utility, or another notion."
    assert dc.design(JOINT, dc.Perfect(), utility=dc.MutualInformation).is_optimal()
    assert dc.design(JOINT, dc.LIP(0.1), utility=utility).utility > 0


def test_a_method_by_name_that_does_not_suit_names_another() -> None:
    with pytest.raises(dc.ParameterError) as error:
        dc.design(JOINT, dc.LIP(0.5), method="accuracy")
    assert "auto" in error.value.remedy


@pytest.mark.parametrize(
    ("counts", "most"),
    [
        ([[2, 2, 1, 0], [1, 1, 1, 2], [1, 2, 1, 1]], 0.50040242),
        ([[1, 2, 2, 2], [0, 2, 3, 2]], 1.0790),
        ([[3, 3, 3], [2, 2, 2]], 1.09861229),
    ],
)
def test_shares_that_are_the_same_but_for_rounding_forbid_nothing(counts, most) -> None:
    """The rounding of a share was a condition of its own: a false bound of 0 was proven, or the search did not end."""
    joint = dc.Joint.from_counts(counts)
    for method in ("vertices", "columns"):
        found = dc.design(joint, dc.Perfect(), utility=dc.MutualInformation, method=method, time_limit=60)
        assert found.utility == pytest.approx(most, abs=1e-4)
        assert found.is_optimal()
        assert dc.audit(found.protocol).lip < 2e-9
    both = dc.design(joint, dc.Perfect() & dc.LIP(0.5), time_limit=60)
    assert both.utility == pytest.approx(most, abs=1e-4)
