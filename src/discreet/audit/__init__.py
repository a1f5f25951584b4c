"""Audits: what a mechanism from anywhere really guarantees. Nothing here imports a solver."""

from discreet.audit.empirical import LowerBound, lower_bound
from discreet.audit.exact import Audit, audit_channel, realised_level
from discreet.audit.facade import audit
from discreet.audit.matrices import read_matrix
from discreet.audit.samplers import Fit, SamplerAudit, audit_sampler, fit

__all__ = [
    "Audit",
    "Fit",
    "LowerBound",
    "SamplerAudit",
    "audit",
    "audit_channel",
    "audit_sampler",
    "fit",
    "lower_bound",
    "read_matrix",
    "realised_level",
]
