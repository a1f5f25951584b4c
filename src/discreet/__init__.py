"""discreet: released records say as much as possible about what may be known, provably little about a secret."""

from discreet.alphabet import Attribute
from discreet.audit import audit
from discreet.channel import Channel
from discreet.design import Design, design
from discreet.estimate import estimate
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
from discreet.joint import Joint
from discreet.notions import LDP, LIP, SRLIP, OrdinaryLDP
from discreet.notions.rldp import RLDP
from discreet.protocol import Protocol
from discreet.solvers.plan import plan
from discreet.uncertainty import ChiSquare, Everything, Exactly, Renyi
from discreet.utilities import ChiSquareInformation, CorrectGuess, MutualInformation

__all__ = [
    "LDP",
    "LIP",
    "RLDP",
    "SRLIP",
    "AlphabetError",
    "Attribute",
    "BudgetError",
    "Channel",
    "ChannelError",
    "ChiSquare",
    "ChiSquareInformation",
    "CorrectGuess",
    "Design",
    "DiscreetError",
    "DistributionError",
    "EntropyError",
    "Everything",
    "Exactly",
    "InfeasibleError",
    "InputError",
    "Joint",
    "MutualInformation",
    "OrdinaryLDP",
    "ParameterError",
    "ProofError",
    "Protocol",
    "ProtocolError",
    "ReleaseError",
    "Renyi",
    "TableError",
    "UnfinishedError",
    "audit",
    "design",
    "estimate",
    "plan",
]
