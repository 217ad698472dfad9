"""The examples of every command run."""

from __future__ import annotations

import contextlib
import itertools
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import tcformal
from commands import commands
from sampled import one_in
from tcformal.cli import main
from tcformal.cli.command_list import EXAMPLES, SLOW_EXAMPLES


def test_every_command_has_examples() -> None:
    assert set(EXAMPLES) == set(dict(commands())) - {""}


def write_inputs() -> None:
    """The files that examples name, in the working directory."""
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((24, 48), (48, 24)))
    np.save("a.npy", a)
    np.save("b.npy", b)
    np.save("c.npy", rng.standard_normal((24, 24)).astype(np.float32))
    for name, arch in (("a100", "ampere"), ("h100", "hopper")):
        np.save(f"{name}.npy", tcformal.simulate(f"{arch}/mma.m16n8k16.f32.f16.f16.f32", a, b))
    u = tcformal.unit("x86/tdpbf16ps")
    words, c = rng.integers(0x3F00, 0x4000, (2, 4, u.k)).astype(np.uint16), np.zeros(4, np.uint32)
    d = u.dot_bits(words[0], words[1], c)
    np.savez("tiles.npz", A=words[0][:, None], B=words[1][:, None], C=c[:, None, None], D=d[:, None, None])
    CliRunner().invoke(main, ["export", "valpey@terms=2", "--to", "verilog", "-o", "valpey.sv"])
    text = Path("valpey.sv").read_text(encoding="utf-8")
    Path("dot.v").write_text(re.sub(r"\bmodule \w+", "module dot", text, count=1), encoding="utf-8")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what examples read: arrays, a plan, a device, results of hardware, kept answers."""
    path = tmp_path_factory.mktemp("examples")
    with contextlib.chdir(path):
        write_inputs()
        for line in (
            "probe template > box.py", *EXAMPLES["separate"][:1], *EXAMPLES["prove"][:1],
            *EXAMPLES["probe plan"][:1], *EXAMPLES["probe run"][:1],
        ):  # fmt: skip
            run_line(line.removeprefix("tcformal "))
    return path


def run_line(line: str) -> Result:
    """Run an example, perhaps into a file, in the working directory; its results go to `results`."""
    words, _, file = line.removeprefix("tcformal ").partition(" > ")
    result = CliRunner().invoke(
        main, shlex.split(words, comments=True), env={"TCFORMAL_RESULTS": None, "COLUMNS": "80"}
    )
    if file:
        Path(file).write_text(result.stdout, encoding="utf-8")
    return result


def marks(line: str) -> list[pytest.MarkDecorator]:
    """An example may take seconds, or need yosys."""
    known = ((pytest.mark.slow, line in SLOW_EXAMPLES), (pytest.mark.debian, "rtl" in line))
    return [mark for mark, has in known if has]


@pytest.mark.parametrize(
    "line",
    one_in(2, [pytest.param(x, marks=marks(x)) for x in dict.fromkeys(itertools.chain(*EXAMPLES.values()))]),
)
def test_an_example_runs(line: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a copy of the folder, so that the order does not matter."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    if " audit " in line:
        monkeypatch.setenv("PATH", "")
    result = run_line(line)
    code = re.search(r"# exit (\d)( where)?", line)
    codes = {int(code[1])} | ({0} if code[2] else set()) if code else {0}
    assert result.exit_code in codes, result.output
    assert result.output.partition("\n")[0].strip() != "" or " -o " in line, result.output
