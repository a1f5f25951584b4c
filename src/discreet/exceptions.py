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

A message says what is wrong, where, and what to do next. It never carries a data value: messages end up in logs, and
logs are read by people who may not see the data. Other libraries are not so careful, so what they raise is replaced by
`InOwnWords`, and nothing of it is kept. Names that come from a file are written with `visible`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from contextlib import AbstractContextManager, ContextDecorator
from types import TracebackType

UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode categories of what acts on a text without being seen in it."""
JOINERS = "\u200c\u200d"
"""Unseen as well, but part of how Persian, Hindi and emoji are written."""


def visible(text: str) -> str:
    """The text with its control characters, marks of direction and line ends as escapes: \\x07, \\u202e."""
    return "".join(_escaped(sign) if unseen(sign) else sign for sign in text)


def unseen(sign: str) -> bool:
    return unicodedata.category(sign) in UNSEEN and sign not in JOINERS


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape").decode("ascii")


class DiscreetError(Exception):
    """Root of the tree. `what` happened, `where`, and the `remedy`.

    Example:
        >>> import discreet as dc
        >>> try:
        ...     dc.LIP(-1)
        ... except dc.DiscreetError as error:
        ...     print(error.what, "|", error.where, "|", error.remedy)
        epsilon is not a positive number | epsilon | Try 1.0; smaller hides more.
    """

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        self.what, self.where, self.remedy = visible(what), visible(where), visible(remedy)
        place = f" ({self.where})" if where else ""
        advice = f" {self.remedy}" if remedy else ""
        super().__init__(f"{self.what}{place}.{advice}")


class InputError(DiscreetError, ValueError):
    """What was handed in cannot be used as it is.

    Example:
        >>> import discreet as dc
        >>> issubclass(dc.InputError, ValueError)
        True
    """


class DistributionError(InputError):
    """Probabilities or counts that are not a distribution.

    Example:
        >>> import discreet as dc
        >>> try:
        ...     dc.Joint([[0.5, 0.1], [0.1, 0.5]])
        ... except dc.DistributionError as error:
        ...     print(error.remedy)
        Divide by their sum, or use Joint.from_counts.
    """


class AlphabetError(InputError):
    """Letters or columns that are missing, repeated, or of the wrong number.

    Example:
        >>> import discreet as dc
        >>> dc.Attribute("colour", ("red", "red"))
        Traceback (most recent call last):
        ...
        discreet.exceptions.AlphabetError: 1 letters occur twice (colour). Give every letter a name of its own.
    """


class ChannelError(InputError):
    """A matrix that is not a transition matrix for these letters.

    Example:
        >>> import discreet as dc
        >>> dc.Channel([[0.5, 0.5], [0.5, 0.4]])
        Traceback (most recent call last):
        ...
        discreet.exceptions.ChannelError: column 1 does not add up to one. Q[y, x]: one column per letter.
    """


class ParameterError(InputError):
    """A parameter outside its range, or a name nobody knows.

    Example:
        >>> import discreet as dc
        >>> dc.Shift(2)
        Traceback (most recent call last):
        ...
        discreet.exceptions.ParameterError: a shift outside (0, 1] (Shift). Try 0.1: ten percentage points.
    """


class TableError(InputError):
    """A table or a file that cannot be read as one.

    Example:
        >>> import discreet as dc
        >>> try:
        ...     dc.look("nowhere.csv")
        ... except dc.TableError as error:
        ...     print(error.where)
        nowhere.csv
    """


class InfeasibleError(DiscreetError):
    """No mechanism of the requested kind exists.

    Example:
        >>> import discreet as dc
        >>> try:
        ...     dc.design(dc.Joint.from_counts([[90, 10], [10, 10]]), dc.Guess(0.5))
        ... except dc.InfeasibleError as error:
        ...     print(error.what)
        the commonest secret is guessed more often than that without any release
    """


class UnfinishedError(DiscreetError):
    """A computation stopped before it had an answer.

    Example:
        >>> import discreet as dc
        >>> issubclass(dc.UnfinishedError, dc.InputError)  # the request was fine; more time, or another method, may do
        False
    """


class ReleaseError(DiscreetError):
    """A release was stopped, nothing was published.

    Example:
        >>> import discreet as dc
        >>> from pathlib import Path
        >>> from discreet.release import Job, sanitise_file
        >>> try:
        ...     sanitise_file(Job(Path("protocol.json"), "table.csv", "."))
        ... except dc.ReleaseError as error:
        ...     print(error.what)
        the output is a folder
    """


class EntropyError(ReleaseError):
    """No randomness that can be trusted.

    Example:
        >>> import discreet as dc
        >>> issubclass(dc.EntropyError, dc.ReleaseError)  # whoever handles a release that stopped handles this
        True
    """


class BudgetError(ReleaseError):
    """One release more than was declared.

    Example:
        >>> import discreet as dc
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> import pyarrow as pa
        >>> joint = dc.Joint.from_counts([[300, 100], [100, 300]], releases=[dc.Attribute("x", ("a", "b"))])
        >>> protocol, table = dc.design(joint, dc.LIP(0.5)).protocol, pa.table({"x": ["a", "b"] * 50})
        >>> with TemporaryDirectory() as folder:
        ...     try:
        ...         protocol.sanitise(table, ledger=Path(folder, "ledger.json"), budget=0.1)
        ...     except dc.BudgetError:
        ...         print("refused")
        refused
    """


class ProofError(DiscreetError):
    """A guarantee could not be proven, so nothing is released.

    Example:
        >>> import discreet as dc
        >>> try:
        ...     dc.Protocol([[3, 1], [1, 3]], 2, dc.Joint.from_counts([[3, 1], [1, 3]]), dc.LDP(0.01), epsilon=0.01)
        ... except dc.ProofError:
        ...     print("no such protocol")
        no such protocol
    """


class ProtocolError(ProofError):
    """A protocol file that is damaged, or does not prove what it states.

    Example:
        >>> import discreet as dc
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "protocol.json")
        ...     _ = path.write_text("{}")
        ...     try:
        ...         dc.load_protocol(path)
        ...     except dc.ProtocolError:
        ...         print("not a protocol")
        not a protocol
    """


class InOwnWords(AbstractContextManager[None], ContextDecorator):
    """Whatever others raise inside becomes the error that `make` makes of it, which keeps nothing of theirs.

    `raise … from None` hides the first error and keeps it, with the values in its message and attributes, where logs
    and debuggers find it. Errors of ours pass, and lose what they keep of others.
    """

    def __init__(self, make: Callable[[Exception], DiscreetError], *kinds: type[Exception]) -> None:
        self._make, self._kinds = make, kinds or (Exception,)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, DiscreetError):
            _forget(error)
            return
        if not isinstance(error, self._kinds) or isinstance(error, MemoryError):
            return
        ours = self._make(error)
        del error, trace
        try:
            raise ours
        except DiscreetError:
            ours.__context__ = None
            raise


def _forget(error: DiscreetError) -> None:
    """Cut the chain of errors where it leaves our own."""
    for name in ("__context__", "__cause__"):
        earlier = getattr(error, name)
        if isinstance(earlier, DiscreetError):
            _forget(earlier)
        else:
            setattr(error, name, None)
