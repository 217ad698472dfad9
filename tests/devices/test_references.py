"""Kept outputs of published implementations: how many there are, and where one of them is not the model's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kept_runs import HARDWARE, INEXACT, NVDLA, ZEROS, runs_of
from tcformal.design.catalog import catalogue
from tcformal.design.unit import Evidence
from tcformal.devices.entries import mismatches_in
from tcformal.devices.runs import Piece, Run, files_of, pieces_of, unit_of
from tcformal.encodings.spec import Format
from tcformal.report.references import is_reference
from tcformal.simulation.matrix_unit import unit

#: Silicon with hundreds of units is left out: reading it takes a second.
FOLDERS = [p for p in sorted(HARDWARE.iterdir()) if files_of(p) and not p.name.startswith("NVIDIA-")]


def references(path: Path) -> dict[str, Run]:
    """The last run of each unit of a folder, if it is a reference's."""
    found = {str(run.head["unit"]): run for run in runs_of(path) if run.done}
    return {name: run for name, run in found.items() if is_reference(run.head["device"])}


def random(run: Run) -> int:
    return sum(int(line["count"]) for line in run.done if line["kind"] == "random")


def test_a_million_random_outputs_of_each_unit_of_a_reference_are_kept() -> None:
    kept = {(path.name, name): random(run) for path in FOLDERS for name, run in references(path).items()}
    assert len(kept) > 50
    assert {which: count for which, count in kept.items() if count < 10**6} == {}


def test_reference_evidence_is_what_is_kept() -> None:
    """A unit claims a reference exactly where outputs of a program are kept, and none of hardware."""
    kept = {
        name.partition("@")[0]: f"results/hardware/{path.name}"
        for path in FOLDERS
        for name, run in references(path).items()
        if run.head["device"].get("evidence") == "reference"
    }
    for name, spec in catalogue().items():
        sources = {
            f.source.partition("; ")[0] for f in spec.facts.values() if f.evidence is Evidence.REFERENCE
        }
        measured = [f.source for f in spec.facts.values() if f.evidence is Evidence.MEASURED]
        assert sources == ({kept[name]} if name in kept and not measured else set()), name
        assert all(kept[name] in source for source in measured if name in kept), name


def test_no_reference_differs_from_its_unit_but_three() -> None:
    wrong = {
        path: sum(mismatches_in(line) for line in run.done)
        for path in FOLDERS for run in references(path).values()
    }  # fmt: skip
    assert {path for path, count in wrong.items() if count} == set(INEXACT)


def differing(pieces: Iterable[Piece], fmt: Format) -> list[bool]:
    """For each dot product whose kept output is not the model's: whether a factor is Inf."""
    magnitude = (1 << (fmt.width - 1)) - 1
    return [
        any(int(x) & magnitude == fmt.infinity for x in (*piece.batch.a[i], *piece.batch.b[i]))
        for piece in pieces
        for i in np.flatnonzero(piece.outputs != piece.model)
    ]


@pytest.mark.parametrize("most", [20_000, pytest.param(10**6, marks=pytest.mark.long)])
def test_cute_and_cvfpu_differ_in_the_sign_of_zeros_and_nowhere_else(most: int) -> None:
    for folder in ZEROS:
        for run in references(folder).values():
            few = replace(run, done=[x for x in run.done if x["kind"] != "random" or x["count"] <= most])
            sign = 1 << (unit_of(run, folder).d_format.width - 1)
            for piece in pieces_of(few, folder):
                i = np.flatnonzero(piece.outputs != piece.model)
                assert {*piece.outputs[i].tolist(), *piece.model[i].tolist()} <= {0, sign}


@pytest.mark.parametrize("most", [0, pytest.param(10**6, marks=pytest.mark.long)])
def test_nvdlas_model_differs_where_a_factor_is_inf_and_nowhere_else(most: int) -> None:
    (run,) = references(NVDLA).values()
    few = replace(run, done=[x for x in run.done if x["kind"] != "random" or x["count"] <= most])
    found = differing(pieces_of(few, NVDLA), unit_of(run, NVDLA).a_format)
    assert len(found) == sum(mismatches_in(line) for line in few.done) > 50
    assert all(found)


CLAMP = {
    "gfx11": "rdna3/v_wmma_i32_16x16x16_iu8.i8.u8.clamp",
    "gfx12": "rdna4/v_wmma_i32_16x16x32_iu4.i4.u4.clamp",
}


@pytest.mark.parametrize("products", [1, 2, 4, 8, None])
@pytest.mark.parametrize("gfx", CLAMP)
def test_wmma_saturates_at_its_end_and_not_after_some_products(gfx: str, products: int | None) -> None:
    path, name = HARDWARE / f"rocjitsu-{gfx}-f319585b-integers", CLAMP[gfx]
    run = references(path)[name]
    few = replace(run, done=[x for x in run.done if x["kind"] == "random" and x["count"] <= 20_000])
    u = unit(name if products is None else f"{name}@products={products}")
    wrong = sum(
        int(np.count_nonzero(u.dot_bits(x.batch.a, x.batch.b, x.batch.c) != x.outputs))
        for x in pieces_of(few, path)
    )
    assert wrong == 0 if products is None else wrong > 100
