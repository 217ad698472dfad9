"""Numbers about results of units and programs: errors, exact sums, falls, distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from tcformal.analysis.bounds.accuracy import Accuracy, growth_with_length
from tcformal.analysis.bounds.accuracy import accuracy as found
from tcformal.analysis.bounds.attained import Attained
from tcformal.analysis.bounds.proved import refined
from tcformal.analysis.bounds.word_forms import EXPONENTS
from tcformal.callbacks import Progress
from tcformal.checks import exponent_range
from tcformal.cli.group import (
    NO_ANSWER,
    OK,
    OTHERWISE,
    Answer,
    json_option,
    main,
    verbose_option,
    whole_numbers,
)
from tcformal.cli.solver_options import SolverOptions, solver_options
from tcformal.design.names import named_together
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.oracle.numerals import number_text, parse_magnitude, percent, rounded
from tcformal.oracle.values import format_value, value_data
from tcformal.query.question import Kind
from tcformal.report.escape import Plain, as_given, say, say_command, verbose
from tcformal.report.parts import telling
from tcformal.report.plot import MARKERS, check_picture, save_picture
from tcformal.report.text import console, table
from tcformal.simulation.matrix_unit import Unit
from tcformal.simulation.operands.witness import Witness, by_value, explain_command
from tcformal.simulation.runnable import RunnableProgram, computation
from tcformal.theory.instances import Instance
from tcformal.theory.stated_sum import sum_of
from tcformal.theory.theorems import theorem_answer

if TYPE_CHECKING:  # a bound of a unit does not wait for these
    from tcformal.analysis.bounds.program_accuracy import ProgramAccuracy
    from tcformal.analysis.bounds.slices import ExactSlices
    from tcformal.analysis.distance import LargestDistance
    from tcformal.analysis.monotonicity import Monotonicity

#: What constants are shown in units of.
_UNIT = 24
#: Bits of integers that the first line is about, where such are summed exactly.
_USUAL = 8
#: Units that the first line names.
_COMPARED = 3
#: Elements of inputs that are shown as a command at most.
_SHOWN = 16


def in_units(x: Fraction, *, up: bool) -> str:
    """A constant as a decimal times 2^-24, rounded up for a bound and down for what was attained."""
    digits = 6 if x * 2**_UNIT >= 1 else 12
    return f"{rounded(x * 2**_UNIT, digits, up):.12g}·2^-{_UNIT}"


def theorem_data(unit: UnitSpec, theorem: Instance) -> Plain:
    """The theorem that an answer is an instance of, and what it is about, as plain data."""
    rests = refined(unit)
    of = "unit" if rests else "specification"
    return {"name": theorem.theorem, "says": theorem.says, "of": of, "refinement": rests}


def theorem_text(unit: UnitSpec, theorem: Instance) -> str:
    """The same as a sentence."""
    small = "; η counts beside subnormal results only" if "η" in theorem.says else ""
    rests = refined(unit) or "of the unit's specification"
    return f"theorem {theorem.theorem} (Coq): {theorem.says}{small}\n{rests}"


def exact_text(unit: UnitSpec) -> str:
    """The exact sum that a unit's results are compared with, c = 0."""
    sums = {"none": "xᵀy", "odd": "Σ (-1)^k·x_k·y_k", "even": "-Σ (-1)^k·x_k·y_k", "all": "-xᵀy"}
    return sums[sum_of(unit).subtracted]


def accuracy_data(x: Accuracy) -> Plain:
    """A constant as plain data; fractions as text."""
    theorem = None if x.proved is None else theorem_data(x.unit, x.proved.theorem)
    return {
        "unit": x.unit.name, "exact_sum": exact_text(x.unit), "length": x.length, "promote": x.promote,
        "bound": None if x.bound is None else _fraction(x.bound),
        "attained": None if x.attained is None else _attained(x, x.attained), "not_built": x.not_built,
        "gap": _float(x.gap), "conditions": list(x.conditions),
        "proof": {"theorem": theorem, "steps": list(x.steps), "reason": x.reason},
        "seconds": round(x.sought, 3),
        "model1": {"at_least": _float(x.model[0]), "at_most": _float(x.model[1])},
        "subnormal": None if x.subnormal is None else _attained(x, x.subnormal),
    }  # fmt: skip


