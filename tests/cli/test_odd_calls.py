"""Odd calls of every command: one of four exit codes, few and short sentences, nothing written unasked.

`make fuzz` tries 10,000 of them; by default they are few and always the same.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from executors import Inline
from tcformal.cli import main
from tcformal.cli.questions import evaluate
from tcformal.errors import NoAnswerError
from tcformal.files.packed import ENDING, read_packed
from tcformal.report.escape import LONGEST
from tcformal.solve import portfolio

ROOT = Path(__file__).resolve().parents[2]
CALLS = int(os.environ.get("ODD_CALLS", "150"))
#: Seconds of the processor and on the wall, and MiB of address space, of one call; lines of its errors.
SECONDS, WALL, MEMORY_MB, LINES = 30, 600, 8192, 32
UNSAFE = re.compile("[^\n -~\xa1-\xac\xae-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\ud7ff\ue000-\U0010ffff]")

UNIT, SMALL = "x86/vdpbf16ps", "valpey@terms=2"
#: Words of every command that work and take a moment.
WORKING = dict(x.split(":", 1) for x in """\
probe devices:
probe plan: UNIT -o out/plan --vectors 3 --no-directed
probe run: plan.jsonl --device model:UNIT
probe compare: results.jsonl
probe campaign: --device model:UNIT --minutes 0.0001 --vectors 2 --jobs 1
probe keep: arrays.npz --unit x86/tdpbf16ps --device nobody
units: UNIT
doctor:
completion: bash
recipes: cublaslt-66@splits=2
formats: fp16
eval: UNIT --a 1,2 --b 3,4
explain: UNIT --a 1,2 --b 3,4
explain-mismatch: tfdpa@products=2 --a 1,2 --b 3,4 --expected 11 --got 12
results list:
results show: 0
results export: out/export --json
results proof: 0 -o out/proof
results verify:
results prune:
separate: SMALL,carry_bits=3 SMALL
prove: SMALL,carry_bits=3 SMALL
region: SMALL,carry_bits=3 SMALL
report: --out out/report --playground no-such-package.tgz
run: query.toml
export: SMALL --to verilog
check-rtl: dot.v --top dot --against SMALL --yosys no-such-program
programs: ootomo-yokota --length 2
compare-programs: bf16x9@bands=2 fma-chain --assume c=0 --means search
suite: tfdpa@products=2 --vary fraction_bits=10..11 --vectors 20
sweep: --vectors 2 --only UNIT --jobs 1
accuracy: tfdpa@products=2 --no-prove
statistics: tfdpa@products=2 --elements 4
figures: mary-5.1 --points 1 --words 1
identify-product: numpy --formats fp32,fp32,fp32 --shape 2,2,3
identify: --device hand:somebody --formats fp16,fp16,fp32,fp32 --k 2 --next
""".replace("UNIT", UNIT).replace("SMALL", SMALL).splitlines())  # fmt: skip
#: Options by which a call takes minutes when all else is well.
_LONG = {
    *[
        "--all-pairs",
        "--all",
        "--claim",
        "--with-claims",
        "--claims",
        "--prove",
        "--bound",
        "--points",
        "--words",
        "--elements",
        "--lengths",
    ]
}

HOSTILE, NINES = "\x1b[2J\x1b]0;t\x07\u202e\u2028\x9b\udcff[/x]", "9" * 5000


def of(words: str, *more: str) -> st.SearchStrategy[str]:
    """One of some words."""
    return st.sampled_from([*words.split(), *more])


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=9) | of(
    "- -- @ / = , . .. ~ * %s {} {0.__class__} ' \" [/x] \\ é ² ٣ 𝔸 nan inf None true 0 /dev/null /dev/zero /dev/full "
    "/proc/self/mem http://x c:\\x $(id) `id` ; |", "", " ", "\n", "\t", HOSTILE, "x" * 100_000, "a/b" * 50
)  # fmt: skip
values = st.floats().map(repr) | of(
    "0 -0 1 -2^-24 2^999999999999 1e99999999 1e-40001 0x1p99999999 1/0 1/3 nan(0x7e00) nan(0x0) -inf 0x ... ²"
    " 1.5*2^7 1e5*2^40000", "", " ", HOSTILE, NINES, f"0x{'f' * 9000}", f"1/{NINES}"
)  # fmt: skip
units = of(
    f"{UNIT} {SMALL} {SMALL},carry_bits=3 {UNIT}@fraction_bits=3 volta/mma.m8n8k4.f32.f16.f16.f32 tfdpa@ "
    "tfdpa@products tfdpa@products= tfdpa@products=2,products=3 tfdpa@products=² tfdpa@a=fp4 x86/ @products=2 "
    f"tfdpa@products=99999999999 tfdpa@products=2,fraction_bits=-1 valpey@terms=1000000 tfdpa@products={NINES}"
)
paths = of(
    "plan.jsonl results.jsonl cases.json query.toml witness.json arrays.npz suite.json r-none r-empty r-own r-links "
    "r-pipes r-folders folder pipe link dangling loop missing missing.toml /dev/null /dev/zero",
    "", "x" * 300, HOSTILE,
)  # fmt: skip
operands = st.lists(values, min_size=1, max_size=3).map(",".join)
#: What an option or argument is given, by its type or its name.
GIVEN: dict[object, st.SearchStrategy[str]] = {
    click.INT: st.integers().map(str) | of("007 1_0 +1 1e3 0x10 ²", "", NINES),
    click.FLOAT: st.floats().map(repr) | of("1e400 1_0 ² 1,5 0x1p3", ""),
    **dict.fromkeys(["a", "b", "c", "scale_a", "scale_b", "expected", "got"], operands),
    **dict.fromkeys(["unit", "name", "names", "first", "second", "units", "worse", "other"], units),
    **dict.fromkeys(["path", "files", "checked", "answers", "folder"], paths),
    **dict.fromkeys(("output", "file"), of("out/x out folder out/no/x link pipe /dev/full -", "")),
    "device_name": texts | of(
        f"cpu model: model:x model:{UNIT} cuda:0 cuda:² exec:false exec: exec:' recorded:any exec:cat hip:0"),
    "assume": texts | of("c=0 finite exponents=1..0 exponents=-9999999999..9999999999 c=2^99999999 exponents=x"),
    "vary": texts | of("fraction_bits fraction_bits=1..99999999999 fraction_bits=3..1 x=1 products=1..3"),
    "settings": texts | of(f"terms=3 terms=x terms={NINES} y=1 ="),
    "solvers": texts | of("cadical z3,cvc5 nobody ,"),
}  # fmt: skip

QUERY = b"""
title = "A question"
source = "nobody"
parameters = { terms = 2 }
[[ask]]
name = "{terms} and {x}"
cases = [{ x = 3 }, { x = 4 }]
separate = ["valpey@terms={terms},carry_bits={x}", "valpey@terms={terms}"]
expected = "SEPARATED"
"""
#: Contents that no file should have.
ODD = (
    b"", b"\0" * 5000, b"[" * 100_000, b"NaN", b"9" * 6000, b"\xff\xfe", b"\x1b[2J\x9b", b"[1, 2]",
    b'{"a": ["\\ud800"], "b": ["1"], "c": "\\ud800", "expected": "\\ud800", "got": "1"}',
)  # fmt: skip
#: Files of kept records, and results folders.
RECORDS = ("answers", "claims", "queries", "conformance", "kernels", "proofs")
FOLDERS = ("r-none", "r-empty", "r-own", "r-links", "r-pipes", "r-folders")


@cache
def whole() -> dict[str, bytes]:
    """One whole file of every kind that is read, and the first short records of the project's own results."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        for words in (
            f"plan {UNIT} -o p --vectors 4 --no-directed",
            f"run p --device model:{UNIT} --results r",
        ):
            assert CliRunner().invoke(main, ["probe", *words.split()]).exit_code == 0
        made = {
            "plan.jsonl": Path("p").read_bytes(),
            "results.jsonl": next(Path("r").rglob("*.jsonl")).read_bytes(),
        }
    archive, two, word = io.BytesIO(), np.zeros((2, 2), np.uint16), np.zeros(2, np.uint32)
    np.savez(archive, a=two, b=two, c=word, expected=word, got=word + 1)
    made |= {"arrays.npz": archive.getvalue(), "query.toml": QUERY}
    made["cases.json"] = b'[{"a": ["1", "2"], "b": ["1", "2"], "c": "0", "expected": "5", "got": "6"}]'
    made["witness.json"] = b'{"witness": {"a": ["0x0", "0x0"], "b": ["0x0", "0x0"], "c": "0x0"}}'
    made["suite.json"] = min(
        (ROOT / "results" / "suites").glob("*.json"), key=lambda p: p.stat().st_size
    ).read_bytes()
    for name in RECORDS:
        path = ROOT / "results" / f"{name}.jsonl"
        packed = path.with_name(path.name + ENDING)
        content = read_packed(packed) if packed.exists() else path.read_bytes() if path.exists() else b""
        short = (line for line in content.splitlines() if len(line) < 20_000)
        made[f"r-own/{name}.jsonl"] = b"\n".join(islice(short, 3))
    return made


