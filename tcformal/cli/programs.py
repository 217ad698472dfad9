"""`programs` and `compare-programs`: algorithms on units, shown and compared."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import click
from rich.console import Group, RenderableType
from rich.text import Text

from tcformal.analysis.bounds.program_accuracy import ProgramAccuracy, excess, program_accuracy
from tcformal.analysis.bounds.word_forms import EXPONENTS
from tcformal.checks import exponent_range
from tcformal.cli.accuracy import program_accuracy_data, program_accuracy_view
from tcformal.cli.group import NO_ANSWER, OK, OTHERWISE, Answer, json_option, main, verbose_option
from tcformal.cli.solver_options import SolverOptions, solver_options
from tcformal.errors import TcformalError
from tcformal.oracle.numerals import number_text
from tcformal.oracle.values import hex_word, value_and_hex
from tcformal.programs.program import Program, known_programs, program
from tcformal.query.assume import Assumptions, from_texts
from tcformal.query.comparison.error_comparison import explain_program
from tcformal.query.comparison.parameters import C_EXPONENTS, MEASURES, read_excess
from tcformal.query.programs import MEANS, SOLVED, ProgramsCompared, compare_programs
from tcformal.query.question import Kind
from tcformal.report.escape import Plain, say, say_command, verbose
from tcformal.report.text import SCREEN, console, headline, one_line, table, with_decimal


def program_data(p: Program) -> Plain:
    """A program as plain data."""
    return {
        "name": p.name, "title": p.title, "source": p.source, "note": p.note.strip(),
        "inputs": _inputs(p), "parameters": dict(p.parameters),
        "body": p.body.strip("\n"),
    }  # fmt: skip


def _inputs(p: Program) -> dict[str, str]:
    """The formats of a, b and c, or what stands for them."""

    def name(letter: str) -> str:
        try:
            return p.input_format(letter).name
        except TcformalError:
            return str(p.inputs[letter])

    return {letter: name(letter) for letter in "abc"}


def programs_table(programs: Sequence[Program]) -> RenderableType:
    """One line for each program."""
    rows = ((p.name, "{a} · {b} + {c}".format(**_inputs(p)), p.title) for p in programs)
    return one_line("program", "a · b + c", "what it computes", rows=rows)


def program_card(p: Program, products: int | None = None) -> RenderableType:
    """A program's text, parameters and source; with a length, its steps."""
    lines = [f"source: {p.source}"]
    lines.append("inputs: " + ", ".join(f"{k} in {v}" for k, v in _inputs(p).items()))
    lines += [f"parameter {key} = {value}" for key, value in p.parameters.items()]
    parts: list[RenderableType] = [
        Text(p.name, style="bold").append(f": {p.title}", style="not bold"),
        Text("\n".join(lines)),
    ]
    parts += [Text(" ".join(x.split()), style="dim") for x in p.note.split("\n\n") if x.strip()]
    body = p.body.strip("\n").splitlines()
    most = len(body) if verbose() or len(body) <= SCREEN else SCREEN // 2
    parts.append(Text("\n" + "\n".join(body[:most])))
    if most < len(body):
        parts.append(Text(f"… {len(body) - most} more lines: -v", style="dim"))
    if products is not None:
        steps = p.plan(products).steps
        rows = ((x.name, "" if x.fmt is None else x.fmt.name, x.text) for x in steps)
        parts += [Text(f"\nsteps for {products} products:"), table("step", "format", "what", rows=rows)]
    return Group(*parts)


def compared_view(r: ProgramsCompared) -> RenderableType:
    """A comparison for people: verdict, means, inputs, results and errors."""
    style = {"VIOLATED": "bold red", "HOLDS": "bold green"}.get(r.kind.name, "bold yellow")
    head = headline(r.kind.name, style, f": {r.reason}")
    parts: list[RenderableType] = [head, Text("assumed: " + "; ".join(r.asked.texts()))]
    if r.drawn is not None:
        d = r.drawn
        counts = f"rows: {d.tried} tried, {d.compared} compared; worse {d.worse}, better {d.better}"
        if d.excess is not None:
            unit = "ulp" if r.asked.measure == "ulp" else "of Σ|a·b|"
            counts += f"; largest excess {float(d.excess):.4g} {unit}"
        parts.append(Text(counts))
    if r.witness is not None and r.results is not None:
        parts += _witness(r)
    return Group(*parts, Text(f"means: {r.means}; {r.seconds:.2f} s", style="dim"))


