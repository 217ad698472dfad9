"""Views of sharp error constants."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from tcformal.analysis.bounds.accuracy import Accuracy
from tcformal.analysis.bounds.attained import Attained
from tcformal.analysis.bounds.proved import refined
from tcformal.design.unit import UnitSpec
from tcformal.oracle.values import value_data
from tcformal.report.escape import say
from tcformal.report.numbers.plot import MARKERS, save_picture
from tcformal.report.text import console, table
from tcformal.simulation.operands.witness import by_value, explain_command
from tcformal.theory.instances import Instance
from tcformal.theory.stated_sum import sum_of

if TYPE_CHECKING:
    from tcformal.analysis.bounds.program_accuracy import ProgramAccuracy
    from tcformal.analysis.bounds.slices import ExactSlices

#: What constants are shown in units of.
_UNIT = 24
#: Decimal places of a share that are written out at most.
_FIXED = 12
#: Elements of inputs that are shown as a command at most.
_SHOWN = 16


def in_units(x: Fraction, *, up: bool) -> str:
    """A constant as a decimal times 2^-24, rounded up for a bound and down for what was attained."""
    digits = 10**6 if x * 2**_UNIT >= 1 else 10**12
    scaled = x * 2**_UNIT * digits
    whole = -(-scaled.numerator // scaled.denominator) if up else scaled.numerator // scaled.denominator
    return f"{float(Fraction(whole, digits)):.12g}·2^-{_UNIT}"


def percent(x: Fraction, *, up: bool) -> str:
    """A share in percent with four digits, rounded up or down."""
    digits = 0
    while x and x * 100 * 10**digits < 1000:
        digits += 1
    scaled = x * 100 * 10**digits
    whole = -(-scaled.numerator // scaled.denominator) if up else scaled.numerator // scaled.denominator
    made = float(Fraction(whole, 10**digits))
    if digits > _FIXED:
        return f"{made:.4g} %"
    text = f"{made:.{digits}f}"
    return (text.rstrip("0").rstrip(".") if digits else text) + " %"


def theorem_data(unit: UnitSpec, theorem: Instance) -> dict[str, Any]:
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
    return {"none": "xᵀy", "odd": "Σ (-1)^k·x_k·y_k", "even": "-Σ (-1)^k·x_k·y_k", "all": "-xᵀy"}[
        sum_of(unit).subtracted
    ]


def accuracy_data(x: Accuracy) -> dict[str, Any]:
    """A constant as plain data; fractions as text."""
    return {
        "unit": x.unit.name,
        "exact_sum": exact_text(x.unit),
        "length": x.length,
        "promote": x.promote,
        "bound": None if x.bound is None else _fraction(x.bound),
        "attained": None if x.attained is None else _attained(x, x.attained),
        "not_built": x.not_built,
        "gap": _float(x.gap),
        "conditions": list(x.conditions),
        "proof": {
            "theorem": None if x.proved is None else theorem_data(x.unit, x.proved.theorem),
            "steps": list(x.steps),
            "reason": x.reason,
        },
        "seconds": round(x.sought, 3),
        "model1": {"at_least": _float(x.model[0]), "at_most": _float(x.model[1])},
        "subnormal": None if x.subnormal is None else _attained(x, x.subnormal),
    }


def _float(x: Fraction | None) -> float | None:
    return None if x is None else float(x)


def _fraction(x: Fraction) -> dict[str, Any]:
    """A fraction: exact where that is short, and as a float."""
    text = str(x) if x.denominator.bit_length() < 400 else ""
    return {"exact": text, "value": float(x)}


def _attained(x: Accuracy, made: Attained) -> dict[str, Any]:
    return {
        **_fraction(made.ratio),
        "error": str(made.error) if made.error.denominator.bit_length() < 4000 else float(made.error),
        "magnitude": str(made.magnitude),
        "result": value_data(x.unit.d_format, made.ends),
        "calls": [
            {"times": times, **{name: hex(word) for name, word in w.inputs().items() if word}}
            for w, times in made.calls
        ],
    }


def accuracy_view(x: Accuracy) -> None:
    """Print a constant, its conditions and its inputs."""
    out, made = console(), table("of Σ|x_k·y_k|", "constant", "share", "how")
    of, found = None if x.proved is None else x.proved.theorem, x.attained
    if x.bound is not None and of is not None:
        made.add_row("bound", in_units(x.bound, up=True), percent(x.bound, up=True), f"theorem {of.theorem}")
    if found is not None:
        gap = "" if x.gap is None else f"; {float(x.gap) * 100:.2g} % below the bound"
        how, most = f"built, replayed twice, {x.sought:.1f} s{gap}", found.ratio
        made.add_row("attained", in_units(most, up=False), percent(most, up=False), how)
    if x.subnormal is not None and found is not None and x.subnormal.ratio > found.ratio:
        least = x.subnormal.ratio
        how = "built, replayed; no bound"
        made.add_row("one call with subnormals", in_units(least, up=False), percent(least, up=False), how)
    out.print(Text(_answer(x)))
    out.print(made)
    lines = [f"the bound holds for: {'; '.join(x.conditions)}"] if x.bound is not None else []
    lines += [] if of is None else [theorem_text(x.unit, of)]
    lines += list(x.steps)
    lines += [f"no bound: {x.reason}"] if x.reason else []
    lines += [f"no inputs were built: {x.not_built}"] if x.not_built else []
    lines.append(_model(x))
    out.print(Text("\n".join(lines)))
    calls = () if found is None else found.calls
    for w, times in calls[:3]:
        # A command is not wrapped: it is to be copied.
        say(f"{times} x " * (times > 1) + explain_command([x.unit.name], w, by_value(x.unit), command="eval"))
    if len(calls) > 3:
        say(f"and {len(calls) - 3} calls more: --json has them all")


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


def program_accuracy_data(x: ProgramAccuracy) -> dict[str, Any]:
    """A program's constant as plain data; fractions as text."""
    near, fmt = x.near, x.program.plan(x.length).fmt
    return {
        "program": x.program.name,
        "length": x.length,
        "exponents": None if x.exponents is None else list(x.exponents),
        "bound": None if x.bound is None else _fraction(x.bound),
        "attained": {
            **_fraction(near.ratio), "error": str(near.error), "magnitude": str(near.magnitude),
            "result": value_data(fmt, near.result), "a": list(map(hex, near.a)), "b": list(map(hex, near.b)),
        },
        "gap": _float(x.gap),
        "conditions": list(x.conditions),
        "proof": {
            "theorems": [{"unit": t.unit.name, **theorem_data(t.unit, t)} for t in x.theorems],
            "steps": list(x.steps),
            "reason": x.reason,
        },
    }  # fmt: skip


