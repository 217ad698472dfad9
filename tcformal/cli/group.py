"""The root of the command line: the group that every command joins, its errors and its exit codes."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import click

from tcformal.checks import unknown_sentence
from tcformal.cli.examples import EXIT_CODES, with_examples
from tcformal.cli.signals import EndedError, working
from tcformal.errors import TcformalError
from tcformal.installed import install
from tcformal.report.escape import complain
from tcformal.version import VERSION, collect_rarely

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
    "distance": "How far the results of two units can be apart on the same inputs: a proved bound, and "
    "inputs.",
    "doctor": "Say what is installed, what is missing, and what it would give.",
    "eval": "Compute d = a·b + c on one or more units.",
    "exact": "How wide slices of integers may be, and how many products of them a unit sums exactly.",
    "explain": "Explain a result bit by bit; with two units, show where they diverge.",
    "explain-mismatch": "Rounding or bug? Find the designs that give an expected result, and those that "
    "give the one obtained.",
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

#: The modules that make each command, in order.
MODULES: dict[str, tuple[str, ...]] = {
    "accuracy": ("numbers.accuracy",),
    "check-rtl": ("rtl",),
    "compare": ("compare",),
    "compare-programs": ("programs.programs",),
    "completion": ("setup.completion",),
    "distance": ("numbers.accuracy",),
    "doctor": ("setup.doctor",),
    "eval": ("questions.evaluate",),
    "exact": ("numbers.accuracy",),
    "explain": ("questions.explain",),
    "explain-mismatch": ("devices.mismatch",),
    "export": ("export",),
    "figures": ("numbers.figures",),
    "formats": ("catalogue",),
    "identify": ("devices.identify",),
    "identify-product": ("devices.product",),
    "monotonicity": ("numbers.accuracy",),
    "probe": ("devices.probe", "devices.campaign"),
    "programs": ("programs.programs",),
    "prove": ("questions.prove",),
    "recipes": ("programs.recipes",),
    "region": ("questions.region",),
    "report": ("report",),
    "results": ("results", "verify"),
    "run": ("run",),
    "separate": ("questions.separate",),
    "statistics": ("numbers.statistics",),
    "suite": ("suite",),
    "units": ("catalogue",),
}

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
        for module in MODULES.get(cmd_name, ()):
            _load(module)
        found = super().get_command(ctx, cmd_name)
        if found is not None and COMPLETE in os.environ:
            import_module("tcformal.cli.setup.completion").complete_units(found)
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
            with working():
                code = super().main(*args, **kwargs) or OK
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


@click.group(cls=OneSentence, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="tcformal")
def main() -> None:
    """Formal, executable models of matrix units: separate, prove, explain, simulate."""
