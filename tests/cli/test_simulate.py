"""`simulate`: the product of two files, and the program that `probe template` prints as a device."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import tcformal
from tcformal.cli import main
from tcformal.report import parts

UNIT = "volta/mma.m8n8k4.f32.f16.f16.f32"


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a.npy [6, 10], b.npy [10, 5] and c.npy [6, 5]."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    for name, shape in (("a", (6, 10)), ("b", (10, 5)), ("c", (6, 5))):
        dtype = np.float32 if name == "c" else np.float16
        np.save(f"{name}.npy", rng.standard_normal(shape).astype(dtype))
    return tmp_path


def test_the_product_is_written_and_its_size_is_said_first(folder: Path) -> None:
    a, b, c = (np.load(f"{x}.npy") for x in "abc")
    done = run("simulate", "a.npy", "b.npy", "--c", "c.npy", "--on", UNIT, "-o", "d.npy")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("d.npy: [6, 5] of float32 = [6, 10] · [10, 5] + C on ")
    assert "300MAC" in done.stdout.replace("\n", "").replace(" ", "")
    np.testing.assert_array_equal(np.load("d.npy"), tcformal.simulate(UNIT, a, b, c))
    assert run("simulate", "a.npy", "b.npy", "--on", UNIT, "-o", "e.npy").exit_code == 0
    np.testing.assert_array_equal(np.load("e.npy"), tcformal.simulate(UNIT, a, b))


def test_elements_that_lost_bits_are_counted_and_their_errors_written(folder: Path) -> None:
    """2048 + 1 in fp16 is 2048, as is said of an accumulator of fp16; a product that loses nothing says 0."""
    a, b = np.ones((3, 8), np.float16), np.ones((8, 2), np.float16)
    a[1, 0] = 2048
    np.save("a.npy", a)
    np.save("b.npy", b)
    words = ["simulate", "a.npy", "b.npy", "-o", "d.npy", "--errors", "e.npy", "--on"]
    done = run(*words, "turing/mma.m16n8k8.f16.f16.f16.f16")
    assert done.stdout.startswith("e.npy: 2 of 6 elements lost bits, [1, 0] most: 1, 0.000487 of Σ|x_k·y_k|")
    assert np.load("e.npy").tolist() == [[0, 0], [1, 1], [0, 0]]
    c = np.array([[2**-24, 0]] * 3, np.float32)
    np.save("c.npy", c)
    done = run(*words, "turing/mma.m16n8k8.f32.f16.f16.f32", "--c", "c.npy")
    assert done.stdout.startswith("e.npy: 3 of 6 elements lost bits, ")
    np.testing.assert_array_equal(np.load("e.npy"), [[-(2**-24), 0]] * 3)
    assert run(*words, "turing/mma.m16n8k8.f32.f16.f16.f32").stdout.startswith("e.npy: 0 of 6 elements lost")
    refused = run(*words, UNIT, "--alpha", "2")
    assert "expected a file E.npy after --errors, of matrices without a recipe and alpha" in refused.stderr


NV = "b200:nvf4"


def test_block_scales_are_files_too_and_words_are_of_the_units_formats(folder: Path) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 16, (6, 70)).astype(np.uint8), rng.integers(0, 16, (70, 5)).astype(np.uint8)
    scales = (
        rng.integers(0x28, 0x48, (6, 5)).astype(np.uint8),
        rng.integers(0x28, 0x48, (5, 5)).astype(np.uint8),
    )
    e2m1 = tcformal.simulation.arrays.dtypes()["e2m1"]
    for name, x in (("x", a.view(e2m1)), ("y", b), ("sx", scales[0]), ("sy", scales[1])):
        np.save(f"{name}.npy", x)
    scaled = "--scale-a sx.npy --scale-b sy.npy:e4m3"
    words = f"simulate x.npy y.npy --on {NV} {scaled} -o d.npy".split()
    assert run(*words).exit_code == 0, run(*words).output
    d = tcformal.simulate(NV, a.view(e2m1), b.view(e2m1), None, *scales)
    np.testing.assert_array_equal(np.load("d.npy"), d)
    done = run(*words, "--alpha", "0.25")
    assert done.stdout.startswith("d.npy: [6, 5] of float32 = 0.25·[6, 70] · [70, 5] on ")
    np.testing.assert_array_equal(np.load("d.npy"), d * np.float32(0.25))
    by = run(*words, "--alpha", "0.25", "--recipe", "plain@output=bf16")
    assert by.exit_code == 0, by.output
    assert "of bfloat16" in by.stdout
    refused = run("simulate", "x.npy", "y.npy", "--on", NV, "-o", "e.npy")
    assert "expected scale_a and scale_b for blackwell/" in refused.stderr
    refused = run("simulate", "a.npy", "b.npy", "--on", UNIT, "--scale-a", "sx.npy:e8m0", "-o", "e.npy")
    assert f"expected no scales for {UNIT}, but got some" in refused.stderr
    refused = run("simulate", "x.npy:e4m3", "y.npy", "--on", NV, *scaled.split(), "-o", "e.npy")
    assert "expected dtype float4_e2m1fn for A (e2m1), but got float8_e4m3fn" in refused.stderr
    refused = run("simulate", "a.npy", "b.npy", "--on", "chained", "--scale-a", "sx.npy:e8m0", "-o", "e.npy")
    assert refused.exit_code == 2
    assert not (folder / "e.npy").exists()


def test_the_template_is_a_device_that_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("box.py").write_text(run("probe", "template").stdout, encoding="utf-8")
    formats = "a_format=fp16,b_format=fp16,c_format=fp32,d_format=fp32,nan_word=0x7fc00000"
    device = f"exec:{sys.executable} box.py"
    unit = f"sequential@products=3,{formats}"
    assert run("probe", "plan", unit, "-o", "p", "--vectors", "60").exit_code == 0
    done = run("probe", "run", "p", "--device", device)
    assert done.exit_code == 0, done.output
    assert "all as sequential@products=3" in " ".join(done.output.split())
    assert run("probe", "plan", UNIT, "-o", "q", "--vectors", "99", "--no-directed").exit_code == 0
    assert run("probe", "run", "q", "--device", device).exit_code == 1
    e4m3 = "tfdpa@products=2,a_format=e4m3,b_format=e4m3"
    assert run("probe", "plan", e4m3, "-o", "r", "--vectors", "9", "--no-directed").exit_code == 0
    refused = run("probe", "run", "r", "--device", device)
    assert "this device does not take a in e4m3, b in e4m3" in refused.stderr


def test_progress_without_a_terminal_is_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with parts.bar("nothing long") as advance:
        advance(1, 2)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(parts, "PULSE_S", 0.02)
    with parts.bar("something long") as advance:
        advance(3, 7)
        time.sleep(0.2)
    lines = capsys.readouterr().err.splitlines()
    assert 1 <= len(lines) <= 20
    assert lines[0].startswith("something long, 3 of 7, ")