def program_accuracy_view(x: ProgramAccuracy) -> None:
    """Print a program's constant, its conditions and where its inputs are."""
    out, made = console(), table("of Σ|a_k·b_k|", "constant", "how")
    if x.bound is not None:
        made.add_row(
            "bound", in_units(x.bound, up=True), "words and sums step by step, calls by what is below"
        )
    gap = "" if x.gap is None else f"; {float(x.gap) * 100:.2g} % below the bound"
    if x.exceeded:
        gap = "; with subnormal or largest values on the way, of which the bound says nothing"
    made.add_row("attained", in_units(x.near.ratio, up=False), f"found, replayed on lanes and fractions{gap}")
    out.print(Text(f"{x.program.name}: the largest |d - Σ a_k·b_k| of {x.length} products"))
    out.print(made)
    lines = [f"the bound holds for: {'; '.join(x.conditions)}"] if x.bound is not None else []
    lines += [f"{t.unit.name}: {theorem_text(t.unit, t)}" for t in x.theorems]
    lines += list(x.steps)
    lines += [f"no bound: {x.reason}"] if x.reason else []
    out.print(Text("\n".join(lines)))
    if x.length <= _SHOWN:
        a, b = (",".join(map(hex, words)) for words in (x.near.a, x.near.b))
        say(f"tcformal explain '{x.program.name}' --a {a} --b {b}")
    else:
        say("the inputs: --json has them")


def slices_data(x: ExactSlices) -> dict[str, Any]:
    """Widths of slices as plain data."""
    return {
        "unit": x.unit.name,
        "exact_up_to": x.most if x.widths else None,
        "slices": [{"bits": w.bits, "largest": w.largest, "products": w.products} for w in x.widths],
        "theorem": None if x.theorem is None else theorem_data(x.unit, x.theorem),
        "reason": x.reason,
        "sharp": x.sharp,
        "steps": list(x.steps),
    }


def slices_view(x: ExactSlices) -> None:
    """Print how many products of slices of each width are summed exactly."""
    out, made = console(), table("bits", "integers up to", "most products")
    for w in x.widths:
        made.add_row(str(w.bits), str(w.largest), str(w.products))
    out.print(Text(f"{x.unit.name}: products of integer slices that are summed exactly"))
    out.print(made)
    lines = [] if x.theorem is None else [theorem_text(x.unit, x.theorem)]
    lines += x.steps
    if x.widths:
        more = "is not exact" if x.sharp else "may be exact too"
        chained = "calls may be chained: partial sums count; " * (x.unit.c_format == x.unit.d_format)
        lines.append(f"{chained}a sum of {_size(x.most)} + 1 {more}")
    lines += [f"no answer: {x.reason}"] if x.reason else []
    out.print(Text("\n".join(lines)))


def _size(x: int) -> str:
    """An integer, as a power of two where it is one."""
    return str(x) if x & (x - 1) else f"2^{x.bit_length() - 1}"


def accuracy_picture(
    path: str, command: Sequence[str], x: Accuracy,
    rows: Sequence[tuple[int, Fraction | None, Fraction | None]],
) -> Path:  # fmt: skip
    """Bound and attained error against n, in units of 2^-24·Σ|x_k·y_k|; the path of the data."""
    data = [(n, *("" if y is None else float(y * 2**_UNIT) for y in (b, a))) for n, b, a in rows]

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        lines = (1, "--", MARKERS[1], "proved bound"), (2, "-", MARKERS[0], "attained")
        for i, style, mark, label in lines:
            known = [(row[0], row[i]) for row in data if row[i] != ""]
            if known:
                axes.plot(*zip(*known, strict=True), style, marker=mark, label=label)
        axes.set(
            xscale="log",
            yscale="log",
            xlabel="n",
            ylabel=f"|fl − {exact_text(x.unit)}| / (2^-{_UNIT} |x|ᵀ|y|)",
        )
        axes.set_title(x.unit.name, fontsize=8)
        axes.legend()

    return save_picture(path, command, ("n", "bound·2^24", "attained·2^24"), data, draw)
