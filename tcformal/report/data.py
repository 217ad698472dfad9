"""Results and traces as plain data for `--json`: exact values as text, encodings in hex."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tcformal.design.unit import UnitSpec
from tcformal.oracle.numerals import number_text
from tcformal.oracle.values import format_value, hex_word
from tcformal.query.explain.trace import Rounding, SumStep, Trace, divergence


def result_data(spec: UnitSpec, raw: int) -> dict[str, str]:
    """One result: unit, exact value, encoding."""
    d = spec.operands.d
    return {"unit": spec.name, "value": format_value(d, raw), "hex": hex_word(d, raw)}


def explanation_data(traces: Sequence[Trace]) -> dict[str, Any]:
    """Traces, and the first divergence of two."""
    data: dict[str, Any] = {
        "units": [
            {**result_data(t.unit, t.result), "steps": [_step_data(step) for step in t.steps]} for t in traces
        ]
    }
    if len(traces) == 2:
        found = divergence(traces[0], traces[1])
        data["part_at"] = (
            None if found is None else {"stage": found.stage, "values": [found.first, found.second]}
        )
    return data


def _step_data(step: SumStep) -> dict[str, Any]:
    return {
        "scope": step.scope,
        "e_max": step.e_max,
        "fraction_bits": step.fraction_bits,
        "special": step.special,
        "blamed": list(step.blamed),
        "nan_of": step.nan_of,
        "exact": step.exact,
        "terms": [
            {
                "name": t.name,
                "value": number_text(t.value),
                "exponent": t.exponent,
                "kept": t.kept_bits,
                "discarded": t.discarded,
            }
            for t in step.terms
        ],
        "sum": number_text(step.total),
        "wrapped": step.wrapped,
        "floor": None if step.floor is None else _rounding_data(step.floor),
        "rounding": None if step.rounding is None else _rounding_data(step.rounding),
    }


def _rounding_data(rounding: Rounding) -> dict[str, Any]:
    return {
        "conversion": rounding.conversion,
        "normalised": rounding.bits,
        "exponent": rounding.exponent,
        "precision": rounding.precision,
        "away": rounding.away,
        "overflow": rounding.overflow,
    }
