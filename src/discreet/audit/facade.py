"""`audit`: one entrance for protocols, matrices, files and samplers."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, overload

from numpy.typing import ArrayLike

from discreet.audit.exact import Audit, audit_channel
from discreet.audit.matrices import read_matrix
from discreet.audit.samplers import SamplerAudit, audit_sampler
from discreet.channel import Channel
from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.notions.rldp import RLDP
from discreet.protocol import Protocol
from discreet.uncertainty import Uncertainty


@overload
def audit(
    mechanism: Protocol | Channel | ArrayLike | str | os.PathLike[str],
    joint: Joint | None = None,
    uncertainty: Uncertainty | None = None,
) -> Audit: ...


@overload
def audit(
    mechanism: Callable[..., Any], joint: Joint | None = None, uncertainty: Uncertainty | None = None
) -> SamplerAudit: ...


def audit(mechanism: Any, joint: Joint | None = None, uncertainty: Uncertainty | None = None) -> Audit | SamplerAudit:
    """What a mechanism guarantees at `joint`.

    A protocol, or the path of its file, brings its own joint; another one gives the levels it has there (ε* of robust-2
    section 8.3 is `.ldp`). A channel, a matrix Q[y, x] or the path of a CSV need one. A callable that turns a list of
    input letters into a list of outputs is sampled: the result is a lower bound, for more see `audit_sampler`.
    """
    if isinstance(mechanism, str | os.PathLike):
        path = Path(mechanism)
        mechanism = Protocol.load(path) if path.suffix.lower() == ".json" else read_matrix(path)
    if isinstance(mechanism, Protocol):
        if uncertainty is None and isinstance(mechanism.notion, RLDP):
            uncertainty = mechanism.notion.uncertainty
        return audit_channel(mechanism.channel, joint or mechanism.joint, uncertainty, mechanism.epsilon)
    if joint is None:
        raise ParameterError("a mechanism without a joint", where="joint", remedy="Give the joint P(S, X) to audit at.")
    if callable(mechanism):
        return audit_sampler(mechanism, joint)
    return audit_channel(mechanism if isinstance(mechanism, Channel) else Channel(mechanism), joint, uncertainty)
