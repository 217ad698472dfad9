"""`doctor`: what is here, what is missing, what is broken."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from click.testing import Result

from tcformal import installed
from tcformal.installed import HostProgram, InstalledPart, Package, examined

Run = Callable[..., Result]


def test_everything_of_an_installation_is_here(run: Run) -> None:
    result = run("doctor", "--json")
    assert result.exit_code == 0
    found = json.loads(result.output)
    assert found["complete"]
    states = {part["name"]: part["state"] for part in found["parts"]}
    assert {states[name] for name in ("numpy", "z3-solver", "cvc5", "bitwuzla", "llvmlite")} == {"here"}


def small(monkeypatch: pytest.MonkeyPatch, *packages: Package) -> list[InstalledPart]:
    monkeypatch.setattr(installed, "PACKAGES", packages)
    monkeypatch.setattr(installed, "PROGRAMS", (HostProgram(("no-such-program",), "", "nothing"),))
    return list(examined())


def test_a_missing_extra_is_no_fault_and_a_missing_package_is(
    monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    extra, _ = small(monkeypatch, Package("no-such-package", "no_such", "much", "pictures"))
    assert (extra.state, extra.needed) == ("missing", False)
    assert extra.install == "python -m pip install 'tcformal[pictures]'"
    assert run("doctor").exit_code == 0
    needed, program = small(monkeypatch, Package("no-such-package", "no_such", "much"))
    assert (needed.state, needed.needed) == ("missing", True)
    assert (program.state, program.needed) == ("missing", False)
    result = run("doctor")
    assert result.exit_code == 1
    assert result.output.startswith("INCOMPLETE: no-such-package missing or broken\n")
    assert "much" in result.output


def test_a_package_that_cannot_be_imported_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    broken, _ = small(monkeypatch, Package("click", "click.no_such_module", "much"))
    assert broken.state == "broken"
    assert "whose import fails: ModuleNotFoundError" in broken.detail
