"""The root of the command line: the group that every command joins, its errors and its exit codes."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from tcformal.callbacks import SHORT_NAMES, ShortNames
from tcformal.checks import unknown_sentence
from tcformal.cli.signals import EndedError, working
from tcformal.errors import InputError, TcformalError
from tcformal.installed import install
from tcformal.report.escape import complain, tell_names
from tcformal.version import VERSION, collect_rarely

#: What the exit code of every command means.
EXIT_CODES = (
    "Exit codes: 0 answered as asked; 1 answered otherwise; 2 bad input; 3 no answer; "
    "128 + n ended by signal n."
)

_AMPERE, _HOPPER = (f"{arch}/mma.m16n8k16.f32.f16.f16.f32" for arch in ("ampere", "hopper"))
_OPERANDS = "--a 16384,... --b 1,... --c '-2^-11'"

#: Examples, in the order in which they can be tried in one folder; those of a group after its name.
_EXAMPLES = f"""
units --arch hopper --format e4m3
units {_AMPERE}
formats
formats bf16 --json
recipes
recipes cublaslt-66@splits=4,output=bf16
eval {_AMPERE} {_HOPPER} {_OPERANDS}
eval {_AMPERE}@fraction_bits=25 --a 1.5,0x3c00,... --b 2^-24,1,... --c 1/8
explain {_AMPERE} {_HOPPER} {_OPERANDS}
explain ootomo-yokota --a 1.25,3 --b 0x3f800001,1 --no-calls
explain {_AMPERE} {_HOPPER} {_OPERANDS} --svg sum.svg --html sum.html
compare a100.npy h100.npy --a a.npy --b b.npy
compare layer.npz:out --a layer.npz:x --b weights.safetensors:w --gpu h100
compare {_AMPERE} {_OPERANDS} --expected 16384 --got 0x467fffff
explain-mismatch {_AMPERE} {_OPERANDS} --expected 16384 --got 0x467fffff
separate {_AMPERE} {_HOPPER} --explain
separate {_AMPERE} {_AMPERE}@fraction_bits=25 --assume finite --assume c=0
separate --all-pairs volta --jobs 2
prove 'valpey@terms=2,carry_bits=2' 'valpey@terms=2' --certify
prove 'valpey@terms=3' --claim product-order
prove cdna3/v_mfma_f32_32x32x8_f16 --claim negation-symmetry --assume c=0
accuracy volta/mma.m8n8k4.f32.f16.f16.f32
accuracy {_HOPPER} --length 4096
accuracy {_HOPPER} --length 4096 --promote 128 --no-prove
exact {_HOPPER}
monotonicity volta/mma.m8n8k4.f32.f16.f16.f32
distance {_AMPERE} {_HOPPER}
statistics {_AMPERE} {_HOPPER} --lengths 16,64,256 --elements 64
statistics 'tfdpa@a_format=e2m1,b_format=e2m1,products=2' --bias --distribution encodings
statistics {_HOPPER} --lengths 16,256,4096 --bound --plot growth.svg
statistics deepgemm-fp8 fma-chain --lengths 256,1024 --elements 64 --sweep
figures mary-5.1 --points 3 --words 1
figures mary-5.2 --points 24 --unit hopper/wgmma.m64n8k32.f32.e4m3.e4m3 --plot mary.pdf
region {_AMPERE} {_HOPPER}
region {_AMPERE} {_HOPPER} --assume finite --assume c=0
report --out site
report --playground pyodide-314.0.7.tgz
run --list
run disagreements/truncation
run valpey/carry-bits --only 5
suite 'valpey@terms=3' --vary carry_bits=1..3
suite {_AMPERE}
suite {_HOPPER} --vary fraction_bits=10..40
suite {_AMPERE} --vary conversion --vary alignment_rounding
suite --formats fp16,fp16,fp32,fp32 --format c -o suite.h
suite 'valpey@terms=3' --vary carry_bits=1..3 --format json -o s.json
suite --check s.json
completion bash
completion zsh
doctor
doctor --json
programs
programs bf16x9@bands=3 --length 2
compare-programs bf16x9 fma-chain --assume c=0
compare-programs cutlass-3xtf32 triton-3xtf32 --differ
compare-programs chained deepgemm-fp8 --length 512 --assume c=0
export {_AMPERE} --to verilog -o ampere.sv
export 'valpey@terms=5,carry_bits=3' --to smtlib
export {_HOPPER} --to c -o hopper.h
export bf16x9 --length 2 --to smtlib -o bf16x9.smt2
check-rtl dot.v --top dot --against {_AMPERE} -o bench.sv
check-rtl dot.v --top dot --against 'valpey@terms=3' --map 'a[0]=x[15:0]' --map 'a[1]=y' \
--map d=result --tie rst_n=1 --latency 3
results: results list
results: results verify
results list --verdict separated --last 5
results show 4c2f
results proof 4c2f -o carry-bits
results export --csv -
results verify
results verify --claims
results prune
results prune --pack
identify --device model:{_AMPERE} --formats fp16,fp16,fp32,fp32 --k 16 --vectors 10000
identify --device model:{_AMPERE} --unit {_AMPERE} --vectors 10000 --plot growth.svg
identify-product numpy --formats fp32,fp32,fp32 --shape 8,8,40
identify-product numpy --formats fp32,fp32,fp32 --shape 1,16,48 --rows 1..64
probe: probe devices
probe: probe plan x86/vdpbf16ps -o plan.json --vectors 1000
probe devices
probe plan x86/vdpbf16ps -o plan.json --vectors 1000 --no-stored
probe plan {_AMPERE} -o ampere.json
probe run plan.json --device model:x86/vdpbf16ps
probe run plan.json --device cpu
probe keep tiles.npz --unit x86/tdpbf16ps --device 'Intel Xeon with AMX'
probe compare results/hardware/cpu/x86/vdpbf16ps.jsonl --explain
probe campaign --device cuda:0 --minutes 8
"""


def _examples() -> dict[str, list[str]]:
    """The examples of each command, and of each command of a group."""
    made: dict[str, list[str]] = {}
    for line in _EXAMPLES.strip().splitlines():
        group, _, words = line.rpartition(": ")
        first, second, *_ = [*words.split(), ""]
        path = group or (f"{first} {second}" if first in ("probe", "results") else first)
        made.setdefault(path, []).append(f"tcformal {words}")
    return made


EXAMPLES = _examples()


def with_examples(command: click.Command, path: str) -> click.Command:
    """A command whose help, and that of its own commands, ends with its examples and the exit codes."""
    lines = "".join(f"  {line}\n" for line in EXAMPLES.get(path, ()))
    command.epilog = f"\b\nExamples:\n{lines}\n{EXIT_CODES}" if lines else EXIT_CODES
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            with_examples(inner, f"{path} {name}")
    return command


#: Exit codes: answered as asked, answered otherwise, bad input, no answer.
OK, OTHERWISE, BAD_INPUT, NO_ANSWER = 0, 1, 2, 3

#: What the help of the program says of each command: to list them imports none.
SUMMARIES: dict[str, str] = {
    "accuracy": "The largest error of a dot product in units of Σ|x_k·y_k|: a proved bound, attaining "
    "inputs.",
    "check-rtl": "Compare Verilog of one dot product with a unit (exit 0 if they are equal on all inputs).",
    "compare": "Rounding or bug? Say why two outputs of one matrix product differ, or what made one.",
    "compare-programs": "Is program A ever worse than B: inputs, or a proof that there are none (exit 0)?",
    "completion": "Print what makes a shell complete commands, options and names of units.",
    "distance": "How far the results of two units can be apart on the same inputs: a proved bound, "
    "and inputs.",
    "doctor": "Say what is installed, what is missing, and what it would give.",
    "eval": "Compute d = a·b + c on one or more units.",
    "exact": "How wide slices of integers may be, and how many products of them a unit sums exactly.",
    "explain": "Explain a result bit by bit; with two units, show where they diverge.",
    "explain-mismatch": "The earlier name of compare for one dot product on a unit.",
    "export": "Write one dot product d = a·b + c of a unit, or of a program, as a design for other tools.",
    "figures": "Draw a figure of the literature again: mary-5.1 and mary-5.2, errors of Model 1 against n.",
    "formats": "List the floating-point formats, or show one (NAME).",
    "identify": "Identify the design of a device, given its operand formats alone.",
    "identify-product": "Identify a library's matrix product: the order of its sums, and the unit.",
    "monotonicity": "How far a result falls where c or a factor grows by one step.",
    "probe": "Run dot products on hardware and compare with the models: devices, plans, runs, comparisons.",
    "programs": "List the programs over units, or show one: its text, parameters, source and steps.",
    "prove": "Prove two units equal on all inputs, or a claim about one unit (exit 0 if they "
    "are, or it holds).",
    "recipes": "List the recipes of matrix products, or show one (NAME, NAME@field=value,…) with its "
    "sources.",
    "region": "Find the largest spread of exponents within which two units give the same bits.",
    "report": "Write what the records hold as pages that open from the disk.",
    "results": "Kept answers: list, show, verify, proof, export, prune.",
    "run": "Ask the questions of query files (names or paths) and compare the answers with "
    "the expected ones.",
    "separate": "Find simple inputs on which two units differ (exit 0 if found).",
    "statistics": "Errors of random matrix products against exact sums, in units of u·|A||B|: quantiles and "
    "growth with n.",
    "suite": "Find the fewest inputs that separate all designs of a space.",
    "units": "List the catalogued units, or show one (NAME) with the source of every parameter.",
}

#: Modules of commands, where they are not named as the command.
_ELSEWHERE = {
    "compare-programs": "programs", "distance": "accuracy", "eval": "evaluate", "exact": "accuracy",
    "explain-mismatch": "compare", "formats": "catalogue", "monotonicity": "accuracy", "units": "catalogue",
}  # fmt: skip
#: The module that makes each command.
MODULES = {name: _ELSEWHERE.get(name, name.replace("-", "_")) for name in SUMMARIES}

#: The variable by which a shell asks for completions.
COMPLETE = "_TCFORMAL_COMPLETE"

#: Modules of commands that could not be imported, each with the missing package.
MISSING: dict[str, str] = {}


class OneSentence(click.Group):
    """A group of commands that reports every failure as one sentence on standard error and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands; none is imported."""
        return list(MODULES)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands with what each does, on lines of their own."""
        with formatter.section("Commands"):
            formatter.write_dl(list(SUMMARIES.items()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, its module imported now; None if a package is missing."""
        if cmd_name in MODULES:
            _load(MODULES[cmd_name])
        found = super().get_command(ctx, cmd_name)
        if found is not None and COMPLETE in os.environ:
            import_module("tcformal.cli.completion").complete_units(found)
        return None if found is None else with_examples(found, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of that name; the error says which names are close, or which package is missing."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            word = args[0]
            if word not in MODULES:
                raise click.UsageError(unknown_sentence("command", word, list(MODULES))) from None
            packages = ", ".join(sorted(set(MISSING.values())))
            raise click.UsageError(
                f"expected {packages} for the command {word}, but it is not installed: {install()}"
            ) from None

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command; TcformalError and click's own errors become one line."""
        kwargs["standalone_mode"] = False
        kwargs.setdefault("complete_var", COMPLETE)
        _never_fail_to_encode()
        collect_rarely()
        try:
            SHORT_NAMES.set(ShortNames())
            with working():
                code = super().main(*args, **kwargs) or OK
            tell_names()
            sys.exit(code)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            sys.exit(BAD_INPUT)
        except click.ClickException as error:
            fail(error.format_message(), BAD_INPUT)
        except TcformalError as error:
            fail(str(error), error.exit_code)
        except (click.Abort, KeyboardInterrupt):
            fail("interrupted", 128 + signal.SIGINT)
        except EndedError as ended:
            fail(ended.sentence, 128 + ended.number)
        except BrokenPipeError:
            # The reader has closed the pipe.
            _drop_output()
            sys.exit(OK)
        except OSError as error:
            if os.environ.get("TCFORMAL_DEBUG"):
                raise
            _drop_output()
            where = f" {error.filename}" if error.filename else ""
            fail(f"expected to read and write files, but got: {error.strerror or error}{where}", NO_ANSWER)
        except Exception as error:
            if os.environ.get("TCFORMAL_DEBUG"):
                raise
            if isinstance(error, ModuleNotFoundError) and (name := _package(error)):
                word = next((x for x in sys.argv[1:] if x in MODULES), "tcformal")
                fail(
                    f"expected {name} for the command {word}, but it is not installed: {install()}", BAD_INPUT
                )
            fail(f"internal error, please report it: {type(error).__name__}: {error}", NO_ANSWER)


def _load(module: str) -> None:
    """Import a module of commands; one that lacks a package is entered in MISSING."""
    try:
        import_module(f"tcformal.cli.{module}")
    except ModuleNotFoundError as error:
        name = _package(error)
        if not name:
            raise
        MISSING[module] = name


def _package(error: ModuleNotFoundError) -> str:
    """The package that an import lacks; empty for a module of this one."""
    name = (error.name or "").partition(".")[0]
    return "" if name == "tcformal" else name


def fail(sentence: str, code: int) -> None:
    """Print one sentence on standard error, if it can be written, and exit with a code."""
    with contextlib.suppress(OSError):
        complain("error", sentence)
    sys.exit(code)


def _never_fail_to_encode() -> None:
    """Write characters that a stream's encoding lacks as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Discard buffered output, so that it does not raise again at exit."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option --json, which every command has."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")(
        command
    )


def results_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option --results, which names the results folder."""
    return click.option(
        "--results",
        "folder",
        envvar="TCFORMAL_RESULTS",
        default="results",
        show_default=True,
        help="Results folder.",
    )(command)


def write_output(path: str, content: bytes) -> None:
    """Write a file that -o asks for; InputError without its folder, else errors as `write_whole`."""
    from tcformal.files import write_whole

    if not Path(path).parent.is_dir():
        raise InputError(f"expected a file that can be written, but got {path}: there is no such folder")
    write_whole(Path(path), content)


@click.group(cls=OneSentence, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="tcformal")
def main() -> None:
    """Formal, executable models of matrix units: separate, prove, explain, simulate."""
