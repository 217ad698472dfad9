"""The lines of a file of results, as a run writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tcformal.design.unit import UnitSpec
from tcformal.ir.walk import digest
from tcformal.operands.random import Raw
from tcformal.operands.text import digest_of
from tcformal.oracle.values import hex_word
from tcformal.probe.plan.plan import Directed, Random
from tcformal.programs.chain import circuit


def definition_of(spec: UnitSpec) -> str:
    """SHA-256 of a unit's definition."""
    graph, root = circuit(spec, spec.k)
    return digest(graph, {"d": root})


def random_line(
    spec: UnitSpec, item: Random, outputs: Raw, model: Raw, most: int | None = None
) -> dict[str, Any]:
    """The line of a random item; of more than `most` mismatches the rest is only counted."""
    wrong = np.flatnonzero(outputs != model[: len(outputs)])
    line = {**item.data(spec), "outputs": digest_of(outputs)}
    if most is not None and len(wrong) > most:
        return {**line, "not_kept": len(wrong), "mismatches": {}}
    words = {str(int(row)): hex_word(spec.operands.d, int(outputs[row])) for row in wrong}
    return {**line, "mismatches": words}


def directed_line(spec: UnitSpec, item: Directed, output: int, model: int) -> dict[str, Any]:
    """The line of a directed item."""
    d = spec.operands.d
    return {**item.data(spec), "d": hex_word(d, output), "model": hex_word(d, model)}


def mismatches_in(line: Mapping[str, Any]) -> int:
    """The number of outputs of one line that differ from the model's."""
    if line["kind"] == "suite":
        return int(line["mismatches"])
    if line["kind"] == "random":
        return len(line["mismatches"]) + int(line.get("not_kept", 0))
    return int(line["d"] != line["model"])