def _float(x: Fraction | None) -> float | None:
    return None if x is None else float(x)


def _fraction(x: Fraction) -> Plain:
    """A fraction: exact where that is short, and as a float."""
    return {"exact": str(x) if x.denominator.bit_length() < 400 else "", "value": float(x)}


def _attained(x: Accuracy, made: Attained) -> Plain:
    error = str(made.error) if made.error.denominator.bit_length() < 4000 else float(made.error)
    return {
        **_fraction(made.ratio), "error": error, "magnitude": str(made.magnitude),
        "result": value_data(x.unit.d_format, made.ends),
        "calls": [{"times": times, **_words(w)} for w, times in made.calls],
    }  # fmt: skip


def accuracy_view(x: Accuracy) -> None:
    """Print a constant, its conditions and its inputs."""
    if x.unit.d_format.integer:
        _integers_view(x)
        return
    out, made = console(), table("of Σ|x_k·y_k|", "share", "constant", "how")
    of, found = None if x.proved is None else x.proved.theorem, x.attained
    if x.bound is not None and of is not None:
        made.add_row("bound", percent(x.bound, up=True), in_units(x.bound, up=True), f"theorem {of.theorem}")
    if found is not None:
        gap = "" if x.gap is None else f", {float(x.gap) * 100:.2g} % below it"
        how, most = f"by inputs, replayed twice{gap}", found.ratio
        made.add_row("attained", percent(most, up=False), in_units(most, up=False), how)
    if x.subnormal is not None and found is not None and x.subnormal.ratio > found.ratio:
        least = x.subnormal.ratio
        how = "with subnormals, in one call"
        made.add_row("outside", percent(least, up=False), in_units(least, up=False), how)
    out.print(Text(_answer(x)))
    out.print(made)
    lines = [f"the bound holds for: {'; '.join(x.conditions)}"] if x.bound is not None else []
    lines += [] if of is None or not verbose() else [theorem_text(x.unit, of)]
    lines += list(x.steps)
    lines += [f"no bound: {x.reason}"] if x.reason else []
    lines += [f"no inputs were built: {x.not_built}"] if x.not_built else []
    lines.append(_model(x))
    out.print(Text("\n".join(lines)))
    calls = () if found is None or not verbose() else found.calls
    for w, times in calls[:3]:
        # A command is not wrapped: it is to be copied.
        say_command(
            f"{times} x " * (times > 1) + explain_command([x.unit.name], w, by_value(x.unit), command="eval")
        )
    if len(calls) > 3:
        say(f"and {len(calls) - 3} calls more: --json has them all")
    say_more()


def _integers_view(x: Accuracy) -> None:
    """Print up to how many products a unit of integers is exact, and what overflows beyond them."""
    from tcformal.analysis.bounds.overflow import overflow  # of these units alone

    (says,), out = x.steps, console()
    out.print(Text(f"{x.unit.shown}: {says}"))
    made = overflow(x.unit, None if x.bound is not None else x.length)
    of = "is exact for c = 0" if x.bound is not None else "can overflow"
    out.print(Text(f"a dot product of {x.length:,} products {of}"))
    out.print(Text("no sum was replayed: it is too long" if made is None else made.says))
    theorem = theorem_answer(x.unit, "integer-sums")
    if theorem is not None:
        out.print(Text(f"by theorem {theorem.name} (Coq): {'; '.join(theorem.rests_on)}", style="dim"))


def say_more() -> None:
    """Say what -v adds, unless it was given."""
    if not verbose():
        console().print(Text("-v: theorems, and the inputs as commands", style="dim"))


