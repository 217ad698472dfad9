"""Odd calls of every command: one of four exit codes, few and short sentences, nothing written unasked."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import shlex
import signal
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
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from commands import commands
from damage import damaged
from executors import Inline
from tcformal.cli import group, main
from tcformal.errors import NoAnswerError
from tcformal.files import ENDING, read_packed
from tcformal.report.escape import LONGEST
from tcformal.solve import portfolio

ROOT = Path(__file__).resolve().parents[2]
#: 10,000 in `make fuzz`.
CALLS = int(os.environ.get("ODD_CALLS", "150"))
#: Seconds of the processor and MiB of address space of one call; lines of its errors.
SECONDS, MEMORY_MB, LINES = 30, 8192, 32
UNSAFE = re.compile("[^\n -~\xa1-\xac\xae-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\ud7ff\ue000-\U0010ffff]")

UNIT, SMALL = "x86/vdpbf16ps", "valpey@terms=2"
#: Words of every command that work and take a moment.
_WORDS = """probe devices:; probe template:; vectors: SMALL -n 3;
simulate: product.npz:a product.npz:b --on volta/mma.m8n8k4.f32.f16.f16.f32 -o out/d.npy;
probe plan: UNIT -o out/plan --vectors 3 --no-directed;
probe run: plan.jsonl --device model:UNIT; probe compare: results.jsonl;
probe campaign: --device model:UNIT --minutes 0.0001 --vectors 2 --jobs 1;
probe keep: arrays.npz --unit x86/tdpbf16ps --device nobody; units: UNIT; doctor:; completion: bash;
recipes: cublaslt-66@splits=2; formats: fp16; eval: UNIT --a 1,2 --b 3,4; explain: UNIT --a 1,2 --b 3,4;
explain-mismatch: tfdpa@products=2 --a 1,2 --b 3,4 --expected 11 --got 12; results list:; results show: 0;
compare: product.npz --gpu turing --library plain;
results export: out/export --json; results proof: 0 -o out/proof; results verify:; results prune:;
audit: 0 -o out/audit --time-limit 0.1;
separate: SMALL,carry_bits=3 SMALL; prove: SMALL,carry_bits=3 SMALL; region: SMALL,carry_bits=3 SMALL;
report: --out out/report --playground no-such-package.tgz; run: query.toml; export: SMALL --to verilog;
check-rtl: dot.v --top dot --against SMALL --yosys no-such-program; programs: ootomo-yokota --length 2;
compare-programs: bf16x9@bands=2 fma-chain --assume c=0 --means search;
suite: tfdpa@products=2 --vary fraction_bits=10..11 --vectors 20; exact: tfdpa@products=2;
distance: tfdpa@products=2 tfdpa@products=2; monotonicity: tfdpa@products=2 --no-prove;
accuracy: tfdpa@products=2 --no-prove; statistics: tfdpa@products=2 --elements 4;
figures: mary-5.1 --points 1 --words 1; identify-product: numpy --formats fp32,fp32,fp32 --shape 2,2,3;
identify: --device hand:somebody --formats fp16,fp16,fp32,fp32 --k 2 --next"""
WORKING = dict(
    x.split(":", 1) for x in re.split(r";\s+", _WORDS.replace("UNIT", UNIT).replace("SMALL", SMALL))
)
COMMANDS = {name: command for name, command in commands() if not isinstance(command, click.Group)}
#: Options by which a call takes minutes when all else is well.
_LONG = re.compile("--(all(-pairs)?|(with-)?claims?|prove|bound|points|words|elements|lengths)$")

HOSTILE, NINES = "\x1b[2J\x1b]0;t\x07\u202e\u2028\x9b\udcff[/x]", "9" * 5000


def of(words: str, *more: str) -> st.SearchStrategy[str]:
    """One of some words."""
    return st.sampled_from([*words.split(), *more])


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=9) | of(
    "- -- @ / = , . .. ~ * %s {} {0.__class__} ' \" [/x] \\ é ² ٣ 𝔸 nan inf None true 0 /dev/null /dev/zero "
    "/dev/full /proc/self/mem http://x c:\\x $(id) `id` ; |",
    "", " ", "\n", "\t", HOSTILE, "x" * 100_000, "a/b" * 50,
)  # fmt: skip
values = st.floats().map(repr) | of(
    "0 -0 1 -2^-24 2^999999999999 1e99999999 1e-40001 0x1p99999999 1/0 1/3 nan(0x7e00) nan(0x0) -inf 0x ... ²"
    " 1.5*2^7 1e5*2^40000", "", " ", HOSTILE, NINES, f"0x{'f' * 9000}", f"1/{NINES}"
)  # fmt: skip
units = of(
    f"{UNIT} {SMALL} {SMALL},carry_bits=3 {UNIT}@fraction_bits=3 volta/mma.m8n8k4.f32.f16.f16.f32 tfdpa@ "
    "tfdpa@products tfdpa@products= tfdpa@products=2,products=3 tfdpa@products=² tfdpa@a=fp4 x86/ "
    f"@products=2 tfdpa@products=99999999999 tfdpa@products=2,fraction_bits=-1 valpey@terms=1000000 "
    f"tfdpa@products={NINES}"
)
paths = of(
    "plan.jsonl results.jsonl cases.json query.toml witness.json arrays.npz product.npz r-none r-empty r-own "
    "folder pipe link dangling loop missing missing.toml /dev/null /dev/zero",
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
    "assume": texts | of("c=0 finite exponents=1..0 exponents=-9999999999..9999999999 c=2^99999999"),
    "vary": texts | of("fraction_bits fraction_bits=1..99999999999 fraction_bits=3..1 x=1 products=1..3"),
    "settings": texts | of(f"terms=3 terms=x terms={NINES} y=1 ="),
    "solvers": texts | of("cadical z3,cvc5 nobody ,"),
}  # fmt: skip

QUERY = b"""title = "A question"\nsource = "nobody"\nparameters = { terms = 2 }\n[[ask]]
name = "{terms} and {x}"
cases = [{ x = 3 }, { x = 4 }]
separate = ["valpey@terms={terms},carry_bits={x}", "valpey@terms={terms}"]
expected = "SEPARATED"\n"""
#: Files of kept records, and results folders.
RECORDS = ("answers", "claims", "queries", "conformance", "kernels", "proofs")
FOLDERS = ("r-none", "r-empty", "r-own")


@cache
def whole() -> dict[str, bytes]:
    """One whole file of every kind that is read, and the first short records of the project's own results."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        for words in (f"plan {UNIT} -o p --vectors 4", f"run p --device model:{UNIT} --results r"):
            assert CliRunner().invoke(main, ["probe", *words.split()]).exit_code == 0
        (results,) = Path("r").rglob("*.jsonl")
        made = {
            "plan.jsonl": Path("p").read_bytes(),
            "results.jsonl": results.read_bytes(),
            "query.toml": QUERY,
        }
        two, word = np.zeros((2, 2), np.uint16), np.zeros(2, np.uint32)
        np.savez("arrays.npz", a=two, b=two, c=word, expected=word, got=word + 1)
        made["arrays.npz"] = Path("arrays.npz").read_bytes()
        ones, d = np.ones((2, 2), np.float16), np.full((2, 2), 2, np.float32)
        np.savez("product.npz", a=ones, b=ones, expected=d, got=d)
        made["product.npz"] = Path("product.npz").read_bytes()
    made["cases.json"] = b'[{"a": ["1", "2"], "b": ["1", "2"], "c": "0", "expected": "5", "got": "6"}]'
    made["witness.json"] = b'{"witness": {"a": ["0x0", "0x0"], "b": ["0x0", "0x0"], "c": "0x0"}}'
    for name in RECORDS:
        path = ROOT / "results" / f"{name}.jsonl"
        packed = path.with_name(path.name + ENDING)
        content = read_packed(packed) if packed.exists() else path.read_bytes() if path.exists() else b""
        short = (line for line in content.splitlines() if len(line) < 20_000)
        made[f"r-own/{name}.jsonl"] = b"\n".join(islice(short, 3))
    return made