def show_compared(r: ProgramsCompared) -> None:
    """Print a comparison, and the commands that show both results bit by bit."""
    console().print(compared_view(r))
    if r.verdict is not None and r.verdict.replayed is not None:
        for p in r.asked.programs:
            say_command(explain_program(p, r.asked.formats, r.verdict.replayed))


def _witness(r: ProgramsCompared) -> list[RenderableType]:
    w, formats = r.witness, r.asked.formats
    if w is None or r.results is None:
        return []
    live = [i for i in range(len(w.a)) if w.a[i] or w.b[i]][:16]
    a, b = formats["a"], formats["b"]
    pairs = ((str(i), value_and_hex(a, w.a[i]), value_and_hex(b, w.b[i])) for i in live)
    rest = len(w.a) - len(live)
    tail = f"c = {value_and_hex(formats['c'], w.c)}" + (f"; {rest} products more" if rest else "")
    made = table("program", "result", "encoding", "error in ulp")
    run = None if r.verdict is None else r.verdict.replayed
    ulps = [None, None] if run is None or run.ulps is None else list(run.ulps)
    for label, raw, fmt, error in zip(r.asked.labels, r.results, r.asked.result_formats, ulps, strict=True):
        text = "" if error is None else f"{float(error):.6g}"
        made.add_row(label, with_decimal(fmt, raw), hex_word(fmt, raw), text)
    parts: list[RenderableType] = [table(">k", "a[k]", "b[k]", rows=pairs), Text(tail), made]
    if run is not None and run.exact is not None:
        parts.append(Text(f"exact: {number_text(run.exact)}"))
    return parts


#: Answers by a bound of A's error alone: what B does then does not matter.
THEOREM = "theorem"


@main.command()
@click.argument("name", required=False, metavar="[PROGRAM]")
@click.option("--length", type=int, help="Also show the steps for so many products.")
@verbose_option
@json_option
def programs(name: str | None, length: int | None) -> Answer:
    """List the programs over units, or show one: its text, parameters, source and steps.

    PROGRAM is a name of the list or a file that ends in .toml, with @parameter=value,… or without.
    """
    if name is not None:
        p = program(name)
        rows = [] if length is None else p.plan(length).steps
        steps = {} if length is None else {"steps": [{"name": x.name, "what": x.text} for x in rows]}
        return Answer(program_data(p) | steps, program_card(p, length))
    if length is not None:
        raise click.UsageError("expected --length with a PROGRAM only")
    found = [program(x) for x in known_programs()]
    own = "tcformal programs NAME: its text and source; a file of your own is named by its path"
    view = Group(Text(f"{len(found)} programs; {own}"), programs_table(found))
    return Answer([program_data(p) for p in found], view)


@main.command(name="compare-programs")
@click.argument("worse", metavar="A")
@click.argument("other", metavar="B")
@click.option("--length", type=int, default=1, show_default=True, help="Number of products.")
@click.option("--assume", multiple=True, metavar="WHAT", help="positive, nonzero, normal, "
              "exponents=-8..8 of a and b, c=0; may be repeated.")  # fmt: skip
@click.option("--c-exponents", metavar="LOW..HIGH", default=f"{C_EXPONENTS[0]}..{C_EXPONENTS[1]}",
              show_default=True, help="Exponents of a non-zero c.")  # fmt: skip
@click.option("--more-than", metavar="EXCESS", help="The least excess of the error: 1/2, 7, 2^70 ulps of the "
              "exact value.")  # fmt: skip
@click.option("--in", "counted_in", type=click.Choice(list(MEASURES)), default="ulp", show_default=True,
              help="What --more-than counts: ulps, or parts of Σ|a·b|.")  # fmt: skip
