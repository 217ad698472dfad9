"""The one tree of errors.

Every error carries one sentence that names what was expected, the name of the thing, and the value
that was found.  The command line prints that sentence and exits with `exit_code`; nothing else in
the package decides exit codes for failures.
"""

from __future__ import annotations

from collections.abc import Sequence


class TcformalError(Exception):
    """Base of all errors raised on purpose; its text is one sentence meant for a person."""

    exit_code = 2


class InputError(TcformalError):
    """The caller asked for something that does not exist or does not fit."""


class WidthError(InputError):
    """A bit-vector was built with widths or constants that the operator table forbids."""


class UnknownNameError(InputError):
    """A unit, format, design parameter or solver name is not known; close matches are named."""


class ValueTextError(InputError):
    """A value as a person wrote it is not readable, or the format cannot hold it."""


class MissingSolverError(InputError):
    """A solver was asked for by name and its package is not installed."""


class InvariantError(TcformalError):
    """A definition relies on something that is not so: an error of the package, not of its caller."""

    exit_code = 3


class NoAnswerError(TcformalError):
    """No answer was reached: time, memory, or every solver gave up."""

    exit_code = 3


class SolverDisagreementError(TcformalError):
    """Two deciders gave answers that cannot both be right, or a witness did not replay."""

    exit_code = 3


class CertificateError(TcformalError):
    """A certificate does not prove its statement."""

    exit_code = 1


class RecordError(TcformalError):
    """A stored record is not what it should be, or a file of records cannot be read or written."""


class DeviceError(TcformalError):
    """A device cannot run what was asked, or what it gave cannot be results."""

    exit_code = 3

    def __init__(self, sentence: str, answered: Sequence[int] = ()) -> None:
        super().__init__(sentence)
        #: Raw encodings of the results that came before the failure, in order.
        self.answered = tuple(answered)
