"""Audits: what a mechanism from anywhere really guarantees.

Problem: the level of a protocol, a matrix or a black box under every notion, with its worst case in words.
Theorem: levels of a channel are maxima over outputs and secrets; draws bound a level below (Clopper and Pearson).
Entrance: `audit` for everything, `audit_sampler` for code that randomises records, `read_matrix` for CSV files.
Size: matrices of 10,000 × 1,000 in seconds; samplers by 100,000 draws per letter.
Proves: a sampler's bound with the stated confidence; levels of matrices are floats. Nothing here imports a solver.
"""

from discreet.audit.channel_audit import Audit, audit, audit_channel, audit_strata, realised_level
from discreet.audit.matrix_file import read_matrix
from discreet.audit.sampler_audit import Fit, LowerBound, SamplerAudit, audit_sampler, fit, lower_bound

__all__ = [
    "Audit",
    "Fit",
    "LowerBound",
    "SamplerAudit",
    "audit",
    "audit_channel",
    "audit_sampler",
    "audit_strata",
    "fit",
    "lower_bound",
    "read_matrix",
    "realised_level",
]