def _answer(x: Accuracy) -> str:
    """How wrong a dot product can be, as a sentence."""
    what = f"{x.unit.name}: a dot product of {x.length} products"
    what += "" if x.promote is None else f", promoted every {x.promote},"
    exact = exact_text(x.unit)
    if x.bound is None:
        if x.attained is None:
            return f"{what}: nothing is known of what it loses"
        least = percent(x.attained.ratio, up=False)
        return f"{what} can differ from {exact} by {least} of Σ|x_k·y_k|; no bound is proved"
    if not x.bound:
        return f"{what} is exact: it is {exact}"
    most = f"{percent(x.bound, up=True)} of Σ|x_k·y_k| ({in_units(x.bound, up=True)})"
    return f"{what} differs from {exact} by at most {most}"


def _model(x: Accuracy) -> str:
    """The model test as a sentence."""
    (low, high), unit = x.model, Fraction(1, 2**_UNIT)
    said = [] if low is None else [f"at least {in_units(low, up=False)}"]
    said += [] if high is None else [f"at most {in_units(high, up=True)}"]
    fails, holds = low is not None and low > unit, high is not None and high <= unit
    end = "; U = 2^-24 fails" if fails else "; U = 2^-24 holds" if holds else ""
    return f"Model 1, |γ| <= {x.length}·U: the smallest U is {' and '.join(said) or 'not known'}{end}"


def program_accuracy_data(x: ProgramAccuracy) -> Plain:
    """A program's constant as plain data; fractions as text."""
    near, fmt = x.near, x.program.plan(x.length).fmt
    return {
        "program": x.program.name, "length": x.length,
        "exponents": None if x.exponents is None else list(x.exponents),
        "bound": None if x.bound is None else _fraction(x.bound),
        "attained": {
            **_fraction(near.ratio), "error": str(near.error), "magnitude": str(near.magnitude),
            "result": value_data(fmt, near.result), "a": list(map(hex, near.a)), "b": list(map(hex, near.b)),
        },
        "gap": _float(x.gap), "conditions": list(x.conditions),
        "proof": {
            "theorems": [{"unit": t.unit.name, **theorem_data(t.unit, t)} for t in x.theorems],
            "steps": list(x.steps), "reason": x.reason,
        },
    }  # fmt: skip


def program_accuracy_view(x: ProgramAccuracy) -> None:
    """Print a program's constant, its conditions and where its inputs are."""
    out, made = console(), table("of Σ|a_k·b_k|", "share", "constant", "how")
    if x.bound is not None:
        how = "steps one by one, calls by theorems"
        made.add_row("bound", percent(x.bound, up=True), in_units(x.bound, up=True), how)
    gap = "" if x.gap is None else f", {float(x.gap) * 100:.2g} % below it"
    if x.exceeded:
        gap = "; subnormal or largest values on the way, of which the bound says nothing"
    near, least = x.near.ratio, percent(x.near.ratio, up=False)
    made.add_row("attained", least, in_units(near, up=False), f"by inputs, replayed twice{gap}")
    what = f"{x.program.name}: {x.length} products"
    if x.bound is None:
        out.print(Text(f"{what} can differ from Σ a_k·b_k by {least} of Σ|a_k·b_k|; no bound is proved"))
    else:
        most = f"{percent(x.bound, up=True)} of Σ|a_k·b_k| ({in_units(x.bound, up=True)})"
        out.print(Text(f"{what} differ from Σ a_k·b_k by at most {most}"))
    out.print(made)
    lines = [f"the bound holds for: {'; '.join(x.conditions)}"] if x.bound is not None else []
    lines += [f"{t.unit.name}: {theorem_text(t.unit, t)}" for t in x.theorems if verbose()]
    lines += list(x.steps) if verbose() else []
    lines += [f"no bound: {x.reason}"] if x.reason else []
    out.print(Text("\n".join(lines)))
    if not verbose():
        say_more()
    elif x.length <= _SHOWN:
        a, b = (",".join(map(hex, words)) for words in (x.near.a, x.near.b))
        say(f"tcformal explain '{x.program.name}' --a {a} --b {b}")
    else:
        say("the inputs: --json has them")


