"""`tcformal probe` from the command line: what it prints, its exit codes, and recordings end to end."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tcformal.cli import main

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "TCFORMAL_DEBUG", "TCFORMAL_RESULTS"):
        monkeypatch.delenv(name, raising=False)
    return lambda *words: CliRunner().invoke(main, ["probe", *words])


def test_devices_are_listed(run: Run) -> None:
    result = run("devices")
    assert result.exit_code == 0
    assert "x86/vdpbf16ps" in result.stdout
    assert "recorded:FILE" in result.stdout
    data = json.loads(run("devices", "--json").stdout)
    assert data["devices"][0]["name"] == "cpu"
    assert all(u["instruction"] or u["missing"] for d in data["devices"] for u in d["units"])


@pytest.mark.slow
def test_plan_run_compare(run: Run, tmp_path: Path) -> None:
    """A model with 24 fraction bits poses as volta's unit; the commands say so, and explain it."""
    made = run("plan", VOLTA, "-o", "plan", "--vectors", "60", "--json")
    assert made.exit_code == 0, made.output
    count = json.loads(made.stdout)["directed"]
    assert count > 1000
    good = run("run", "plan", "--device", f"model:{VOLTA}")
    assert (good.exit_code, f"all as {VOLTA}" in " ".join(good.stdout.split())) == (0, True)
    bad = run("run", "plan", "--device", f"model:{VOLTA}@fraction_bits=24", "--json")
    assert bad.exit_code == 1
    data = json.loads(bad.stdout)
    assert data["mismatches"] > 0
    assert data["file"].startswith("results/hardware/model-volta")
    assert data["dot_products"] == count + 60
    found = run("compare", data["file"], "--json")
    assert found.exit_code == 1
    comparison = json.loads(found.stdout)
    assert f"{VOLTA}@fraction_bits=24" in comparison["survivors"]
    refuted = {r["design"]: r for r in comparison["refuted"]}
    assert refuted[VOLTA]["by"].startswith("align/")
    words = shlex.split(refuted[VOLTA]["explain"])
    explained = CliRunner().invoke(main, words[1:])
    assert explained.exit_code == 0, explained.output
    assert refuted[VOLTA]["design_gives"] in explained.stdout
    again = run("run", "plan", "--device", f"model:{VOLTA}")
    assert f"({count + 60} of them before)" in again.stdout


@pytest.mark.long
def test_compare_explains_scales(run: Run) -> None:
    """A block-scaled unit with one parameter changed is refuted, and each step of the refutation is drawn."""
    name = "rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.f32.ue8m0"
    run("plan", name, "-o", "plan", "--vectors", "12", "--no-directed")
    path = json.loads(run("run", "plan", "--device", f"model:{name}", "--json").stdout)["file"]
    result = run("compare", path, "--design", f"{name}@fraction_bits=9", "--explain", "-v")
    assert result.exit_code == 0, result.output
    assert f"{name}@fraction_bits=9 is refuted by random/1 row" in result.stdout
    assert "scale" in result.stdout.partition("is refuted by")[2]
    assert "--scale-a" in result.stdout


def test_compare_explains(run: Run) -> None:
    run("plan", VOLTA, "-o", "plan", "--vectors", "12", "--no-directed")
    path = json.loads(run("run", "plan", "--device", f"model:{VOLTA}", "--json").stdout)["file"]
    result = run("compare", path, "--design", f"{VOLTA}@fraction_bits=9", "--explain")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("HOLDS: ")
    assert f"{VOLTA}@fraction_bits=9 is refuted by random/1 row" in result.stdout
    assert "fraction bits kept" in result.stdout


@pytest.mark.slow
def test_a_campaign_of_the_processor(run: Run) -> None:
    """What this processor has, whatever that is: nothing of it is taken for granted."""
    units = [
        u["unit"]
        for u in json.loads(run("devices", "--json").stdout)["devices"][0]["units"]
        if not u["missing"]
    ]
    if not units:
        pytest.skip("no probe exists for this processor")
    result = run(
        "campaign", "--device", "cpu", "--vectors", "60", "--jobs", "1", "--unit", units[0], "--json"
    )
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert (data["mismatches"], data["complete"]) == (0, True)
    assert data["units"][0]["random"] == 60


