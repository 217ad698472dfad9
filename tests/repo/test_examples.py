"""Every public function and class has an example in its docstring, and the example says what happens."""

from __future__ import annotations

import doctest
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tcformal
from sampled import one_in

NAMES = sorted({*tcformal.__all__} - {"__version__"})
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def example(name: str, made: Any) -> doctest.DocTest:
    """The example in a docstring, in which `tcformal` and `np` are imported."""
    text = inspect.getdoc(inspect.unwrap(made)) or ""
    return doctest.DocTestParser().get_doctest(text, {"tcformal": tcformal, "np": np}, name, None, 0)


def failures(test: doctest.DocTest) -> str:
    """What the example says otherwise than it is; empty where it is right."""
    said: list[str] = []
    doctest.DocTestRunner(verbose=False, optionflags=_FLAGS).run(test, out=said.append)
    return "".join(said)


@pytest.mark.parametrize("name", one_in(2, NAMES))
def test_the_example_of_a_public_name_is_right(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    test = example(name, getattr(tcformal, name))
    assert test.examples, f"expected an example in the docstring of {name}"
    assert not failures(test)


def test_a_wrong_example_is_noticed() -> None:
    def made() -> None:
        """
        >>> 1 + 1
        3
        """

    assert "Expected:\n    3\nGot:\n    2" in failures(example("made", made))
    assert not example("none", lambda: None).examples
