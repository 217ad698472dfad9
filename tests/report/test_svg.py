"""The alignment picture: its bits are those of the trace, its mark the divergence, its words say it all."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

import tcformal
from tcformal.cli import main
from tcformal.design.names import resolve
from tcformal.oracle.numerals import power_of_two
from tcformal.query.explain.explain import explain_witness
from tcformal.query.explain.trace import Trace
from tcformal.report.svg import blocks, panels_svg, picture_svg
from tcformal.simulation.operands.batch import batch
from tcformal.simulation.operands.given import witness_of
from tcformal.simulation.operands.witness import Witness

SVG = "{http://www.w3.org/2000/svg}"
AMPERE, HOPPER = (f"{arch}/mma.m16n8k16.f32.f16.f16.f32" for arch in ("ampere", "hopper"))
DESIGNS = [
    AMPERE, HOPPER, "volta/mma.m8n8k4.f32.f16.f16.f16", "ampere/mma.m16n8k8.f32.tf32.tf32.f32",
    "valpey@terms=5,carry_bits=0", "sequential@products=4", "tfdpa@products=2,fraction_bits=exact",
    "sequential@products=4,summation=two_chains", "cdna3/v_mfma_f32_16x16x16_f16",
]  # fmt: skip


def traces(name: str, count: int = 12) -> list[Trace]:
    spec = resolve(name)
    x = batch(spec, spec.k, count, 7)
    rows = zip(x.a.tolist(), x.b.tolist(), x.c.tolist(), strict=True)
    return [explain_witness(spec, Witness(tuple(a), tuple(b), c)) for a, b, c in rows]


def bits_value(digits: str, column: int) -> Fraction:
    """What drawn bits are worth, in units of 2^e_max."""
    return Fraction(int(digits, 2)) * power_of_two(-(column + len(digits) - 1))


@pytest.mark.parametrize("name", DESIGNS)
def test_the_drawn_bits_are_those_of_the_stages(name: str) -> None:
    """Kept bits are worth what the sum takes in, and with the discarded ones, what the term is worth."""
    checked = 0
    for trace in traces(name):
        for step, block in zip(trace.steps, blocks(trace), strict=True):
            if step.special:
                assert step.special in block.title
                continue
            if block.shortened:
                continue
            live = [term for term in step.terms if not term.zero]
            unit = power_of_two(step.e_max)
            for term, row in zip(live, block.rows[: len(live)], strict=True):
                kept = sum(bits_value(b.digits, b.column) for b in row.bits if b.role == "kept")
                if not step.exact:
                    # A negative term that is rounded down is drawn by its magnitude, as it is aligned.
                    assert kept * unit == abs(term.kept)
                if (
                    all("…" not in b.digits for b in row.bits)
                    and not step.exact
                    and kept * unit <= abs(term.value)
                ):
                    assert unit * sum(bits_value(b.digits, b.column) for b in row.bits) == abs(term.value)
                checked += 1
            total = sum(bits_value(b.digits, b.column) for b in block.rows[len(live)].bits)
            if not step.exact:
                assert total * unit == abs(step.total)
    assert checked or "exact" in name


@pytest.mark.parametrize("name", DESIGNS)
def test_a_picture_is_well_formed_and_has_words(name: str) -> None:
    for trace in traces(name, 4):
        root = ElementTree.fromstring(picture_svg([trace]))
        assert root.get("role") == "img"
        words = {
            child.get("id"): child.text or "" for child in root if child.tag in (SVG + "title", SVG + "desc")
        }
        assert all(words[key] for key in root.attrib["aria-labelledby"].split())
        said = " ".join(words.values())
        for block in blocks(trace):
            assert block.title in said
            assert all(row.name in said for row in block.rows)


def marked(names: tuple[str, str], a: str, b: str, c: str) -> list[tuple[str, bool]]:
    specs = [resolve(name) for name in names]
    made = [
        explain_witness(s, witness_of(s, [a] + ["0"] * (s.k - 1), [b] + ["0"] * (s.k - 1), c)) for s in specs
    ]
    assert picture_svg(made).count("◀") == 2
    found = tcformal.diverge(*names, made[0].witness)
    rows = [row for trace in made for block in blocks(trace, found) for row in block.rows]
    return [(row.name.partition(" = ")[0], row.marked) for row in rows if row.marked]


@pytest.mark.parametrize(
    ("names", "operands", "row"),
    [
        ((AMPERE, HOPPER), ("16384", "1", "-2^-11"), "c"),
        ((f"{HOPPER}@conversion=RNE-FP32", HOPPER), ("1", "1", "0x33c00000"), "RNE-FP32"),
        (("valpey@terms=3,carry_bits=0", "valpey@terms=3,carry_bits=2"), ("1.5", "1.5", "3"), "sum"),
    ],
)  # fmt: skip
def test_the_first_stage_that_differs_is_marked_in_both(
    names: tuple[str, str], operands: tuple[str, str, str], row: str
) -> None:
    first, second = marked(names, *operands)
    assert first == (row, True)
    assert second[1]


def test_nothing_is_marked_where_units_do_the_same() -> None:
    spec = resolve(AMPERE)
    trace = explain_witness(spec, witness_of(spec, ["1"] * 16, ["1"] * 16, "1"))
    assert "◀" not in picture_svg([trace, trace])
    assert "do the same" in picture_svg([trace, trace])


def test_two_pictures_on_one_page_share_no_name() -> None:
    made = [svg for trace in traces(AMPERE, 3) for svg in panels_svg([trace])]
    ids = [x.attrib["id"] for svg in made for x in ElementTree.fromstring(svg).iter() if "id" in x.attrib]
    assert len(ids) == len(set(ids)) == 9


def test_explain_writes_a_picture_and_a_page_of_its_own(tmp_path: Path) -> None:
    words = ["explain", AMPERE, HOPPER, "--a", "16384,...", "--b", "1,...", "--c=-2^-11"]
    files = ["--svg", str(tmp_path / "sum.svg"), "--html", str(tmp_path / "sum.html")]
    result = CliRunner().invoke(main, [*words, *files])
    assert result.exit_code == 0, result.output
    ElementTree.parse(tmp_path / "sum.svg")
    page = (tmp_path / "sum.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 2
    assert "the alignment of c" in page
    assert "src=" not in page
    assert 'rel="stylesheet"' not in page
    lost = CliRunner().invoke(main, [*words, "--svg", str(tmp_path / "no" / "sum.svg")])
    assert lost.exit_code == 2
    assert "no such folder" in lost.output


def test_notebooks_show_pictures_and_tables() -> None:
    verdict = tcformal.separate(f"{AMPERE}@fraction_bits=25", AMPERE)
    trace = tcformal.explain(AMPERE, verdict.witness) if verdict.witness else None
    assert trace is not None
    assert "<svg" in str(trace._repr_svg_())
    assert "fraction_bits" in str(tcformal.unit(AMPERE)._repr_html_())
    said = str(verdict._repr_html_())
    assert "SEPARATED" in said
    assert said.count("<svg") == 2