def slices_data(x: ExactSlices) -> Plain:
    """Widths of slices as plain data."""
    return {
        "unit": x.unit.name, "exact_up_to": x.most if x.widths else None,
        "slices": [{"bits": w.bits, "largest": w.largest, "products": w.products} for w in x.widths],
        "theorem": None if x.theorem is None else theorem_data(x.unit, x.theorem), "reason": x.reason,
        "sharp": x.sharp, "steps": list(x.steps),
    }  # fmt: skip


def slices_view(x: ExactSlices) -> None:
    """Print how many products of slices of each width are summed exactly."""
    out, rows = console(), ((str(w.bits), str(w.largest), str(w.products)) for w in x.widths)
    made = table("bits", "integers up to", "most products", rows=rows)
    out.print(Text(_exact(x)))
    out.print(made)
    lines = []
    if x.theorem is not None:
        lines = [theorem_text(x.unit, x.theorem) if verbose() else f"by theorem {x.theorem.theorem} (Coq)"]
    lines += x.steps if verbose() else []
    if x.widths:
        more = "is not exact" if x.sharp else "may be exact too"
        chained = "calls may be chained: partial sums count; " * (x.unit.c_format == x.unit.d_format)
        lines.append(f"{chained}a sum of {_size(x.most)} + 1 {more}")
    lines += [f"no answer: {x.reason}"] if x.reason else []
    out.print(Text("\n".join(lines)))


def _exact(x: ExactSlices) -> str:
    """How many products of integers are exact, as a sentence."""
    if not x.widths:
        return f"{x.unit.name}: no products of integers are known to be summed exactly"
    usual = next((w for w in x.widths if w.bits == _USUAL), x.widths[-1])
    return (
        f"{x.unit.name}: products of integers of up to {x.widths[-1].bits} bits are summed exactly, "
        f"{usual.products} of {usual.bits} bits"
    )


def _size(x: int) -> str:
    """An integer, as a power of two where it is one."""
    return str(x) if x & (x - 1) else f"2^{x.bit_length() - 1}"


#: The same of inputs on which results fall or are apart.
_LONGEST_SHOWN = 64
#: What may grow, and how it is called.
_OPERANDS = {"c": "c", "a": "factor"}
#: What the verdicts about them rest on.
_MEANS = {
    Kind.VIOLATED: "by the inputs shown, replayed on integers and on fractions",
    Kind.HOLDS: "so that the defect is 0",
    Kind.UNKNOWN: "no fall was found, which excludes nothing",
}


def monotonicity_data(m: Monotonicity, x: Unit | RunnableProgram) -> Plain:
    """What is known of falls as plain data; fractions as text."""
    falls = [
        {
            "operand": f.operand, "ulps": float(f.ulps), "relative": float(f.relative), "fall": str(f.fall),
            "growth": str(f.growth), "results": [value_data(x.d_format, r) for r in f.results],
            "inputs": [_words(f.first), _words(f.second)],
        }
        for f in m.falls
    ]  # fmt: skip
    return {
        "name": m.name, "length": m.length,
        "verdicts": {operand: m.verdict(operand).name for operand in _OPERANDS}, "falls": falls,
        "claim": None if m.claim is None else {"verdict": m.claim.kind.name, "reason": m.claim.reason},
        "proved": m.proved,
    }  # fmt: skip


def _words(w: Witness) -> dict[str, str]:
    """Operands that are not zero, by name."""
    return {name: hex(word) for name, word in w.inputs().items() if word}


