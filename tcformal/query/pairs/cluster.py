"""A Dask cluster as an executor with the local pool's interface."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from concurrent.futures import Executor

from tcformal.errors import InputError, NoAnswerError

#: Timeout of the connection to a scheduler, in seconds.
CONNECT_S = 10.0


@contextlib.contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """Connect to the Dask scheduler at `address`; pending calls are cancelled at exit.

    The workers need this package and the solvers.  Dask repeats the calls of a lost worker, and fails a
    call that has lost several workers.
    Errors: InputError where Dask is not installed or the address is invalid, NoAnswerError where no
    scheduler answers.
    """
    try:
        dask = importlib.import_module("distributed")
    except ModuleNotFoundError as error:
        raise InputError(
            "expected Dask to be installed for a scheduler, but its package is missing: "
            "pip install 'tcformal[distributed]'"
        ) from error
    try:
        client = dask.Client(address, timeout=CONNECT_S, set_as_default=False)
    except ValueError as error:
        raise InputError(f"expected the address of a scheduler, but got {address!r}: {error}") from error
    except OSError as error:
        raise NoAnswerError(f"expected a Dask scheduler at {address}, but none answered: {error}") from error
    try:
        # Not `pure`: a question that is asked again must not be answered from Dask's memory.
        yield client.get_executor(pure=False)
    finally:
        client.close()
