"""The root of the command line: the group that every command joins, its errors and its exit codes."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from tcformal.callbacks import SHORT_NAMES, ShortNames
from tcformal.checks import unknown_sentence
from tcformal.cli.command_list import COMMANDS, EXAMPLES
from tcformal.cli.signals import EndedError, working
from tcformal.errors import InputError, TcformalError
from tcformal.installed import install_module
from tcformal.report.escape import VERBOSE, complain, print_json, say, tell_names
from tcformal.report.parts import show
from tcformal.version import VERSION, collect_rarely

#: What the exit code of every command means.
EXIT_CODES = (
    "Exit codes: 0 answered as asked; 1 answered otherwise; 2 bad input; 3 no answer; "
    "128 + n ended by signal n."
)


def with_examples(command: click.Command, path: str) -> click.Command:
    """A command with its line in lists, whose help, and that of its own commands, ends with examples."""
    lines = "".join(f"  {line}\n" for line in EXAMPLES[path])
    command.epilog = f"\b\nExamples:\n{lines}\n{EXIT_CODES}"
    if path in COMMANDS:
        command.short_help = COMMANDS[path].summary
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            with_examples(inner, f"{path} {name}")
    return command


#: Exit codes: answered as asked, answered otherwise, bad input, no answer.
OK, OTHERWISE, BAD_INPUT, NO_ANSWER = 0, 1, 2, 3

#: Where the option --json is noted.
_JSON = "tcformal.json"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a command: the data that --json prints, what is printed else, and the exit code.

    `data`: plain data, or a function that makes them.  `text`: a text, parts of a view, what rich draws, or
    a function that prints.
    """

    data: Any
    text: Any
    code: int = OK

    def output(self, *, as_json: bool) -> int:
        """Print the answer; the exit code."""
        if as_json:
            print_json(self.data() if callable(self.data) else self.data)
        elif callable(self.text):
            self.text()
        elif isinstance(self.text, str):
            say(self.text)
        elif isinstance(self.text, list):
            show(self.text)
        else:
            from tcformal.report.text import console  # `probe` runs where rich is missing

            console().print(self.text)
        return self.code


#: The variable by which a shell asks for completions.
COMPLETE = "_TCFORMAL_COMPLETE"

#: Modules of commands that could not be imported, each with the missing package.
MISSING: dict[str, str] = {}


class Suggesting(click.Group):
    """A group of commands whose errors say which names are close."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of that name; UsageError with the closest for another, or with the missing package."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            word, known = args[0], self.list_commands(ctx)
            if word in known:
                raise click.UsageError(_lacks(MISSING[COMMANDS[word].module], word)) from None
            raise click.UsageError(unknown_sentence("command", word, known)) from None


class OneSentence(Suggesting):
    """A group of commands that reports every failure as one sentence on standard error and an exit code."""

    group_class = Suggesting

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands; none is imported."""
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands in their sections, with what each does; no empty lines, so that a screen holds all."""
        wide = max(map(len, COMMANDS))
        formatter.write_paragraph()
        for section, names in groupby(COMMANDS, lambda name: COMMANDS[name].section):
            formatter.write_text(section)
            with formatter.indentation():
                formatter.write_dl([(f"{name:{wide}}", COMMANDS[name].summary) for name in names])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, its module imported now; None if a package is missing."""
        if cmd_name in COMMANDS:
            _load(COMMANDS[cmd_name].module)
        found = super().get_command(ctx, cmd_name)
        if found is not None and COMPLETE in os.environ:
            import_module("tcformal.cli.unit_names").complete_units(found)
        return None if found is None else with_examples(found, cmd_name)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and print its answer; the exit code."""
        found = super().invoke(ctx)
        return found.output(as_json=wants_json(ctx)) if isinstance(found, Answer) else found

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command; TcformalError and click's own errors become one line."""
        kwargs["standalone_mode"] = False
        kwargs.setdefault("complete_var", COMPLETE)
        _never_fail_to_encode()
        collect_rarely()
        heard = SHORT_NAMES.set(ShortNames())
        try:
            with working():
                code = super().main(*args, **kwargs) or OK
            tell_names()
            sys.exit(code)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            sys.exit(BAD_INPUT)
        except click.MissingParameter as error:
            fail(_missing(error), BAD_INPUT)
        except click.ClickException as error:
            more = as_in(error.ctx) if type(error) is click.UsageError and "as in" not in str(error) else ""
            fail(error.format_message() + more, BAD_INPUT)
        except TcformalError as error:
            fail(str(error), error.exit_code)
        except (click.Abort, KeyboardInterrupt):
            fail("interrupted", 128 + signal.SIGINT)
        except EndedError as ended:
            fail(ended.sentence, 128 + ended.number)
        except SystemExit as ended:
            if isinstance(ended.__context__, BrokenPipeError):  # which older versions of click end with 1
                _drop_output()
                sys.exit(OK)
            raise
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
                word = next((x for x in sys.argv[1:] if x in COMMANDS), "tcformal")
                fail(_lacks(name, word), BAD_INPUT)
            fail(f"internal error, please report it: {type(error).__name__}: {error}", NO_ANSWER)
        finally:
            SHORT_NAMES.reset(heard)