def monotonicity_view(m: Monotonicity, x: Unit | RunnableProgram | None = None) -> None:
    """Print the largest falls, with their inputs, and the theorem."""
    x = computation(m.name) if x is None else x
    made = table("grows", "from", "to", "result", "to", ">ulps", ">in u")
    for f in m.falls:
        own = (f.first.c, f.second.c) if f.operand == "c" else (f.first.a[0], f.second.a[0])
        fmt = x.c_format if f.operand == "c" else x.a_format
        words = [format_value(fmt, w) for w in own] + [format_value(x.d_format, r) for r in f.results]
        made.add_row(f.operand, *words, number_text(f.ulps), f"{float(f.relative):.4g}")
    out = console()
    out.print(Text(_fall(m)))
    if m.falls:
        out.print(made, Text("ulps, in u: the fall in ulps of the result, and in units of u·(Σ|a·b| + |c|)"))
    kinds = {name: m.verdict(operand) for operand, name in _OPERANDS.items()}
    lines = [
        f"no larger {name} gives a smaller result: {kind.name}, {_MEANS[kind]}"
        for name, kind in kinds.items()
    ]
    if m.claim is not None:
        lines.append(f"claim monotonicity, of a larger c: {m.claim.kind.name}; {m.claim.reason}")
    out.print(Text("\n".join(lines)))
    shown = [w for f in m.falls for w in (f.first, f.second) if len(w.a) <= _LONGEST_SHOWN]
    if isinstance(x, Unit) and verbose():
        for w in shown:
            # A command is not wrapped: it is to be copied.
            say_command(explain_command([x.name], w, by_value(x.spec), command="eval"))
    if shown:
        say_more()


def _fall(m: Monotonicity) -> str:
    """Whether a result falls, as a sentence."""
    what = f"{m.name}: of {m.length} products, the result"
    if not m.falls:
        return f"{what} never falls where c or a factor grows" if m.proved else f"{what} was not seen to fall"
    most = max(m.falls, key=lambda f: f.ulps)
    ulps = number_text(most.ulps)
    step = f"{_OPERANDS[most.operand[0]]} grows by one step"
    return f"{what} falls by {ulps} ulp{'s' * (most.ulps != 1)} where {step}"


def distance_data(x: LargestDistance) -> Plain:
    """The largest distance of two units as plain data; fractions as text."""
    others = x.inputs_of_second or x.inputs
    return {
        "units": [u.name for u in x.units], "length": x.length,
        "bound": {"exact": str(x.bound), "value": float(x.bound)},
        "attained": {"exact": str(x.attained), "value": float(x.attained)},
        "results": [value_data(u.d_format, r) for u, r in zip(x.units, x.results, strict=True)],
        "inputs": _words(x.inputs),
        **({} if others == x.inputs else {"inputs_of_second": _words(others)}),
        "theorems": [{"unit": t.unit.name, **theorem_data(t.unit, t)} for t in x.theorems],
    }  # fmt: skip


def distance_view(x: LargestDistance) -> None:
    """Print how far results of two units can be apart, and are on the inputs."""
    how = "what both lose, by theorems"
    how += ", and twice the products that one of them takes away" if x.other_signs else ""
    most = percent(x.bound, up=True)
    bound = ("bound", most, in_units(x.bound, up=True), how)
    attained = ("attained", percent(x.attained, up=False), in_units(x.attained, up=False),
                "by inputs, replayed twice")  # fmt: skip
    names = " and ".join(u.name for u in x.units)
    out = console()
    if x.attained:
        far = f"can be {percent(x.attained, up=False)} of Σ|x_k·y_k| apart, at most {most}"
    else:
        far = f"are at most {most} of Σ|x_k·y_k| apart"
    out.print(Text(f"{names}: {x.length} products {far}"))
    out.print(table("of Σ|x_k·y_k|", "share", "distance", "how", rows=(bound, attained)))
    out.print(Text("for c = 0 and normal operands"))
    if not verbose():
        say_more()
        return
    out.print(Text("\n".join(f"{t.unit.name}: {theorem_text(t.unit, t)}" for t in x.theorems)))
    if len(x.inputs.a) <= _LONGEST_SHOWN:
        others = x.inputs_of_second or x.inputs
        together = others == x.inputs and x.units[0].input_formats() == x.units[1].input_formats()
        rows = [(x.units, x.inputs)] if together else [(x.units[:1], x.inputs), (x.units[1:], others)]
        for units, w in rows:
            say_command(explain_command([u.name for u in units], w, by_value(units[0]), command="eval"))


