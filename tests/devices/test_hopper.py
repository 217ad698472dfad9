"""The one call for a Hopper GPU: which instructions it asks, and that its parts end."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import pytest

from tcformal.design.catalog import catalogue
from tcformal.design.names import resolve
from tcformal.devices.device import sources


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hopper", sources("cuda").parent / "hopper.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_integers_and_sparse_instructions_are_asked_within_the_time() -> None:
    hopper = script()
    names = hopper.units()
    units = {name: unit for name, unit in catalogue().items() if name.startswith("hopper/")}
    assert {name for name, unit in units.items() if unit.operands.a.integer} <= set(names)
    assert {resolve(name).name for name in names if resolve(name).sparse} == {
        name for name in units if name.startswith(("hopper/mma.m16", "hopper/wgmma.")) and "f64" not in name
    }
    assert "hopper/mma.m16n8k16.f32.f16.f16.f32" not in names
    words = hopper.commands("out", 540)["campaign"]
    assert [words[i + 1] for i, word in enumerate(words) if word == "--unit"] == names
    assert 60 * float(words[words.index("--minutes") + 1]) < 540


def test_products_are_asked_where_there_is_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    hopper = script()
    for found, parts in ((None, ["campaign"]), (object(), ["campaign", "batches", "attention", "streams"])):
        monkeypatch.setattr(hopper, "find_spec", lambda _, found=found: found)
        assert list(hopper.commands("out", 540)) == parts


def test_the_worst_part_decides_and_none_goes_on_forever(capfd: pytest.CaptureFixture[str]) -> None:
    hopper = script()

    def python(text: str) -> list[str]:
        return [sys.executable, "-c", text]

    assert hopper.run({"a": python("raise SystemExit(1)"), "b": python("pass")}, 60) == 1
    assert hopper.run({"a": python("import time; time.sleep(60)"), "b": python("pass")}, 0.5) == 3
    assert "a: exit code 3" in capfd.readouterr().out