@pytest.mark.slow
def test_recordings_end_to_end(run: Run) -> None:
    """A GPU's recorded outputs, planned, run and compared as a device's would be."""
    folder = os.environ.get("TCFORMAL_OBSERVATIONS")
    if not folder:
        pytest.skip("TCFORMAL_OBSERVATIONS names no folder of recorded hardware outputs")
    path = str(Path(folder) / "V100_fp16_fp32.npz")
    plan = ("plan", VOLTA, "-o", "plan", "--vectors", "0", "--no-directed", "--witness", path, "--json")
    assert json.loads(run(*plan).stdout)["directed"] == 1000
    result = run("run", "plan", "--device", f"recorded:{path}", "--json")
    assert result.exit_code == 0, result.output
    found = run("compare", json.loads(result.stdout)["file"], "--json")
    comparison = json.loads(found.stdout)
    assert found.exit_code == 0
    names = {r["design"] for r in comparison["refuted"]}
    for change in (
        "fraction_bits=22",
        "fraction_bits=24",
        "products=2",
        "c_position=last",
        "conversion=RNE-FP32",
    ):
        assert f"{VOLTA}@{change}" in names
    longer = run("plan", VOLTA, "-o", "plan", "--vectors", "5", "--no-directed", "--witness", path)
    assert longer.exit_code == 0
    result = run("run", "plan", "--device", f"recorded:{path}")
    assert result.exit_code == 3
    assert "holds the first 0 of 5" in result.stderr


#: Programs that stand for devices which are no good, and what is said of them.
BAD_DEVICES = {
    "it says that it is busy": ("error('the GPU is busy')", "says: the GPU is busy", 0),
    "it is of another kind": ("error('this is an sm_80')", "says: this is an sm_80", 0),
    "it ends too early": ("hello(); answers(3)", r"expected more answers of .*\(3 of", 3),
    "it gives NaN for zeros": ("hello(); answers(10**9, '0x7fffffff')", "no NaN is possible", 0),
}
DEVICE = """
import json, sys
asked = json.loads(next(sys.stdin))
def error(text):
    print(json.dumps({"error": text}))
def hello():
    print(json.dumps({"device": "bad"}), flush=True)
def answers(n, d="0x0"):
    for i, _ in zip(range(n), sys.stdin):
        print(json.dumps({"id": i, "d": d}), flush=True)
"""


@pytest.mark.parametrize("what", BAD_DEVICES)
def test_bad_devices_are_one_sentence(what: str, run: Run, tmp_path: Path) -> None:
    """Exit code 3, and what was measured before is in the file."""
    body, sentence, kept = BAD_DEVICES[what]
    (tmp_path / "device.py").write_text(DEVICE + body + "\n")
    run("plan", VOLTA, "-o", "plan", "--vectors", "0", "--no-stored")
    result = run("run", "plan", "--device", f"exec:{shlex.quote(sys.executable)} device.py")
    assert result.exit_code == 3
    assert result.stderr.startswith("error: expected ")
    assert result.stderr.count("\n") == 1
    assert re.search(sentence, result.stderr)
    files = list((tmp_path / "results").rglob("*.jsonl"))
    text = files[0].read_text() if files else ""
    assert text.count('"kind": "directed"') == kept


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("run", "none", "--device", "cpu"), 2, "expected a plan"),
        (("run", "plan", "--device", "gpu"), 2, "expected a known device"),
        (("run", "plan", "--device", "exec:no-such-program"), 3, "expected a program"),
        (("run", "plan", "--device", "cpu"), 3, "a unit that a CPU has"),
        (("run", "plan", "--device", "model:x86/vdpbf16ps"), 3, "to take fp32 = fp16"),
        (("run", "plan", "--device", "recorded:none"), 3, "expected a file of recorded outputs"),
        (("plan", VOLTA, "-o", "p", "--vectors", "-1"), 2, "--vectors"),
        (("plan", VOLTA, "-o", "p", "--witness", "none"), 2, "expected a file of witnesses"),
        (("plan", "volta/none", "-o", "p"), 2, "expected a known unit"),
        (("plan", VOLTA, "-o", "p", "--vectors", "0", "--no-directed", "--no-stored"), 2, "would hold none"),
        (("compare", "none"), 2, "expected a file of results"),
        (("campaign", "--device", "gpu"), 2, "expected a known device"),
        (("campaign", "--device", "model:volta", "--minutes", "0"), 2, "--minutes"),
        (("campaign", "--device", "model:volta", "--unit", "volta/none"), 2, "expected a known unit"),
        (("campaign", "--device", "exec:cat"), 3, "give them by --unit"),
        (("campaign", "--device", "cpu", "--unit", VOLTA), 3, "a unit that a CPU has"),
    ],
)
def test_bad_input_is_one_sentence(words: tuple[str, ...], code: int, sentence: str, run: Run) -> None:
    run("plan", VOLTA, "-o", "plan", "--vectors", "6", "--no-directed")
    result = run(*words)
    assert result.exit_code == code, result.output
    assert sentence in result.stderr
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