@dataclass(frozen=True, slots=True)
class LengthBound:
    """What is known of one unit or program at one length: the bound and the attained part of Σ|x_k·y_k|."""

    name: str
    length: int
    bound: Fraction | None
    attained: Fraction | None


def _largest(x: LengthBound) -> str:
    """The bound of the largest error, or what it is at least."""
    if x.bound is not None:
        return f"at most {percent(x.bound, up=True)}"
    return "not bounded" if not x.attained else f"at least {percent(x.attained, up=False)}"


def within_text(x: LengthBound, limit: Fraction, text: str) -> tuple[str, int]:
    """Whether errors stay within a stated part of Σ|x_k·y_k|, as a sentence and an exit code."""
    said = f"{x.name}: errors of {x.length} products"
    if x.bound is not None and x.bound <= limit:
        return f"{said} are within {text}·Σ|x_k·y_k|: at most {percent(x.bound, up=True)}, proved", OK
    if x.attained is not None and x.attained > limit:
        shown = percent(x.attained, up=False)
        return f"{said} are not within {text}·Σ|x_k·y_k|: {shown} by inputs, replayed twice", OTHERWISE
    return f"{said} are within {text}·Σ|x_k·y_k| as far as is known: neither proved nor refuted", NO_ANSWER


def lengths_view(rows: Sequence[LengthBound]) -> None:
    """Print several units or lengths, a line each."""
    made = table("unit", ">products", ">bound", ">attained", f">bound, 2^-{_UNIT}")
    last = ""
    for x in rows:
        shares = ["–" if y is None else percent(y, up=up) for y, up in ((x.bound, True), (x.attained, False))]
        units = "–" if x.bound is None else in_units(x.bound, up=True).partition("·")[0]
        made.add_row("" if x.name == last else x.name, str(x.length), *shares, units)
        last = x.name
    n = max(x.length for x in rows)
    most = sorted((x for x in rows if x.length == n), key=lambda x: -(x.bound or x.attained or 0))
    shown = most if len(most) <= _COMPARED else [most[0], most[-1]]
    said = ", ".join(f"{x.name} {_largest(x)}" for x in shown)
    out = console()
    out.print(Text(f"Errors of {n} products, in parts of Σ|x_k·y_k|: {said}"))
    out.print(made)
    out.print(Text("one unit and length alone: the conditions, and with -v the theorem and inputs", "dim"))


def accuracy_picture(path: str, rows: Sequence[LengthBound]) -> None:
    """Bounds as lines and attained errors as points against the length, in percent of Σ|x_k·y_k|."""
    scaled = [
        (x.name, x.length, *("" if y is None else float(y * 2**_UNIT) for y in (x.bound, x.attained)))
        for x in rows
    ]

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        for i, name in enumerate(dict.fromkeys(x.name for x in rows)):
            colour = f"C{i}"
            mine = [x for x in rows if x.name == name]
            bounds = [(x.length, 100 * float(x.bound)) for x in mine if x.bound]
            points = [(x.length, 100 * float(x.attained)) for x in mine if x.attained]
            if bounds:
                axes.plot(*zip(*bounds, strict=True), color=colour, label=f"{as_given(name)}: bound")
            if points:
                label, marker = f"{as_given(name)}: attained by inputs", MARKERS[i % len(MARKERS)]
                axes.plot(*zip(*points, strict=True), color=colour, ls="", marker=marker, label=label)
        axes.set(yscale="log", xlabel="products", ylabel="error, % of Σ|x·y|")
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
        axes.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
        figure.legend(loc="outside lower center", fontsize=6)

    header = ("unit", "n", f"bound·2^{_UNIT}", f"attained·2^{_UNIT}")
    save_picture(path, header, scaled, draw, (4.5, 3.2 + 0.25 * len({x.name for x in rows})))


