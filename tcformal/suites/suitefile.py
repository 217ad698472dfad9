"""Suites as plain data and back: encodings in hex with their exact values, designs by name."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from tcformal.design.names import resolve
from tcformal.errors import RecordError, TcformalError
from tcformal.formats.spec import Format
from tcformal.operands.witness import Witness
from tcformal.oracle.values import format_value, value_data
from tcformal.query.question import Kind
from tcformal.suites.made import Equal, Suite, Undecided


def to_json(s: Suite) -> dict[str, Any]:
    """A suite as plain data; for each pair the input that tells it apart."""
    o, scale = s.designs[0].operands, s.designs[0].scale_format
    formats: dict[str, Format] = {"a": o.a, "b": o.b, "c": o.c, "d": o.d}
    names = [spec.name for spec in s.designs]
    return {
        "k": s.k,
        "formats": {name: fmt.name for name, fmt in formats.items()},
        "scale": None if scale is None else scale.name,
        "designs": names,
        "inputs": [
            {
                "a": [value_data(o.a, x) for x in w.a],
                "b": [value_data(o.b, x) for x in w.b],
                "c": value_data(o.c, w.c),
                "scale_a": [] if scale is None else [value_data(scale, x) for x in w.scale_a],
                "scale_b": [] if scale is None else [value_data(scale, x) for x in w.scale_b],
                "results": [value_data(o.d, x) for x in row],
            }
            for w, row in zip(s.inputs, s.results, strict=True)
        ],
        "separated": [
            {"first": i, "second": j, "input": found}
            for i, j in combinations(range(len(names)), 2)
            if (found := s.separator(i, j)) is not None
        ],
        "equal": [
            {
                "first": e.first, "second": e.second, "reason": e.reason,
                "same_definition": e.same_definition, "confirmed_by": list(e.confirmed_by),
                "certificate": e.certificate,
            }
            for e in s.equal
        ],
        "undecided": [
            {"first": u.first, "second": u.second, "verdict": u.verdict.name, "reason": u.reason}
            for u in s.undecided
        ],
        "at_least": s.at_least,
        "tried": s.tried,
        "asked": s.asked,
        "seed": s.seed,
        "seconds": round(s.seconds, 3),
        "refused": s.refused,
        "same_parameters": s.same,
        "replayed_on": ["integers", "fractions"],
        "tcformal": s.version,
    }  # fmt: skip


def from_json(data: Mapping[str, Any]) -> Suite:
    """A suite from plain data; what it says is not believed here (`suite.complaints` looks).

    Errors: RecordError for data of another shape, designs that no longer exist, and encodings that do
    not fit their values.
    """
    try:
        return _read(data)
    except RecordError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, TcformalError) as error:
        raise RecordError(
            f"expected a suite as `tcformal suite --json` prints it, but got {error}"
        ) from error


def _read(data: Mapping[str, Any]) -> Suite:
    designs = tuple(resolve(name) for name in data["designs"])
    o, scale = designs[0].operands, designs[0].scale_format
    count, k = len(designs), int(data["k"])
    inputs, results = [], []
    for entry in data["inputs"]:
        a, b = (tuple(_raw(fmt, x) for x in entry[n]) for n, fmt in (("a", o.a), ("b", o.b)))
        scales = [
            () if scale is None else tuple(_raw(scale, x) for x in entry[n]) for n in ("scale_a", "scale_b")
        ]
        inputs.append(Witness(a, b, _raw(o.c, entry["c"]), scales[0], scales[1]))
        results.append(tuple(_raw(o.d, x) for x in entry["results"]))
        if (len(a), len(b), len(results[-1])) != (k, k, count):
            raise RecordError(
                f"expected {k} values for a and b and {count} results, but got {len(a)}, {len(b)} "
                f"and {len(results[-1])}"
            )
    return Suite(
        designs=designs, k=k, inputs=tuple(inputs), results=tuple(results),
        equal=tuple(
            Equal(
                _index(e["first"], count), _index(e["second"], count), e["reason"], e["same_definition"],
                tuple(e["confirmed_by"]), e["certificate"],
            )
            for e in data["equal"]
        ),
        undecided=tuple(
            Undecided(_index(u["first"], count), _index(u["second"], count), Kind[u["verdict"]], u["reason"])
            for u in data["undecided"]
        ),
        at_least=data["at_least"], tried=data["tried"], asked=data["asked"], seed=data["seed"],
        seconds=data["seconds"], refused=data["refused"], same=data["same_parameters"],
        version=data["tcformal"],
    )  # fmt: skip


def _raw(fmt: Format, data: Mapping[str, str]) -> int:
    raw = int(data["hex"], 16)
    if format_value(fmt, raw) != data["value"]:
        raise RecordError(
            f"expected {format_value(fmt, raw)} as the value of {data['hex']}, but got {data['value']}"
        )
    return raw


def _index(i: int, count: int) -> int:
    if not 0 <= i < count:
        raise RecordError(f"expected the number of a design below {count}, but got {i}")
    return i
