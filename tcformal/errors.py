"""The one tree of errors.

Every error carries one sentence that names what was expected, the name of the thing, and the value
that was found.  The command line prints that sentence and exits with `exit_code`; nothing else in
the package decides exit codes for failures.
"""

from __future__ import annotations

from collections.abc import Sequence


class TcformalError(Exception):
    """Base of all errors raised on purpose; its text is one sentence meant for a person.

    Examples:
        >>> try:
        ...     tcformal.unit("ampere/mma.m16n8k9")
        ... except tcformal.TcformalError as error:
        ...     type(error).__name__, error.exit_code
        ('UnknownNameError', 2)
    """

    exit_code = 2


class InputError(TcformalError):
    """The caller asked for something that does not exist or does not fit.

    Examples:
        >>> tcformal.Limits(time_s=0)
        Traceback (most recent call last):
            ...
        tcformal.errors.InputError: expected a number above zero for time_s, but got 0
    """


class WidthError(InputError):
    """A bit-vector was built with widths or constants that the operator table forbids.

    Examples:
        >>> from tcformal.ir.build import Graph
        >>> Graph().const(4, 2)
        Traceback (most recent call last):
            ...
        tcformal.errors.WidthError: expected a constant in [0, 2^2), but got 4
    """


class UnknownNameError(InputError):
    """A unit, format, design parameter or solver name is not known; close matches are named.

    Examples:
        >>> tcformal.units(arch="amper")
        Traceback (most recent call last):
            ...
        tcformal.errors.UnknownNameError: expected a known architecture, but got 'amper': the closest
        are ampere, hopper, spr
    """


class ValueTextError(InputError):
    """A value as a person wrote it is not readable, or the format cannot hold it.

    Examples:
        >>> tcformal.explain("valpey@terms=2", ["0.1"], [0], 0)
        Traceback (most recent call last):
            ...
        tcformal.errors.ValueTextError: expected a value that fp16 holds exactly, but got 0.1: its
        neighbours are 819*2^-13 and 1639*2^-14
    """


class MissingSolverError(InputError):
    """A solver was asked for by name and its package is not installed.

    Examples:
        >>> issubclass(tcformal.MissingSolverError, tcformal.InputError)
        True
    """


class InvariantError(TcformalError):
    """A definition relies on something that is not so: an error of the package, not of its caller."""

    exit_code = 3


class NoAnswerError(TcformalError):
    """No answer was reached: time, memory, or every solver gave up.

    Examples:
        >>> tcformal.NoAnswerError.exit_code
        3
    """

    exit_code = 3


class SolverDisagreementError(TcformalError):
    """Two deciders gave answers that cannot both be right, or a witness did not replay.

    Examples:
        >>> tcformal.SolverDisagreementError.exit_code
        3
    """

    exit_code = 3


class CertificateError(TcformalError):
    """A certificate does not prove its statement."""

    exit_code = 1


class RecordError(TcformalError):
    """A stored record is not what it should be, or a file of records cannot be read or written.

    Examples:
        >>> open("taken", "w").close()
        >>> store = tcformal.Store("taken")
        >>> tcformal.separate("valpey@terms=2", "valpey@terms=2,fraction_bits=3", store=store)
        Traceback (most recent call last):
            ...
        tcformal.errors.RecordError: expected a file that can be read and written at
        taken/answers.jsonl, but got: Not a directory
    """


class DeviceError(TcformalError):
    """A device cannot run what was asked, or what it gave cannot be results.

    Examples:
        >>> tcformal.identify(lambda a, b, c: None, "fp16,fp16,fp32,fp32", 4)
        Traceback (most recent call last):
            ...
        tcformal.errors.DeviceError: expected raw encodings of fp32 as unsigned integers of shape [45]
        from callable:<lambda>, but got object of shape []
    """

    exit_code = 3

    def __init__(self, sentence: str, answered: Sequence[int] = ()) -> None:
        super().__init__(sentence)
        #: Raw encodings of the results that came before the failure, in order.
        self.answered = tuple(answered)