@main.command()
@click.argument("names", nargs=-1, required=True, metavar="UNIT|PROGRAM...")
@click.option("--length", type=int, help="Products, in calls one after the other; by default one call.")
@click.option("--lengths", metavar="N,N,…", help="Several numbers of products.")
@click.option("--promote", type=int, metavar="P", help="Add to a sum in fp32 after every P products.")
@click.option("--prove/--no-prove", "prove", default=True, help="Prove the bound, or only build inputs.")
@click.option("--exponents", metavar="LOW..HIGH",
              help=f"Exponents of a program's inputs; else {EXPONENTS[0]}..{EXPONENTS[1]}.")  # fmt: skip
@click.option(
    "--within", metavar="BOUND", help="Are errors within so much of Σ|x·y|, as 15*2^-24?  Exit 1: not."
)
@click.option("--plot", "picture", metavar="FILE",
              help="A picture (svg, png, pdf) of errors against length; data beside it.")  # fmt: skip
@verbose_option
@json_option
def accuracy(
    names: tuple[str, ...], length: int | None, lengths: str | None, promote: int | None, prove: bool,
    exponents: str | None, within: str | None, picture: str | None,
) -> Answer:  # fmt: skip
    """The largest error of a dot product in parts of Σ|x_k·y_k|: a proved bound, attaining inputs.

    The bound is an instance of a theorem that Coq has checked, for any length.  The inputs are built, or
    found by an ascent, and replayed on integers and on exact fractions.  The bound of a program is composed
    of its words' errors and its calls' theorems.  Exit code 3 where no bound is proved.
    """
    check_picture(picture)
    limit = None if within is None else parse_magnitude(within.strip())
    if within is not None and not limit:
        raise InputError(f"expected a part of Σ|x·y| such as 15*2^-24 for --within, but got {within:.80}")
    if length is not None and lengths is not None:
        raise click.UsageError("expected --length or --lengths, but got both")
    computed = [computation(name) for name in names]
    programs = [x for x in computed if isinstance(x, RunnableProgram)]
    if programs and (picture is not None or promote is not None) and len(computed) == 1:
        raise click.UsageError("expected --plot and --promote with a UNIT only")
    if exponents is not None and len(programs) < len(computed):
        raise click.UsageError("expected --exponents with a PROGRAM only")
    wanted = [length] if lengths is None else [*whole_numbers("--lengths", lengths)]
    made: list[Accuracy | ProgramAccuracy] = []
    with telling("accuracy") as tell:
        for x in computed:
            for n in wanted:
                if isinstance(x, RunnableProgram):
                    made.append(_program(x, n, exponents, prove, tell))
                else:
                    made.append(found(x, length=n, promote=promote, prove=prove, progress=tell))
    data = [program_accuracy_data(x) if not isinstance(x, Accuracy) else accuracy_data(x) for x in made]
    answers = [] if limit is None else [within_text(_row(x), limit, str(within).strip()) for x in made]
    for row, (_, code) in zip(data, answers, strict=False):
        row["within"] = {OK: True, OTHERWISE: False}.get(code)

    def text() -> None:
        # A sentence for each that is not within comes first.
        for said, _ in sorted(answers, key=lambda x: (OTHERWISE, NO_ANSWER, OK).index(x[1])):
            console().print(Text(said))
        if len(made) > 1:
            lengths_view([_row(x) for x in made])
        elif isinstance(made[0], Accuracy):
            accuracy_view(made[0])
        else:
            program_accuracy_view(made[0])

    if picture is not None:
        grown = [LengthBound(x.unit.name, *row) for x in made if isinstance(x, Accuracy) and lengths is None
                 for row in growth_with_length(x)]  # fmt: skip
        accuracy_picture(picture, grown or [_row(x) for x in made])
    shown = data[0] if len(data) == 1 else data
    if answers:
        codes = {code for _, code in answers}
        return Answer(shown, text, OTHERWISE if OTHERWISE in codes else max(codes))
    # Of sums of integers it is known whether they can overflow, though these have no bound.
    others = [x for x in made if not isinstance(x, Accuracy) or not x.unit.d_format.integer]
    known = [x.bound if prove or not isinstance(x, Accuracy) else x.attained for x in others]
    return Answer(shown, text, OK if None not in known or (programs and not prove) else NO_ANSWER)