def _missing(error: click.MissingParameter) -> str:
    """What a command lacks, with an example that has it."""
    name = "a value"
    if isinstance(error.param, click.Option):
        name = error.param.opts[-1]
    elif error.param is not None and error.ctx is not None:
        name = error.param.make_metavar(error.ctx)
    return f"expected {name.rstrip('.')}, but got none{as_in(error.ctx, name)}"


def as_in(context: click.Context | None = None, having: str = "") -> str:
    """`, as in: tcformal …`: an example of the command that is run, if there is one with that text."""
    context = context or click.get_current_context(silent=True)
    names = []
    while context is not None and context.parent is not None:
        names.append(context.info_name or "")
        context = context.parent
    lines = EXAMPLES.get(" ".join(reversed(names)), [])
    chosen = [line for line in lines if having in line] or lines
    return f", as in: {chosen[0].partition(' # ')[0]}" if chosen else ""


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


def _lacks(module: str, command: str) -> str:
    return f"expected {module} for the command {command}, but it is not installed: {install_module(module)}"


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
    """Add the option --json, which every command has, and by which its `Answer` is printed."""
    return _noted(_JSON, "--json", help="Print one JSON object instead of tables.")(command)


def wants_json(context: click.Context | None = None) -> bool:
    """Whether the command that runs was given --json."""
    return bool((context or click.get_current_context()).meta.get(_JSON))


def verbose_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option -v, which `tcformal.report.escape.verbose` reads."""
    what = "Also theorems, sources in full, and commands that show the inputs."
    return _noted(VERBOSE, "-v", "--verbose", help=what)(command)


def _noted(key: str, *names: str, help: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A flag that is noted in the context instead of given to the command."""

    def note(context: click.Context, _: click.Parameter, value: bool) -> None:
        context.meta[key] = value

    return click.option(*names, is_flag=True, expose_value=False, callback=note, help=help)


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


def whole_numbers(option: str, text: str) -> list[int]:
    """The numbers of a list between commas; InputError for another text, or none."""
    try:
        made = [int(x) for x in text.split(",") if x.strip()]
    except ValueError:
        made = []
    if not made:
        raise InputError(f"expected lengths as 16,64,256 for {option}, but got {text!r}")
    return made


def write_output(path: str, content: bytes) -> None:
    """Write a file that -o asks for; InputError without its folder, else errors as `write_whole`."""
    from tcformal.files import write_whole

    if not Path(path).parent.is_dir():
        raise InputError(f"expected a file that can be written, but got {path}: there is no such folder")
    write_whole(Path(path), content)


@click.group(cls=OneSentence, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="tcformal")
def main() -> None:
    """Executable models of matrix units: separate, prove, explain, simulate."""
