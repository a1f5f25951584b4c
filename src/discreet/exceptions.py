"""Everything discreet raises on purpose.

    DiscreetError
    ├── InputError              what was handed in cannot be used as it is (also a ValueError)
    │   ├── DistributionError   probabilities or counts
    │   ├── AlphabetError       letters, columns, labels
    │   ├── ChannelError        a transition matrix
    │   ├── ParameterError      epsilon, confidence, order, a method's name
    │   └── TableError          a table or a file
    ├── InfeasibleError         no mechanism of the requested kind exists
    ├── UnfinishedError         a computation stopped before it had an answer
    ├── ReleaseError            a release was stopped, nothing was published
    │   ├── EntropyError        no randomness that can be trusted
    │   └── BudgetError         one release more than was declared
    └── ProofError              a guarantee could not be proven, so nothing is released
        └── ProtocolError       a protocol file that is damaged or does not prove what it states

A message says what is wrong, where, and what to do next. It never carries a data value:
messages end up in logs, and logs are read by people who may not see the data.
"""

from __future__ import annotations


class DiscreetError(Exception):
    """Root of the tree. `what` happened, `where`, and the `remedy`."""

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        self.what, self.where, self.remedy = what, where, remedy
        place = f" ({where})" if where else ""
        advice = f" {remedy}" if remedy else ""
        super().__init__(f"{what}{place}.{advice}")


class InputError(DiscreetError, ValueError):
    """What was handed in cannot be used as it is."""


class DistributionError(InputError):
    """Probabilities or counts that are not a distribution."""


class AlphabetError(InputError):
    """Letters or columns that are missing, repeated, or of the wrong number."""


class ChannelError(InputError):
    """A matrix that is not a transition matrix for these letters."""


class ParameterError(InputError):
    """A parameter outside its range, or a name nobody knows."""


class TableError(InputError):
    """A table or a file that cannot be read as one."""


class InfeasibleError(DiscreetError):
    """No mechanism of the requested kind exists."""


class UnfinishedError(DiscreetError):
    """A computation stopped before it had an answer."""


class ReleaseError(DiscreetError):
    """A release was stopped, nothing was published."""


class EntropyError(ReleaseError):
    """No randomness that can be trusted."""


class BudgetError(ReleaseError):
    """One release more than was declared."""


class ProofError(DiscreetError):
    """A guarantee could not be proven, so nothing is released."""


class ProtocolError(ProofError):
    """A protocol file that is damaged, or does not prove what it states."""
