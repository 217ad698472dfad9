"""`export`: a unit's design in the languages of solvers, model checkers, simulators and compilers."""

from __future__ import annotations

import sys

import click

from tcformal.backends.export.formats import FORMATS, written
from tcformal.cli.group import as_in, json_option, main, wants_json, write_output
from tcformal.design.names import resolve
from tcformal.errors import InputError
from tcformal.programs.exported import exported, exported_program
from tcformal.programs.program import names_a_program, program
from tcformal.report.escape import say


@main.command()
@click.argument("name", metavar="UNIT")
@click.option("--to", type=click.Choice(list(FORMATS)), help="The language.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="A file to write instead of printing.")
@click.option("--length", type=int, help="The number of products of a program; by default 1.")
@json_option
def export(name: str, to: str | None, output: str | None, length: int | None) -> None:
    """Write one dot product d = a·b + c of a unit, or of a program, as a design for other tools.

    smtlib: declarations of a_0, b_0, …, c, definitions of every stage and of d, to which assertions are
    added.  btor2: a word-level netlist.  aiger: and-gates (binary) with names.  verilog: a combinational,
    synthesisable SystemVerilog module.  c: a header with an inline function, and one for DPI-C.  json: the
    model's own DAG.  Operands and result are raw encodings.
    """
    as_json = wants_json()
    if as_json and to not in (None, "json"):
        raise InputError(f"expected --json alone or with --to json, but got --to {to}")
    if to is None and not as_json:
        raise InputError(f"expected a language after --to ({', '.join(FORMATS)}), but got none{as_in()}")
    if output is None and to == "aiger" and sys.stdout.isatty():
        raise InputError("expected -o FILE for aiger, which is binary, but the output is a terminal")
    if names_a_program(name):
        design = exported_program(program(name), 1 if length is None else length)
    elif length is not None:
        raise InputError(f"expected --length with a program only, but got it with {name}")
    else:
        design = exported(resolve(name))
    content = written(design, to or "json")
    if output is None:
        if to == "aiger":  # binary: nothing of it is text for a terminal
            sys.stdout.buffer.write(content)
        else:
            say(content.decode(), end="")
        return
    write_output(output, content)
    say(f"{output}: d = a·b + c of {name} as {to or 'json'}, {len(content)} bytes")