@dataclass(frozen=True)
class Call:
    """One call of the program, and files of its folder that are not whole."""

    words: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)

    def may_write(self, name: str) -> bool:
        """Whether a file is named by the words, lies in such a one, or around it."""
        named = [word.removeprefix("./") for word in self.words]
        around = any(f"{name}/".startswith(f"{w}/") or f"{w}/".startswith(f"{name}/") for w in named if w)
        return around or bool({"", "."} & {*named}) or name.partition("/")[0] in {"out", *FOLDERS}


@st.composite
def calls(draw: st.DrawFn) -> Call:
    """A call that works, with some of its words, options and files made odd."""
    name, command = draw(st.sampled_from(sorted(COMMANDS.items())))
    words = WORKING[name].split()
    options = [p for p in command.params if isinstance(p, click.Option)]
    for _ in range(draw(st.integers(0, 3))):
        if words and draw(st.integers(0, 9)) < 3:
            words[draw(st.integers(0, len(words) - 1))] = draw(st.one_of(units, paths, operands, texts))
        elif options:
            option = draw(st.sampled_from(options))
            words.append(draw(st.sampled_from([*option.opts, *option.secondary_opts])))
            given = GIVEN.get(option.type, GIVEN.get(option.name, texts))
            if isinstance(option.type, click.Choice):
                given = st.sampled_from([*map(str, option.type.choices), "x"])
            words += [] if option.is_flag else [draw(given)]
    if words and draw(st.integers(0, 9)) == 0:
        del words[draw(st.integers(0, len(words) - 1))]
    if any(map(_LONG.match, words)):
        words = [*(word for word in words if not _LONG.match(word)), "--no-such-option"]
    has = {word for option in options for word in option.opts}
    if "--results" in has and draw(st.booleans()):
        words += ["--results", draw(st.sampled_from(FOLDERS))]
    words += ["--json"] if "--json" in has and draw(st.booleans()) else []
    some = draw(st.sets(st.sampled_from(sorted(whole())), max_size=2))
    return Call((*name.split(), *words), {x: draw(damaged(whole()[x])) for x in sorted(some)})


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