@st.composite
def changed(draw: st.DrawFn, data: Any) -> Any:
    """JSON data with one part, anywhere in it, replaced, dropped or put twice."""
    how = draw(st.integers(0, 9))
    if isinstance(data, dict) and data and how:
        key = draw(st.sampled_from(sorted(data)))
        rest = {k: v for k, v in data.items() if k != key}
        return rest if how == 1 else rest | {key if how > 2 else f"{key}x": draw(changed(data[key]))}
    if isinstance(data, list) and data and how:
        i = draw(st.integers(0, len(data) - 1))
        made = [] if how == 1 else [data[i]] * 3 if how == 2 else [draw(changed(data[i]))]
        return [*data[:i], *made, *data[i + 1 :]]
    odd = [
        None,
        True,
        [],
        {},
        [[]],
        {"": None},
        "\ud800",
        "0x",
        "0x" + "f" * 5000,
        "x" * 100_000,
        10**400,
        1e-320,
    ]
    return draw(st.sampled_from(odd) | st.integers() | st.floats() | texts)


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """Content that was cut, flipped, turned, filled with what no text holds, replaced, or changed in one value."""
    at, how = draw(st.integers(0, len(content))), draw(st.integers(0, 6))
    if how >= 5:
        with contextlib.suppress(ValueError):
            rows = [json.loads(line) for line in content.splitlines()]
            return "".join(json.dumps(row) + "\n" for row in draw(changed(rows))).encode()
    first, rest, odd = content[:at], content[at:], draw(st.sampled_from(ODD))
    return (first, first + bytes(x ^ 8 for x in rest[:1]) + rest[1:], rest + first, first + odd + rest, odd)[
        how % 5
    ]