@click.option("--differ", is_flag=True, help="Ask for any difference of the results instead.")
@click.option("--means", type=click.Choice([*MEANS, THEOREM]), help="How to answer: by solvers, by "
              f"random rows, or by A's bound; by default solvers up to {SOLVED} products.")  # fmt: skip
@solver_options()
@json_option
def compare(
    worse: str, other: str, length: int, assume: Sequence[str], c_exponents: str, more_than: str | None,
    counted_in: str, differ: bool, means: str | None, how: SolverOptions,
) -> Answer:  # fmt: skip
    """Is program A ever worse than B: inputs, or a proof that there are none (exit 0)?

    Errors are exact, against c + Σ a·b of the inputs.  Exit 1: inputs on which A is worse.
    """
    first, second = program(worse), program(other)
    if means == THEOREM:
        return _by_theorem(first, second, length, from_texts(first.input_format("c"), assume),
                           _share(more_than, counted_in, differ))  # fmt: skip
    found = compare_programs(
        first, second, length=length, assumptions=from_texts(first.input_format("c"), assume),
        c_exponents=exponent_range(c_exponents), counted_in=counted_in, differ=differ, means=means,
        more_than=None if more_than is None else read_excess(more_than), limits=how.limits,
        solvers=how.solvers, certify=how.certify, store=how.opened(), fresh=how.fresh,
    )  # fmt: skip
    codes = {Kind.HOLDS: OK, Kind.VIOLATED: OTHERWISE, Kind.VACUOUS: OTHERWISE}
    unchecked = found.verdict is not None and not found.verdict.checked
    code = NO_ANSWER if unchecked else codes.get(found.kind, NO_ANSWER)
    return Answer(found.to_json(), lambda: show_compared(found), code)


def _share(more_than: str | None, counted_in: str, differ: bool) -> Fraction:
    """The part of Σ|a·b| that is asked about."""
    if more_than is None or counted_in != "sum" or differ:
        raise click.UsageError("expected --more-than and --in sum, without --differ, for --means theorem")
    return read_excess(more_than)


def _by_theorem(
    first: Program, second: Program, length: int, assumed: Assumptions, share: Fraction
) -> Answer:
    """HOLDS where A's error alone is proved to be at most that part of Σ|a·b|, whatever B's is.

    VIOLATED where A loses so much more than B on the inputs that are found for its bound.
    """
    if assumed.c != 0:
        raise click.UsageError("expected --assume c=0 for --means theorem")
    made = program_accuracy(first, length=length, exponents=assumed.exponents or EXPONENTS)
    more = excess(made, second) if _are_such(made, assumed) else None
    kind = Kind.HOLDS if made.bound is not None and made.bound <= share else Kind.UNKNOWN
    if kind is not Kind.HOLDS and more is not None and more > share:
        kind = Kind.VIOLATED
    # An assumption more only leaves inputs out, of which a bound holds as well.
    claim = f"err({first.name}) <= err({second.name}) + {share}·Σ|a·b|"
    said = {
        Kind.HOLDS: f"HOLDS for: {'; '.join(made.conditions)}",
        Kind.UNKNOWN: "UNKNOWN: no bound so small is proved, which excludes nothing",
        Kind.VIOLATED: f"VIOLATED by {float(more or 0):.7g}·Σ|a·b| on the inputs below",
    }[kind]

    def text() -> None:
        say(f"{claim}: {said}")
        program_accuracy_view(made)

    data = {"verdict": kind.name, "claim": claim, "means": THEOREM, **program_accuracy_data(made)}
    return Answer(data, text, {Kind.HOLDS: OK, Kind.VIOLATED: OTHERWISE}.get(kind, NO_ANSWER))


def _are_such(x: ProgramAccuracy, assumed: Assumptions) -> bool:
    """Whether the inputs found are as assumed; False for assumptions that nothing here says it of."""
    if assumed != Assumptions(flags=assumed.flags, exponents=assumed.exponents, c=0):
        return False
    negative = any(
        word & x.program.input_format(letter).sign_bit
        for letter, words in (("a", x.near.a), ("b", x.near.b)) for word in words
    )  # fmt: skip
    return set(assumed.flags) <= {"finite", "positive"} and not ("positive" in assumed.flags and negative)