def state() -> set[tuple[str, int, int, int]]:
    """Every file and folder of the working folder: what it is, how long, and which."""
    every = ((path, path.lstat()) for path in Path().rglob("*"))
    return {(str(p), x.st_mode, 0 if p.is_dir() else x.st_size, x.st_ino) for p, x in every}


class OverdueError(BaseException):
    """A call has taken too long."""


def answered(call: Call) -> list[str]:
    """What is wrong with the answer to a call, in a folder of its own."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        fill(call)
        before = state()
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            done = CliRunner().invoke(main, list(call.words), env={"TCFORMAL_RESULTS": "r-none"})
        except OverdueError:
            return [f"still running after {SECONDS} s", shlex.join(call.words)]
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        code, out, err = done.exit_code, done.stdout, done.stderr
        unasked = sorted({x for x, *_ in before ^ state() if not call.may_write(x)})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        err += f"Traceback: {done.exception!r:.500}"
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


@pytest.fixture(scope="module")
def bounded() -> Iterator[None]:
    """Calls within limits and without what takes minutes: solvers, workers, explanations of mismatches."""

    def fail(error: BaseException) -> Any:
        raise error

    whole()
    limits = resource.getrlimit(resource.RLIMIT_AS)
    handler = signal.signal(signal.SIGVTALRM, lambda *_: fail(OverdueError()))
    with pytest.MonkeyPatch.context() as patch:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MB << 20, limits[1]))
        patch.setattr(portfolio._Race, "run", lambda race, names, arbiter: arbiter.exhausted())
        patch.setattr("tcformal.cli.compare.explain_mismatch", lambda *_: fail(NoAnswerError("")))
        patch.setattr("tcformal.report.site.pages.known_queries", dict)
        for module in ("probe", "all_pairs"):
            patch.setattr(f"tcformal.cli.{module}.SturdyPool", Inline)
        yield
    resource.setrlimit(resource.RLIMIT_AS, limits)
    signal.signal(signal.SIGVTALRM, handler)


@pytest.mark.slow
@settings(max_examples=CALLS, derandomize="ODD_CALLS" not in os.environ, deadline=None, database=None,
          suppress_health_check=list(HealthCheck))  # fmt: skip
@given(calls())
def test_odd_calls_are_answered_well(bounded: None, call: Call) -> None:
    note(shlex.join(["tcformal", *call.words]))
    assert answered(call) == []


def test_every_command_comes_up() -> None:
    assert WORKING.keys() == COMMANDS.keys()


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
    monkeypatch.setattr(group, "print_json", defect)
    assert word in "\n".join(answered(GOOD))