@dataclass(frozen=True)
class Call:
    """One call of the program, and files of its folder that are not whole."""

    words: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    columns: str = "100"

    def may_write(self, name: str) -> bool:
        """Whether a file is named by the words, lies in such a one, or around it."""
        named = [word.removeprefix("./") for word in self.words]
        around = any(f"{name}/".startswith(f"{w}/") or f"{w}/".startswith(f"{name}/") for w in named if w)
        return around or bool({"", "."} & {*named}) or name.partition("/")[0] in {"out", *FOLDERS}


def commands(command: click.Command = main, words: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command of the program by its words."""
    if not isinstance(command, click.Group):
        yield words, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        yield from commands(below, f"{words} {name}".strip())


def _odd(option: click.Parameter) -> st.SearchStrategy[str]:
    """What an option is given."""
    if isinstance(option.type, click.Choice):
        return st.sampled_from([*map(str, option.type.choices), "x"])
    return GIVEN.get(option.type, GIVEN.get(option.name, texts))


@st.composite
def calls(draw: st.DrawFn) -> Call:
    """A call that works, with some of its words, options and files made odd."""
    name, command = draw(st.sampled_from(sorted(commands())))
    words = WORKING[name].split()
    options = [p for p in command.params if isinstance(p, click.Option)]
    for _ in range(draw(st.integers(0, 3))):
        if words and draw(st.integers(0, 9)) < 3:
            words[draw(st.integers(0, len(words) - 1))] = draw(st.one_of(units, paths, operands, texts))
        else:
            option = draw(st.sampled_from(options))
            words.append(draw(st.sampled_from([*option.opts, *option.secondary_opts])))
            words += [] if option.is_flag else [draw(texts if draw(st.integers(0, 9)) == 0 else _odd(option))]
    if words and draw(st.integers(0, 9)) == 0:
        del words[draw(st.integers(0, len(words) - 1))]
    if _LONG & {*words}:
        words = [*(word for word in words if word not in _LONG), "--no-such-option"]
    words += ["--only", UNIT] if name == "sweep" else []
    has = {word for option in options for word in option.opts}
    if "--results" in has and draw(st.booleans()):
        words += ["--results", draw(st.sampled_from(FOLDERS))]
    words += ["--json"] if "--json" in has and draw(st.booleans()) else []
    files = {
        x: draw(damaged(whole()[x])) for x in draw(st.sets(st.sampled_from(sorted(whole())), max_size=2))
    }
    return Call(
        (*name.split(), *words), files, draw(st.sampled_from(["100"] * 9 + ["²", "1", "-5", "99999999999"]))
    )


def fill(call: Call) -> None:
    """The files of a call in the working folder."""
    for folder in ("out", "folder", *FOLDERS[1:]):
        Path(folder).mkdir()
    for name, content in {**whole(), **call.files, "precious": b"precious"}.items():
        Path(name).write_bytes(content)
    Path("dot.v").write_text("module dot(input a, b, output d); assign d = a; endmodule\n")
    os.mkfifo("pipe")
    for link, to in {"link": "precious", "dangling": "nothing", "loop": "loop"}.items():
        Path(link).symlink_to(to)
    for name in RECORDS:
        Path("r-links", f"{name}.jsonl").symlink_to("../precious")
        os.mkfifo(f"r-pipes/{name}.jsonl")
        Path("r-folders", f"{name}.jsonl").mkdir()


def state() -> set[tuple[str, int, int, int]]:
    """Every file and folder of the working folder: what it is, how long, and which."""
    every = ((path, path.lstat()) for path in Path().rglob("*"))
    return {(str(p), x.st_mode, 0 if p.is_dir() else x.st_size, x.st_ino) for p, x in every}


class OverdueError(BaseException):
    """A call has taken too long."""


def answered(call: Call, *, apart: bool = False) -> list[str]:
    """What is wrong with the answer to a call, in a folder of its own; `apart`: in a process of its own."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        fill(call)
        before = state()
        code, out, err = _apart(call) if apart else _here(call)
        unasked = sorted({x for x, *_ in before ^ state() if not call.may_write(x)})
    found = [f"changed {x}" for x in unasked] + ([] if code in (0, 1, 2, 3) else [f"exit code {code}"])
    found += [word for word in ("Traceback", "internal error") if word in err + out]
    if err.count("\n") > LINES or len(err) > LINES * LONGEST:
        found.append(f"{err.count(chr(10))} lines of errors")
    binary = any("aiger" in word for word in call.words) and out.startswith("aig ")
    found += [f"{x[0]!r} is shown" for x in (UNSAFE.search(err), None if binary else UNSAFE.search(out)) if x]
    before_last, last = ("", *call.words)[-2:]
    asked = last == "--json" and not before_last.startswith("-") and "--help" not in call.words
    if asked and out.strip() and code in (0, 1, 3):
        try:
            json.loads(out)
        except ValueError as error:
            found.append(f"no JSON: {error}")
    found += ["no sentence"] if code == 2 and not err.strip() else []
    return [*found, err.strip()[:600], shlex.join(["tcformal", *call.words])] if found else []


def _here(call: Call) -> tuple[int, str, str]:
    for timer, limit in ((signal.ITIMER_VIRTUAL, SECONDS), (signal.ITIMER_REAL, WALL)):
        signal.setitimer(timer, limit)
    try:
        done = CliRunner().invoke(
            main, list(call.words), env={"TCFORMAL_RESULTS": "r-none", "COLUMNS": call.columns}
        )
    except OverdueError:
        return -1, "", f"still running after {SECONDS} s"
    finally:
        for timer in (signal.ITIMER_VIRTUAL, signal.ITIMER_REAL):
            signal.setitimer(timer, 0)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return -1, done.stdout, f"{done.stderr}\nTraceback: {done.exception!r:.500}"
    return done.exit_code, done.stdout, done.stderr


def _apart(call: Call) -> tuple[int, str, str]:
    env = {**os.environ, "TCFORMAL_RESULTS": "r-none", "PYTHONPATH": str(ROOT), "COLUMNS": call.columns}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "tcformal", *map(os.fsencode, call.words)], env=env, timeout=WALL, check=False,
        stdin=subprocess.DEVNULL, capture_output=True,
    )  # fmt: skip
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


