"""Every registered notion and set is complete, what is missing is named, and strangers are refused everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from conformance import BITS, JOINT, MILD, missing, missing_from_set

from discreet.audit import audit
from discreet.certify import PROVERS, level_upper_bound, prove, round_columns
from discreet.certify.ratio_proofs import RatioProver, ldp
from discreet.channel import Channel
from discreet.exceptions import DiscreetError, ParameterError
from discreet.joint import Joint
from discreet.notions import LDP, LIP, NOTIONS, RLDP, Cone, Level, Notion, Words, registered, words_of
from discreet.protocol import Protocol
from discreet.protocol.document import decode_notion, encode_notion
from discreet.protocol.schema import written
from discreet.report.mathml import formulae
from discreet.uncertainty import SETS, ChiSquare, RenyiBall, SetWords, Uncertainty, registered_set
from discreet.wording import guarantee, notion_name


@pytest.fixture
def registries() -> Iterator[None]:
    """What a test registers is forgotten after it."""
    kept = [(registry, dict(registry)) for registry in (NOTIONS, SETS, PROVERS)]
    yield
    for registry, content in kept:
        registry.clear()  # type: ignore[attr-defined]
        registry.update(content)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", NOTIONS)
def test_nothing_is_missing(name: str) -> None:
    assert missing(NOTIONS[name]) == []


@pytest.mark.parametrize("name", SETS)
def test_nothing_is_missing_from_a_set(name: str) -> None:
    assert missing_from_set(SETS[name]) == []


def test_names_in_files_are_those_of_the_first_release() -> None:
    """Files and digests of old carry them."""
    assert list(NOTIONS)[:5] == ["LDP", "LIP", "SRLIP", "OrdinaryLDP", "RLDP"]
    assert list(SETS)[:4] == ["ChiSquare", "Renyi", "Everything", "Exactly"]
    assert {"ldp", "lip", "srlip", "rldp"} <= {kind.words.command for kind in NOTIONS.values()}


# ---- what is not finished is named -----------------------------------------------------------------------------------


def of(name: str, **changed: Any) -> Words:
    return replace(LDP.words, name=name, command=name.lower(), title=f"the title of {name}", **changed)


@pytest.mark.usefixtures("registries")
def test_what_is_missing_is_named() -> None:
    @registered
    @dataclass(frozen=True)
    class Half(Notion):
        """The cone of LDP, and nothing else that is right."""

        epsilon: float
        words = of("Half", formula="P(y|s", symbol="")

        def cone(self, joint: Joint) -> Cone:
            return LDP(self.epsilon).cone(joint)

        def level(self, channel: Channel, joint: Joint) -> Level:
            return LIP(self.epsilon).level(channel, joint)

    said = "\n".join(missing(Half))
    for lacking in (
        "every word",
        "cone that agrees",
        "prover",
        "a file",
        "schema",
        "audited",
        "promise",
        "formula",
        "page",
    ):
        assert lacking in said
    assert "command line" not in said


@pytest.mark.usefixtures("registries")
def test_a_prover_that_proves_too_much_is_named() -> None:
    def flattered(weights: Any, joint: Joint) -> Any:
        found = ldp(weights, joint)
        return replace(found, upper=np.array([bound * 9 // 10 for bound in found.upper], dtype=object))

    PROVERS[LDP] = RatioProver(flattered)
    assert any("prover that agrees" in fault for fault in missing(LDP))


@pytest.mark.usefixtures("registries")
def test_a_set_without_a_proof_is_named() -> None:
    @registered_set
    @dataclass(frozen=True)
    class Guess(Uncertainty):
        words = SetWords("Guess", lambda _: "This is a guess.")

        def around(self, joint: Joint) -> RenyiBall:
            return ChiSquare(0.5).around(joint)

    said = "\n".join(missing_from_set(Guess))
    assert "prover for RLDP" in said
    assert "no proof is known for RLDP over Guess" in said
    assert "extremes" not in said


@pytest.mark.usefixtures("registries")
def test_two_notions_of_one_name_are_refused() -> None:
    class Second(LDP):
        words = of("LDP")

    class Third(LDP):
        words = replace(LDP.words, name="Third")

    for kind in (Second, Third):
        with pytest.raises(ParameterError, match="two notions"):
            registered(kind)
    with pytest.raises(ParameterError, match="two sets"):
        registered_set(type("Other", (ChiSquare,), {}))


# ---- strangers -------------------------------------------------------------------------------------------------------


class Stranger(LDP):
    """Not registered; that it is a subclass of LDP must not lend it the proof or the promise of LDP."""


class StrangeSet(ChiSquare):
    """Not registered either."""


WEIGHTS = round_columns(MILD.matrix, BITS)


def disguised(notion: Notion) -> Protocol:
    """A protocol that was proven for LDP and then changed behind everybody's back."""
    protocol = Protocol.make(MILD, JOINT, LDP(1.0))
    object.__setattr__(protocol, "notion", notion)
    return protocol


