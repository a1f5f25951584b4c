"""What a public file tells about the table, in sentences that stand in the file itself."""

from __future__ import annotations

from typing import Final, Literal

from discreet.attribute import Form
from discreet.joint import Joint

Prior = Literal["exact", "weighted", "noisy"]
"""What the laws are: the shares of the records that were counted, of their weights, or of counts with noise."""
CHOSEN: Final = {
    "data": "The weights were chosen from the counts of the released table, secret and released columns together: they "
    "are themselves a statement about these counts.",
    "public": "The weights were chosen from the counts of a public sample.",
    "given": "The weights were chosen for a distribution that somebody stated.",
}
LAWS: Final[dict[Prior, str]] = {
    "exact": "law: the shares of the input values in what was counted, and of the outputs, exact to the last digit.",
    "weighted": "law: the weighted shares of the input values in what was counted, and of the outputs, exact to the "
    "last digit.",
    "noisy": "law: the shares of the input values in counts with noise, and of the outputs: those of the table differ.",
}
NOISY: Final = (
    "The weights were chosen from counts of the released table with noise, which are all that entered: what they tell "
    "about one record is bounded."
)
NO_LAW: Final = "No law and no posterior is stated: the input values contain the secret."
AVERAGED: Final = (
    "The mechanism reads the secret as well. The weights are its average over the secret as it was counted, the sum of "
    "P(s|x) Q(y|s,x): a statistic of the counts, which for a value that few records have comes close to what is drawn "
    "from for their own secrets. The mechanism itself is in the full protocol file only."
)
GROUPED: Final = "Values of the secret were grouped: what is in one group is not hidden from each other."
RECORDS: Final = (
    "records: how many were counted; with the law that is how many of them have each value. The manifest of a release "
    "states its number of records as well."
)
HASHED: Final = (
    "protocol: the SHA-256 of the full file. Whoever knows all of its counts but a few can test a guess of these "
    "against it."
)


def prior_of(joint: Joint) -> Prior:
    """Whether the law of a joint is that of the records themselves."""
    return "noisy" if joint.noise is not None else "weighted" if joint.weight else "exact"


def revealed(joint: Joint, source: str, *, counted: bool = False) -> tuple[str, ...]:
    """The sentences for a protocol with this prior; `counted` where the number of records is stated beside the law."""
    prior = prior_of(joint)
    grouped = joint.form is not Form.RELEASES_SECRET and any(one.grouping for one in joint.secrets)
    chosen = NOISY if prior == "noisy" else CHOSEN[source]
    said = [chosen, NO_LAW if joint.form is Form.RELEASES_SECRET else LAWS[prior]]
    said += [RECORDS] if counted else []
    said += [AVERAGED] if joint.form is Form.CURATOR else []
    return (*said, *([GROUPED] if grouped else []), HASHED)