@pytest.fixture(scope="module")
def bounded() -> Iterator[None]:
    """Calls within limits and without what takes minutes: solvers, workers, explanations of mismatches."""

    def overdue(*_: object) -> None:
        raise OverdueError

    def unexplained(*_: object) -> Any:
        raise NoAnswerError("expected an explanation, but none was asked for here")

    whole()
    limits = resource.getrlimit(resource.RLIMIT_AS)
    handlers = {number: signal.signal(number, overdue) for number in (signal.SIGALRM, signal.SIGVTALRM)}
    with pytest.MonkeyPatch.context() as patch:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MB << 20, limits[1]))
        patch.setattr(portfolio._Race, "run", lambda race, names, arbiter: arbiter.exhausted())
        patch.setattr("tcformal.cli.devices.mismatch.explain_mismatch", unexplained)
        patch.setattr("tcformal.report.site.build.known_queries", dict)
        for module in ("devices.campaign", "questions.pairs", "sweep"):
            patch.setattr(f"tcformal.cli.{module}.SturdyPool", Inline)
        yield
    resource.setrlimit(resource.RLIMIT_AS, limits)
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.mark.slow
@settings(max_examples=CALLS, derandomize="ODD_CALLS" not in os.environ, deadline=None, database=None,
          phases=[Phase.explicit, Phase.generate, Phase.shrink], suppress_health_check=list(HealthCheck))  # fmt: skip
