"""The root of the command line: the group that every command joins, its errors and its exit codes."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import click

from tcformal.cli.signals import EndedError, working
from tcformal.errors import TcformalError
from tcformal.report.escape import complain
from tcformal.report.escape import print_json as print_json
from tcformal.version import VERSION

#: Exit codes: answered as asked, answered otherwise, bad input, no answer.
OK, OTHERWISE, BAD_INPUT, NO_ANSWER = 0, 1, 2, 3


#: Modules of commands that could not be loaded, with the package that each lacks.
MISSING: dict[str, str] = {}


class OneSentence(click.Group):
    """A group whose every failure is one sentence on standard error and an exit code."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of that name; where commands are missing for want of a package, the error says so."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
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
            # Nobody reads on.
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


def fail(sentence: str, code: int) -> None:
    """Say one sentence on standard error, where that can be written, and end with an exit code."""
    with contextlib.suppress(OSError):
        complain("error", sentence)
    sys.exit(code)


def _never_fail_to_encode() -> None:
    """Where a stream's encoding lacks a character, write its escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Have what is still buffered go nowhere, so that it does not raise again at exit."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option that every command has."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")(
        command
    )


def results_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option that names the results folder."""
    return click.option(
        "--results",
        "folder",
        envvar="TCFORMAL_RESULTS",
        default="results",
        show_default=True,
        help="Results folder.",
    )(command)


@click.group(cls=OneSentence, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="tcformal")
def main() -> None:
    """Formal, executable models of matrix units: separate, prove, explain, simulate."""
