"""What the page in the browser calls: text in, results and pictures out; apart, because it runs there."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypedDict

from tcformal.backends.concrete import Concrete
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Sign
from tcformal.errors import InputError, TcformalError
from tcformal.oracle.values import format_value, hex_word
from tcformal.query.explain.explain import explain_witness
from tcformal.query.explain.trace import divergence
from tcformal.report.svg import panels_svg, verdict_text
from tcformal.semantics.chain import common_k, scale_count, staged_circuit
from tcformal.shown import JsonObject
from tcformal.simulation.operands.given import witness_of
from tcformal.simulation.operands.witness import Witness, explain_command, in_hex

#: Exponents that random operands spread over, so that terms overlap.
_SPREAD = 14


def call(name: str, text: str) -> str:
    """A function of this module by name, on JSON; a mistake of the user is an `error` of one sentence."""
    try:
        return json.dumps(_CALLS[name](**json.loads(text)))
    except TcformalError as error:
        return json.dumps({"error": str(error)})


def answer(
    units: Sequence[str], a: Sequence[str], b: Sequence[str], c: str, scale_a: Sequence[str] = (),
    scale_b: Sequence[str] = (),
) -> JsonObject:  # fmt: skip
    """The results of one dot product on one or two units, with their pictures and the command for both.

    Shapes: up to k values each; what lacks is zero, and scales that lack are 1.
    Errors: InputError for units of different formats, or values that a format cannot hold.
    """  # fmt: skip
    specs = _specs(units)
    spec, k = specs[0], common_k(*specs)
    scales = scale_count(spec, k)
    w = witness_of(
        spec, _filled("a", a, k, "0"), _filled("b", b, k, "0"), c, k=k,
        scale_a=_filled("scale_a", scale_a, scales, "1") if scales else None,
        scale_b=_filled("scale_b", scale_b, scales, "1") if scales else None,
    )  # fmt: skip
    traces = [explain_witness(one, w) for one in specs]
    found = divergence(*traces) if len(traces) == 2 else None
    return {
        "results": [_word(one.operands.d, t.result) | {"unit": one.name}
                    for one, t in zip(specs, traces, strict=True)],
        "operands": {name: [_word(fmt, x) for x in row] for name, fmt, row in _rows(spec, w)},
        "pictures": panels_svg(traces),
        "said": verdict_text(traces, found) if len(traces) == 2 else "",
        "command": explain_command([one.name for one in specs], w, in_hex(spec)),
    }  # fmt: skip


def shape(units: Sequence[str]) -> dict[str, object]:
    """The units' full names, their numbers of products and scales, and the fields of each encoding."""
    specs = _specs(units)
    spec, k = specs[0], common_k(*specs)
    formats = spec.input_formats()
    return {
        "k": k, "scales": scale_count(spec, k), "units": [one.name for one in specs],
        "formats": {name: {"name": fmt.name, "fields": _fields(fmt)} for name, fmt in formats.items()},
    }  # fmt: skip


class Drawn(TypedDict):
    """Random operands, as encodings."""

    a: list[str]
    b: list[str]
    c: str


def draw(units: Sequence[str], seed: int, products: int = 4) -> Drawn:
    """Random finite operands whose exponents are near each other, as encodings."""
    spec, rng = _specs(units)[0], random.Random(seed)
    o = spec.operands
    pairs = min(common_k(*_specs(units)), products)
    return {
        "a": [hex_word(o.a, _near_one(o.a, rng)) for _ in range(pairs)],
        "b": [hex_word(o.b, _near_one(o.b, rng)) for _ in range(pairs)],
        "c": hex_word(o.c, _near_one(o.c, rng)),
    }


def results(unit: str, rows: Sequence[Mapping[str, Any]]) -> list[int]:
    """The encodings of many dot products of raw encodings, without pictures."""
    made = []
    for row in rows:
        scales = (tuple(row.get(name, ())) for name in ("scale_a", "scale_b"))
        w = Witness(tuple(row["a"]), tuple(row["b"]), row["c"], *scales)
        made.append(_evaluator(unit, len(w.a))(w.inputs())[0])
    return made


_CALLS: dict[str, Callable[..., Any]] = {"answer": answer, "shape": shape, "draw": draw, "results": results}


@lru_cache(maxsize=8)
def _evaluator(unit: str, k: int) -> Concrete:
    graph, dot = staged_circuit(resolve(unit), k)
    return Concrete(graph, [dot.result])


def _specs(units: Sequence[str]) -> list[UnitSpec]:
    """One or two units whose operands are of the same formats."""
    if len(units) not in (1, 2):
        raise InputError(f"expected one or two units, but got {len(units)}")
    specs = [resolve(name) for name in units]
    sides = {(one.operands.a, one.operands.b, one.operands.c, one.scale_format, one.scale_block)
             for one in specs}  # fmt: skip
    if len(sides) > 1:
        raise InputError(f"expected units of the same formats, but got {' and '.join(units)}")
    return specs


def _filled(name: str, values: Sequence[str], count: int, rest: str) -> list[str]:
    if len(values) > count:
        raise InputError(f"expected at most {count} values for {name}, but got {len(values)}")
    return [*(value.strip() or rest for value in values), *[rest] * (count - len(values))]


def _rows(spec: UnitSpec, w: Witness) -> list[tuple[str, Format, tuple[int, ...]]]:
    rows = {"a": w.a, "b": w.b, "c": (w.c,), "scale_a": w.scale_a, "scale_b": w.scale_b}
    formats = spec.input_formats()
    return [(name, formats[name], row) for name, row in rows.items() if row]


def _word(fmt: Format, raw: int) -> dict[str, str]:
    return {"hex": hex_word(fmt, raw), "value": format_value(fmt, raw), "bits": f"{raw:0{fmt.width}b}"}


def _fields(fmt: Format) -> list[int]:
    """The widths of sign, exponent and fraction."""
    sign = int(fmt.sign is not Sign.ABSENT)
    return [sign, fmt.exponent_bits, fmt.width - sign - fmt.exponent_bits]


def _near_one(fmt: Format, rng: random.Random) -> int:
    """A random encoding with an exponent near that of 1, all other bits free."""
    sign, exponent_bits, fraction = _fields(fmt)
    low, high = max(1, fmt.bias - _SPREAD // 2), min((1 << exponent_bits) - 2, fmt.bias + _SPREAD // 2)
    exponent = rng.randint(min(low, high), max(low, high)) if exponent_bits else 0
    raw = (exponent << fraction) | (rng.getrandbits(fraction) if fraction else 0)
    return raw | (rng.getrandbits(sign) << (fmt.width - 1) if sign else 0)
