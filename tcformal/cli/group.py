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

from tcformal.cli.examples import EXIT_CODES, with_examples
from tcformal.cli.signals import EndedError, working
from tcformal.errors import TcformalError
from tcformal.report.escape import complain
from tcformal.version import VERSION

#: Exit codes: answered as asked, answered otherwise, bad input, no answer.
OK, OTHERWISE, BAD_INPUT, NO_ANSWER = 0, 1, 2, 3


#: The modules that make each command, in order.
MODULES: dict[str, tuple[str, ...]] = {
    "check-rtl": ("rtl",),
    "compare-programs": ("programs",),
    "eval": ("single",),
    "explain": ("single",),
    "explain-mismatch": ("devices.mismatch",),
    "export": ("export",),
    "formats": ("catalogue",),
    "identify": ("devices.identify",),
    "probe": ("devices.probe", "devices.campaign"),
    "programs": ("programs",),
    "prove": ("questions.prove",),
    "recipes": ("catalogue",),
    "region": ("questions.region",),
    "results": ("results", "verify"),
    "run": ("run",),
    "separate": ("questions.separate",),
    "suite": ("suite",),
    "sweep": ("sweep",),
    "units": ("catalogue",),
}

#: Modules of commands that could not be imported, each with the missing package.
MISSING: dict[str, str] = {}


class OneSentence(click.Group):
    """A group of commands that reports every failure as one sentence on standard error and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands whose modules can be imported."""
        return [name for name in MODULES if self.get_command(ctx, name) is not None]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, its module imported now; None if a package is missing."""
        for module in MODULES.get(cmd_name, ()):
            _load(module)
        found = super().get_command(ctx, cmd_name)
        return None if found is None else with_examples(found, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of that name; the error for an unknown name lists missing packages."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            self.list_commands(ctx)
            if not MISSING:
                raise
            packages = ", ".join(sorted(set(MISSING.values())))
            raise click.UsageError(
                f"expected a command, but got: {error.format_message()} "
                f"Not installed here, and needed by some commands: {packages}."
            ) from None

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command; TcformalError and click's own errors become one line."""
        kwargs["standalone_mode"] = False
        _never_fail_to_encode()
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
            fail(f"internal error, please report it: {type(error).__name__}: {error}", NO_ANSWER)


def _load(module: str) -> None:
    """Import a module of commands; one that lacks a package is entered in MISSING."""
    try:
        import_module(f"tcformal.cli.{module}")
    except ModuleNotFoundError as error:
        if not error.name or error.name.partition(".")[0] == "tcformal":
            raise
        MISSING[module] = error.name.partition(".")[0]


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
