"""The committed outputs of a real `vdpbf16ps`: how many there are, and which designs they refute."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from kept_runs import runs_of
from tcformal.design import axes
from tcformal.design.names import resolve
from tcformal.design.unit import Evidence, UnitSpec
from tcformal.devices.runs import Piece, Run, pieces_of, read_runs
from tcformal.devices.tally import groups
from tcformal.encodings.spec import Format
from tcformal.identification.refutation import compare
from tcformal.simulation.matrix_unit import replay

HARDWARE = Path(__file__).parents[2] / "results" / "hardware"
H100 = HARDWARE / "NVIDIA-H100-80GB-HBM3"
VDP = sorted((HARDWARE / "AMD-EPYC").rglob("vdpbf16ps.jsonl*"))


def test_there_are_some() -> None:
    """More than 10^6 dot products of a real dot-product instruction, from a run that came to its end."""
    (path,) = VDP
    (run,) = read_runs(path)
    assert run.ended
    random = [line for line in run.done if line["kind"] == "random"]
    assert sum(line["count"] for line in random) >= 10**6
    assert len(run.done) - len(random) > 1000


def test_wrong_designs_are_refuted_by_name(tmp_path: Path) -> None:
    """The other order and the wrong subnormals, by what the processor gave for directed inputs alone."""
    (path,) = VDP
    lines = lzma.decompress(path.read_bytes()).decode().splitlines()
    directed = tmp_path / "directed.jsonl"
    kept = [line for line in lines if json.loads(line)["kind"] not in ("random", "end")]
    directed.write_text("\n".join(kept) + "\n")
    found = compare(directed)
    assert found.survives
    assert "did not come to its end" in found.lacks
    refuted = {r.design.name.partition("@")[2]: r for r in found.refuted if "@" in r.design.name}
    for change in (
        "order=ascending", "operand_subnormals=kept", "c_subnormals=kept", "result_subnormals=kept",
        "result_subnormals=signed_zero",
        "rounding=RZ", "product_rounding=RNE-FP32", "nan_rule=word",
    ):  # fmt: skip
        assert refuted[change].where
        assert refuted[change].given != refuted[change].designed


# --------------------------------------------------------------------- what the campaign on an H100 fixes
#: Of `mma`, the doubles and the compositions one each; the long run takes them all, `wgmma` too.
FEW = (
    "hopper/mma.m16n8k4.f32.tf32.tf32.f32", "hopper/mma.m8n8k4.f64.f64.f64.f64",
    "hopper/emulated.mma.m8n8k4.f32.f16.f16.f32",
)  # fmt: skip


@cache
def campaign() -> dict[str, Run]:
    return {str(run.head["unit"]): run for run in runs_of(H100)}


LEADERS = [group.leader.name for group in groups(map(resolve, campaign()))]


def kept(name: str, seeds: tuple[int, ...]) -> list[Piece]:
    """The directed outputs of a unit and random ones: 12,000 of seed 1, 252,000 of seeds 1 to 3."""
    run = campaign()[name]
    return list(pieces_of(replace(run, done=[x for x in run.done if x.get("seed", 1) in seeds]), H100))


def varied(spec: UnitSpec, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, UnitSpec]]:
    """A unit with one parameter changed to each value near, and the parameter; compositions inside."""
    with monkeypatch.context() as patched:
        patched.setattr(axes, "resolve", lambda name: replace(resolve(name), emulation=None))
        changed = list(axes.neighbours(replace(spec, emulation=None)))
    for u in changed:
        parameter = u.name.removeprefix(spec.name).lstrip("@,").partition("=")[0]
        yield {"rounding": "conversion"}.get(parameter, parameter), replace(u, emulation=spec.emulation)


def below_two(fmt: Format) -> Fraction:
    return 2 - Fraction(1, 1 << fmt.fraction_bits)


def same_sum(spec: UnitSpec, parameter: str, u: UnitSpec) -> bool:
    """Whether a change cannot be seen: a sum that is wide enough, blocks longer than what is summed."""
    o, length = spec.operands, max(map(len, spec.emulation.parts)) if spec.emulation else spec.k
    if parameter == "products":
        return min(length, u.design.products) == min(length, spec.design.products)
    largest = min(length, spec.design.products) * below_two(o.a) * below_two(o.b) + below_two(o.c)
    return parameter == "carry_bits" and (u.design.carry_bits or 0) >= int(largest).bit_length() - 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in FEW else pytest.mark.long) for name in LEADERS]
)
def test_measured_parameters_have_no_other_value(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every other value near is refuted by an output; but those that no sum of the unit could show."""
    spec, pieces = resolve(name), kept(name, (1,) if name in FEW else (1, 2, 3))
    claimed = {x for x, fact in spec.facts.items() if fact.evidence is Evidence.MEASURED}
    assert claimed >= {"products", "conversion"}
    if spec.design.nan_rule != "word":
        # Another sum is compared by its numbers: whose NaN it would give is not known.
        numbers = resolve(f"{name}@nan_rule=word")
        others = [(x, u) for x, u in varied(numbers, monkeypatch) if x not in ("nan_rule", "nan_word")]
        others += [(x, u) for x, u in varied(spec, monkeypatch) if x in ("nan_rule", "nan_word")]
    else:
        others = list(varied(spec, monkeypatch))
    left = [
        u.name
        for x, u in others
        if x in claimed and not same_sum(spec, x, u) and not any(refutes(p, x, u) for p in pieces)
    ]
    assert left == []
    tried = {x for x, _ in others}
    # What a fused sum does with NaNs has no other value: all operands' NaNs give one word.
    assert claimed - tried <= {"nan_rule"}
    if "nan_rule" in claimed - tried:
        words, origins = nans(spec, pieces)
        assert len(words) == 1
        assert len(origins) > 4


def refutes(piece: Piece, parameter: str, u: UnitSpec) -> bool:
    """Whether an output is not that of a unit; under another nan_rule, an output that is a number."""
    wrong = replay(u, piece.batch) != piece.outputs
    if not parameter.startswith("nan_"):
        wrong &= ~u.operands.d.is_nan(piece.outputs)
    return bool(wrong.any())


def nans(spec: UnitSpec, pieces: list[Piece]) -> tuple[set[int], set[int]]:
    """The words of NaN results, and the NaNs of C among the operands."""
    o = spec.operands
    words = {int(w) for p in pieces for w in p.outputs[o.d.is_nan(p.outputs)]}
    origins = {int(w) for p in pieces for w in p.batch.c[o.c.is_nan(p.batch.c)]}
    return words, origins


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [(1,), pytest.param((1, 2, 3), marks=pytest.mark.long)])
def test_the_compositions_are_those_of_the_compiler(seeds: tuple[int, ...]) -> None:
    """Not the native instruction, not the halves in the other order, nor all k in one HMMA."""
    name = "hopper/emulated.mma.m16n8k32.f32.e4m3.e4m3.f32"
    spec, pieces = resolve(name), kept(name, seeds)
    assert spec.emulation is not None
    first, second = spec.emulation.parts
    for parts in ((second, first), (tuple(range(16)), tuple(range(16, 32))), (tuple(range(32)),)):
        other = replace(spec, emulation=replace(spec.emulation, parts=parts))
        assert any((replay(other, p.batch) != p.outputs).any() for p in pieces), parts
    native = resolve("hopper/wgmma.m64n8k32.f32.e4m3.e4m3")
    assert any((replay(native, p.batch) != p.outputs).any() for p in pieces)
    assert all((replay(spec, p.batch) == p.outputs).all() for p in pieces)
