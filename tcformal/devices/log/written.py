"""The lines of a result file: head, faults, directed and random items, end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tcformal.design.unit import UnitSpec
from tcformal.devices.plan.plan import Directed, Random
from tcformal.devices.sealed import SCHEMA
from tcformal.oracle.values import hex_word
from tcformal.programs.chain import definition
from tcformal.simulation.operands.batch import Raw, digest_of
from tcformal.store.schema import now
from tcformal.version import VERSION


def head_line(spec: UnitSpec, k: int, plan: str, defined: str = "", **more: Any) -> dict[str, Any]:
    """The head line of a run over dot products of `k` terms; device and date are added with `more`.

    `defined` is the digest of the unit's definition, where the caller has it already.
    """
    return {
        "kind": "run", "schema": SCHEMA, "unit": spec.name, "k": k, "plan": plan,
        "definition": defined or definition(spec), "tcformal": VERSION, **more,
    }  # fmt: skip


def fault_line(id_: str, error: Exception, **more: Any) -> dict[str, Any]:
    """The line of an item that failed, with its error."""
    return {"kind": "fault", "id": id_, "date": now(), "reason": str(error), **more}


def end_line(count: int, mismatches: int) -> dict[str, Any]:
    """The last line of a completed run, with its counts."""
    return {"kind": "end", "date": now(), "dot_products": count, "mismatches": mismatches}


def random_line(
    spec: UnitSpec, item: Random, outputs: Raw, model: Raw, most: int | None = None
) -> dict[str, Any]:
    """The line of a random item: digest and mismatches; more than `most` mismatches are only counted."""
    wrong = np.flatnonzero(outputs != model[: len(outputs)])
    line = {**item.data(spec), "outputs": digest_of(outputs)}
    if most is not None and len(wrong) > most:
        return {**line, "not_kept": len(wrong), "mismatches": {}}
    words = {str(int(row)): hex_word(spec.operands.d, int(outputs[row])) for row in wrong}
    return {**line, "mismatches": words}


def directed_line(spec: UnitSpec, item: Directed, output: int, model: int) -> dict[str, Any]:
    """The line of a directed item: operands, output and the model's result."""
    d = spec.operands.d
    return {**item.data(spec), "d": hex_word(d, output), "model": hex_word(d, model)}


def mismatches_in(line: Mapping[str, Any]) -> int:
    """The number of mismatches with the model that a line reports."""
    if line["kind"] == "suite":
        return int(line["mismatches"])
    if line["kind"] == "random":
        return len(line["mismatches"]) + int(line.get("not_kept", 0))
    return int(line["d"] != line["model"])