def _row(x: Accuracy | ProgramAccuracy) -> LengthBound:
    if isinstance(x, Accuracy):
        return LengthBound(x.unit.name, x.length, x.bound, None if x.attained is None else x.attained.ratio)
    return LengthBound(x.program.name, x.length, x.bound, x.near.ratio)


def _program(
    asked: RunnableProgram, length: int | None, exponents: str | None, prove: bool, tell: Progress
) -> ProgramAccuracy:
    """The bound of a program and inputs that come near."""
    from tcformal.analysis.bounds.program_accuracy import program_accuracy

    among = EXPONENTS if exponents is None else exponent_range(exponents)
    n = asked.k if length is None else length
    return program_accuracy(asked, length=n, exponents=among, prove=prove, progress=tell)


@main.command()
@click.argument("unit", metavar="UNIT")
@verbose_option
@json_option
def exact(unit: str) -> Answer:
    """How wide slices of integers may be, and how many products of them a unit sums exactly.

    The widths are instances of theorems that Coq has checked; beside each stands the shortest sum that is
    not exact.  Exit code 3 where no width is exact.
    """
    from tcformal.analysis.bounds.slices import exact_slices

    widths = exact_slices(unit)
    return Answer(slices_data(widths), lambda: slices_view(widths), OK if widths.widths else NO_ANSWER)


@main.command()
@click.argument("unit", metavar="UNIT|PROGRAM")
@click.option("--length", type=int, help="Products, in calls one after the other; by default one call.")
@click.option("--prove/--no-prove", "prove", default=True, help="Prove that it never falls, or only look.")
@solver_options()
@verbose_option
@json_option
def monotonicity(unit: str, length: int | None, prove: bool, how: SolverOptions) -> Answer:
    """How far a result falls where c or a factor grows by one step.

    Falls are found by vectors and replayed on integers and on exact fractions; that there is none is proved
    by a theorem or by solvers.  Exit code 3 where neither is known.
    """
    from tcformal.analysis.monotonicity import monotonicity as monotone

    asked = computation(unit)
    with telling("monotonicity") as tell:
        made = monotone(
            asked, length=length, prove=prove, limits=how.limits, solvers=how.solvers, certify=how.certify,
            store=how.opened(), fresh=how.fresh, progress=tell,
        )  # fmt: skip
    code = OK if made.falls or made.proved else NO_ANSWER
    return Answer(monotonicity_data(made, asked), lambda: monotonicity_view(made, asked), code)


@main.command()
@click.argument("first", metavar="UNIT")
@click.argument("second", metavar="UNIT")
@click.option("--length", type=int, help="Products, in calls one after the other; by default one call.")
@verbose_option
@json_option
def distance(first: str, second: str, length: int | None) -> Answer:
    """How far the results of two units can be apart on the same inputs: a proved bound, and inputs."""
    from tcformal.analysis.distance import largest_distance

    with telling("distance") as tell:
        made = largest_distance(*named_together((first, second)), length=length, progress=tell)
    return Answer(distance_data(made), lambda: distance_view(made))