@given(calls())
def test_odd_calls_are_answered_well(bounded: None, call: Call) -> None:
    note(shlex.join(["tcformal", *call.words]))
    assert answered(call) == []


@pytest.mark.slow
def test_a_few_odd_calls_of_the_program_itself() -> None:
    """In processes of their own, which add streams, signals and exits."""
    for words in (
        ("eval", UNIT, "--a", "\x1b[2J,1", "--b", "1,1", "--json"),
        ("sweep", "--vectors", "2", "--only", UNIT, "--jobs", "1", "--results", "r-pipes"),
        ("units", "\udcff"),
    ):
        assert answered(Call(words), apart=True) == []


def test_every_command_comes_up() -> None:
    assert WORKING.keys() == dict(commands()).keys()


GOOD = Call(("eval", UNIT, "--a", "1,2", "--b", "3,4", "--json"))


@pytest.mark.parametrize(
    ("defect", "word"),
    [
        (lambda *_: 1 / 0, "internal error"),
        (lambda *_: click.echo("\u202e"), "'\\u202e' is shown"),
        (lambda *_: click.echo("no JSON"), "no JSON"),
        (lambda *_: Path("precious").write_text("changed"), "changed precious"),
        (lambda *_: click.echo("x\n" * 500, err=True), "lines of errors"),
        (lambda *_: (_ for _ in ()).throw(SystemExit(77)), "exit code 77"),
    ],
)
def test_a_defect_is_found(bounded: None, monkeypatch: pytest.MonkeyPatch, defect: object, word: str) -> None:
    """A program that is made worse in one place does not pass a good call."""
    assert answered(GOOD) == []
    monkeypatch.setattr(evaluate, "print_json", defect)
    assert word in "\n".join(answered(GOOD))
