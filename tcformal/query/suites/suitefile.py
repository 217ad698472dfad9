"""Suites as plain data: encodings in hex with exact values, designs by name."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from tcformal.design.names import resolve
from tcformal.errors import RecordError, TcformalError
from tcformal.oracle.values import value_data
from tcformal.programs.chain import scale_count
from tcformal.query.question import Kind
from tcformal.query.suites.made import LISTED, Equal, Suite, Undecided
from tcformal.simulation.operands.witness import read_value, read_witness, witness_data


def to_json(s: Suite) -> dict[str, Any]:
    """A suite as plain data; a small one lists the separating input of each pair."""
    o, scale = s.designs[0].operands, s.designs[0].scale_format
    names = [spec.name for spec in s.designs]
    return {
        "k": s.k,
        "formats": o.names(),
        "scale": None if scale is None else scale.name,
        "designs": names,
        "inputs": [
            {
                **witness_data(s.designs[0].input_formats(), w),
                "results": [value_data(o.d, x) for x in row],
            }
            for w, row in zip(s.inputs, s.results, strict=True)
        ],
        "separated": [
            {"first": i, "second": j, "input": found}
            for i, j in combinations(range(len(names) if len(names) <= LISTED else 0), 2)
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
        "replayed": s.replayed,
        "tcformal": s.version,
    }  # fmt: skip


def from_json(data: Mapping[str, Any]) -> Suite:
    """Read a suite from plain data, without checking it (see `suite.complaints`).

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
    formats, d = designs[0].input_formats(), designs[0].d_format
    count, k = len(designs), int(data["k"])
    scales = dict.fromkeys(("scale_a", "scale_b"), scale_count(designs[0], k))
    inputs, results = [], []
    for entry in data["inputs"]:
        inputs.append(read_witness(formats, dict.fromkeys(("a", "b"), k) | scales, entry))
        results.append(tuple(read_value(d, x) for x in entry["results"]))
        if len(results[-1]) != count:
            raise RecordError(f"expected {count} results, but got {len(results[-1])}")
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
        version=data["tcformal"], replayed=data.get("replayed", count * len(inputs)),
    )  # fmt: skip


def _index(i: int, count: int) -> int:
    if not 0 <= i < count:
        raise RecordError(f"expected the number of a design below {count}, but got {i}")
    return i
