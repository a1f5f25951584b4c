"""discreet: released records say as much as possible about what may be known, provably little about a secret.

Public names are imported when they are first used (PEP 562), so that `import discreet` and `discreet --help` are quick.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.attribute import Attribute
    from discreet.audit.channel_audit import audit
    from discreet.channel import Channel
    from discreet.design import Design, StratifiedDesign, design
    from discreet.estimate.estimation import estimate
    from discreet.exceptions import (
        AlphabetError,
        BudgetError,
        ChannelError,
        DiscreetError,
        DistributionError,
        EntropyError,
        InfeasibleError,
        InputError,
        ParameterError,
        ProofError,
        ProtocolError,
        ReleaseError,
        TableError,
        UnfinishedError,
    )
    from discreet.given_columns import StratifiedJoint
    from discreet.joint import Joint
    from discreet.look.findings import Look
    from discreet.look.table_look import look
    from discreet.notions.alip import ALIP
    from discreet.notions.funnel import Funnel
    from discreet.notions.guess import Guess
    from discreet.notions.ldp import LDP
    from discreet.notions.lip import LIP
    from discreet.notions.maximal_leakage import MaximalLeakage
    from discreet.notions.ordinary_ldp import OrdinaryLDP
    from discreet.notions.perfect import Perfect
    from discreet.notions.pml import PML
    from discreet.notions.rldp import RLDP
    from discreet.notions.rlip import RLIP
    from discreet.notions.shift import Shift
    from discreet.notions.srlip import SRLIP
    from discreet.protocol.protocol import Protocol
    from discreet.protocol.public import PublicProtocol, StratifiedPublic
    from discreet.protocol.strata import StratifiedProtocol, load_protocol
    from discreet.records.grouping import Grouping
    from discreet.records.noise import Noise
    from discreet.release.check import Check
    from discreet.solvers.funnel_curve import FunnelCurve, funnel_curve
    from discreet.solvers.methods import plan
    from discreet.uncertainty.confidence import Confidence
    from discreet.uncertainty.sets import ChiSquare, Everything, Exactly, Renyi
    from discreet.utilities.accuracy import Accuracy, Balance
    from discreet.utilities.agreement import Agreement
    from discreet.utilities.task import Task
    from discreet.utilities.utility import ChiSquareInformation, CorrectGuess, MutualInformation

__all__ = [
    "ALIP",
    "LDP",
    "LIP",
    "PML",
    "RLDP",
    "RLIP",
    "SRLIP",
    "Accuracy",
    "Agreement",
    "AlphabetError",
    "Attribute",
    "Balance",
    "BudgetError",
    "Channel",
    "ChannelError",
    "Check",
    "ChiSquare",
    "ChiSquareInformation",
    "Confidence",
    "CorrectGuess",
    "Design",
    "DiscreetError",
    "DistributionError",
    "EntropyError",
    "Everything",
    "Exactly",
    "Funnel",
    "FunnelCurve",
    "Grouping",
    "Guess",
    "InfeasibleError",
    "InputError",
    "Joint",
    "Look",
    "MaximalLeakage",
    "MutualInformation",
    "Noise",
    "OrdinaryLDP",
    "ParameterError",
    "Perfect",
    "ProofError",
    "Protocol",
    "ProtocolError",
    "PublicProtocol",
    "ReleaseError",
    "Renyi",
    "Shift",
    "StratifiedDesign",
    "StratifiedJoint",
    "StratifiedProtocol",
    "StratifiedPublic",
    "TableError",
    "Task",
    "UnfinishedError",
    "audit",
    "design",
    "estimate",
    "funnel_curve",
    "load_protocol",
    "look",
    "plan",
]

_HOMES = {
    "audit.channel_audit": "audit",
    "channel": "Channel",
    "design": "Design StratifiedDesign design",
    "estimate.estimation": "estimate",
    "exceptions": "AlphabetError BudgetError ChannelError DiscreetError DistributionError EntropyError InfeasibleError "
    "InputError ParameterError ProofError ProtocolError ReleaseError TableError UnfinishedError",
    "given_columns": "StratifiedJoint",
    "attribute": "Attribute",
    "joint": "Joint",
    "look.findings": "Look",
    "look.table_look": "look",
    "notions.alip": "ALIP",
    "notions.funnel": "Funnel",
    "notions.guess": "Guess",
    "notions.ldp": "LDP",
    "notions.lip": "LIP",
    "notions.maximal_leakage": "MaximalLeakage",
    "notions.ordinary_ldp": "OrdinaryLDP",
    "notions.perfect": "Perfect",
    "notions.pml": "PML",
    "notions.rldp": "RLDP",
    "notions.rlip": "RLIP",
    "notions.shift": "Shift",
    "notions.srlip": "SRLIP",
    "protocol.protocol": "Protocol",
    "protocol.public": "PublicProtocol StratifiedPublic",
    "protocol.strata": "StratifiedProtocol load_protocol",
    "records.grouping": "Grouping",
    "records.noise": "Noise",
    "release.check": "Check",
    "solvers.funnel_curve": "FunnelCurve funnel_curve",
    "solvers.methods": "plan",
    "uncertainty.confidence": "Confidence",
    "uncertainty.sets": "ChiSquare Everything Exactly Renyi",
    "utilities.accuracy": "Accuracy Balance",
    "utilities.agreement": "Agreement",
    "utilities.task": "Task",
    "utilities.utility": "ChiSquareInformation CorrectGuess MutualInformation",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    value = getattr(import_module(f"discreet.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """`discreet.design` is the function, whoever imports the module of that name; likewise `audit` and `estimate`."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