@pytest.mark.parametrize("notion", [Stranger(1.0), RLDP(1.0, StrangeSet(0.9))], ids=["notion", "set"])
def test_an_unknown_type_is_refused_everywhere(notion: Notion) -> None:
    places = {
        "proof": lambda: prove(WEIGHTS, BITS, JOINT, notion),
        "proven level": lambda: level_upper_bound(WEIGHTS, BITS, JOINT, notion),
        "protocol": lambda: Protocol.make(MILD, JOINT, notion),
        "file": lambda: encode_notion(notion),
        "promise": lambda: guarantee(disguised(notion)),
    }
    if isinstance(notion, Stranger):
        places |= {
            "words": lambda: words_of(notion),
            "title": lambda: notion_name(notion),
            "formulae": lambda: formulae(notion),
            "repr": lambda: repr(disguised(notion)),
        }
    for place, attempt in places.items():
        with pytest.raises(DiscreetError):
            pytest.fail(f"{place}: {attempt()!r}")


@pytest.mark.parametrize(
    "given", [{"name": "Stranger", "epsilon": 1.0}, {"name": "Notion"}, {"name": "LDP"}, "LDP", None]
)
def test_an_unknown_name_in_a_file_is_refused(given: Any) -> None:
    with pytest.raises(DiscreetError):
        decode_notion(given)


# ---- room for what comes ---------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("registries")
def test_a_notion_with_two_numbers_and_no_epsilon() -> None:
    """e^−down ≤ P(y|s)/P(y) ≤ e^up. Its level scales both, the larger being what is called epsilon."""

    @registered
    @dataclass(frozen=True)
    class Uneven(Notion):
        down: float
        up: float
        words = replace(
            of("Uneven", formula="e^{−d} ≤ P(y|s)/P(y) ≤ e^u"),
            promise=lambda notion, joint, level: (
                f"At most {level * notion.up:.3f} up and {level * notion.down:.3f} down."
            ),
        )

        def __post_init__(self) -> None:
            if not (self.down > 0 and self.up > 0):
                raise ParameterError("not positive")

        @property
        def epsilon(self) -> float:
            return max(self.down, self.up)

        def at(self, epsilon: float) -> Uneven:
            return Uneven(self.down * epsilon / self.epsilon, self.up * epsilon / self.epsilon)

        @classmethod
        def asked(cls, epsilon: float, confidence: float) -> Uneven:
            return cls(epsilon / 2, epsilon)

        def cone(self, joint: Joint) -> Cone:
            p, q = joint.letter_given_secret, joint.prior
            return Cone(np.vstack([p - np.exp(self.up) * q, np.exp(-self.down) * q - p]))

        def level(self, channel: Channel, joint: Joint) -> Level:
            ratio = np.log(channel.matrix @ joint.letter_given_secret.T) - np.log(channel.matrix @ joint.prior)[:, None]
            y, s = np.unravel_index(int(np.maximum(ratio / self.up, -ratio / self.down).argmax()), ratio.shape)
            worst = max(ratio[y, s] / self.up, -ratio[y, s] / self.down) * self.epsilon
            witness = LIP(1.0).level(channel, joint).witness
            return Level(float(max(worst, 0.0)), witness)

    weaker = Uneven(0.4, 0.8)
    assert words_of(weaker).name == "Uneven"
    assert decode_notion(encode_notion(weaker)) == weaker
    assert encode_notion(weaker) == {"name": "Uneven", "down": 0.4, "up": 0.8}
    assert '"required": ["name", "down", "up"]' in written()
    assert audit(MILD, JOINT).levels["Uneven"].epsilon > 0
    said = "\n".join(missing(Uneven))
    assert "prover" in said
    assert not any(word in said for word in ("cone", "another level", "command line"))
