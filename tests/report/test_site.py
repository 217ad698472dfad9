"""The site: each page is made from the records, says how far it was checked, and links to what there is."""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import tcformal
from tcformal.analysis.bounds.accuracy import accuracy
from tcformal.analysis.queryfile import known_queries
from tcformal.callbacks import ignore, ignore_count
from tcformal.design.names import resolve
from tcformal.errors import InputError, RecordError
from tcformal.query.pairs.pairs import Pair, groups
from tcformal.report.site import pages as site_pages
from tcformal.report.site import play
from tcformal.report.site.bundle import _UNUSED, scripts, sources
from tcformal.report.site.pages import (
    address,
    architecture_pages,
    figure_pages,
    folded,
    nan_stories,
    pair_pages,
    replayed,
    witness_of_record,
)
from tcformal.report.site.story import LENGTH, OPENING, same_sums, widths
from tcformal.simulation.matrix_unit import Unit
from tcformal.simulation.operands.batch import batch
from tcformal.simulation.operands.witness import Witness
from tcformal.store.store import Store

ROOT = Path(__file__).resolve().parents[2]
AMPERE, HOPPER = (f"{arch}/mma.m16n8k16.f32.f16.f16.f32" for arch in ("ampere", "hopper"))
BF16 = ("x86/vdpbf16ps", "arm/bfdot.ebf0")


class Links(HTMLParser):
    """The targets of a page as files with places, and its own places."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[tuple[str, str]] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.names.add(value)
            if (tag, name) in (("a", "href"), ("script", "src"), ("link", "href")) and value:
                file, _, place = value.partition("#")
                self.targets.append((file, "" if file.endswith("playground.html") else place))


def drawn_figures(folder: Path) -> None:
    """A figure as `--plot` writes it, and three that say too little."""
    folder.mkdir()
    for name, head in {
        "kept": "# tcformal statistics U --n 4 (tcformal 0.1.0)",
        "foreign": "n,error",
    }.items():
        (folder / f"{name}.csv").write_text(f"{head}\nn,error\n4,<b>0.5\n")
        (folder / f"{name}.svg").write_text("<svg><script>parent.x</script></svg>")
    (folder / "alone.csv").write_text("# tcformal statistics U (tcformal 0.1.0)\nn\n1\n")
    (folder / "linked.csv").symlink_to(folder / "kept.csv")
    (folder / "linked.svg").symlink_to(folder / "kept.svg")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of one group of formats and one file of questions, with one answer."""
    made = tmp_path_factory.mktemp("site")
    results = made / "results"
    tcformal.separate(*BF16, store=Store(results))
    drawn_figures(results / "figures")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site_pages, "groups", lambda: groups(BF16[1]))
        some = {n: p for n, p in known_queries().items() if n == "disagreements/truncation"}
        patch.setattr(site_pages, "known_queries", lambda: some)
        site_pages.build(made / "out", results, verify=False, part=lambda _: ignore_count, warn=ignore)
    return made / "out"


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def whole(page: Path) -> str:
    """A page with what its folds hold, which of a heavy page is in a script beside it."""
    text, apart = text_of(page), page.with_suffix(".js")
    if "data-insides" in text:
        found = re.search(r'"insides", "([^"]+)", (\d+)', text_of(apart))
        assert found is not None
        held = json.loads(gzip.decompress(base64.b85decode(found[1])[: int(found[2])]))
        text = re.sub(r'data-inside="(\d+)">', lambda x: f">{held[int(x[1])]}", text)
    return text


@pytest.mark.slow
def test_every_link_resolves_and_nothing_is_fetched(site: Path) -> None:
    """Files, and places on them; the playground's address holds operands instead."""
    pages = {page: Links(whole(page)) for page in site.rglob("*.html")}
    assert len(pages) > 20
    lost = {}
    for page, links in pages.items():
        assert "http://" not in whole(page).replace("http://www.w3.org", "")
        for target, place in links.targets:
            found = (page.parent / target).resolve() if target else page
            known = found in pages and place in pages[found].names
            if not found.is_file() or (place and not known):
                lost[str(page)] = (target, place)
    assert lost == {}


def test_what_the_folds_of_a_heavy_page_hold_is_apart() -> None:
    fold = '<details><summary>{0}</summary><div class="inside">\n<p>{0}</p>\n</div></details>'
    light = f'<main id="main">{fold.format(1)}{fold.format(2)}</main>'
    assert folded("x/light.html", light) == {"x/light.html": light}
    made = folded("x/heavy.html", light + "-" * 100_000)
    assert sorted(made) == ["x/heavy.html", "x/heavy.js"]
    assert 'data-insides="heavy.js"' in made["x/heavy.html"]
    assert "<p>1</p>" not in made["x/heavy.html"]
    assert "<summary>2</summary>" in made["x/heavy.html"]


@pytest.mark.slow
def test_a_figure_stands_with_its_data_and_command(site: Path) -> None:
    """Pictures are files of their own, in which nothing runs; a figure that says no command is left out."""
    text = text_of(site / "checks.html")
    assert "<h3>kept</h3>" in text
    assert text.count("<img ") == 1
    assert '<img src="figures/kept.svg"' in text
    assert "tcformal statistics U --n 4</pre>" in text
    assert ">&lt;b&gt;0.5</td>" in text
    assert [path.name for path in (site / "figures").iterdir()] == ["kept.svg"]


def test_what_is_wrong_with_a_figure_is_said(tmp_path: Path) -> None:
    drawn_figures(tmp_path / "figures")
    said: list[str] = []
    assert [page.name for page in figure_pages(tmp_path, said.append)] == ["kept"]
    assert [line.split(" is not shown: ")[0] for line in said] == [
        f"figure {name}.csv" for name in ("alone", "foreign", "linked")
    ]


@pytest.mark.slow
def test_a_pair_shows_its_witness_computed_again(site: Path) -> None:
    text = whole(site / "pairs" / "fp32-bf16-bf16-fp32.html")
    folds = {x[1]: x[0] for x in re.finditer('<details id="([^"]+)">.*?</details>', text, re.DOTALL)}
    kept = folds["x86-vdpbf16ps--arm-bfdot.ebf0"]
    assert "SEPARATED</strong>: computed again on integers and on fractions" in kept
    assert kept.count("<svg") == 2
    command = re.search(r"<pre[^>]*>(tcformal explain x86/vdpbf16ps arm/bfdot.ebf0 [^<]*)</pre>", kept)
    assert command is not None
    other = folds["x86-tdpbf16ps--arm-bfdot.ebf0"]
    assert "not answered" in other
    assert "tcformal separate x86/tdpbf16ps arm/bfdot.ebf0" in other


@pytest.mark.slow
def test_a_question_of_a_paper_stands_beside_its_answer(site: Path) -> None:
    text = whole(site / "papers" / "disagreements.html")
    assert "RZ (FASI), truncation (VALPEY)" in text
    assert "no kept answer" in text
    assert text.count("computed again on lanes, integers and fractions") == 2


@pytest.mark.slow
def test_a_design_shows_sources_evidence_and_neighbours(site: Path) -> None:
    text = whole(site / "gpu" / "hopper.html")
    for words in ("fraction bits", "measured", "tcformal units hopper/mma.m16n8k16.f32.f16.f16.f32", "2^"):
        assert words in text
    assert "pairs/fp32-bf16-bf16-fp32.html#x86-vdpbf16ps--arm-bfdot.ebf0" in whole(site / "gpu" / "x86.html")


def test_every_parameter_of_a_design_is_said_once() -> None:
    """Its own, and those of most designs of its architecture beside it."""
    for page in architecture_pages((), ()):
        for row in page.rows:
            own, usual = (
                [name for x in some.values() for name in x] for some in (row.parameters, page.usual)
            )
            names = [name.replace("_", " ") for name in row.spec.design.parameters()]
            assert sorted({*own, *usual}) == sorted(names), row.spec.name
            fact = row.spec.facts["fraction_bits"]
            known = (fact.evidence.name.lower(), fact.source)
            bits = row.spec.design.fraction_bits
            said = row.parameters.get(known, {}).get("fraction bits") or page.usual[known]["fraction bits"]
            assert said == ("none" if bits is None else str(bits))


@pytest.mark.slow
def test_every_number_has_a_command_beside_it(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert 'class="copy"' in text_of(page), page


# ------------------------------------------------------------------------------------------ first page


def test_the_timeline_says_what_the_catalogue_and_the_theorems_say() -> None:
    found = {(x.release.name, x.bits): x for x in widths()}
    assert all(
        re.fullmatch(r"20\d\d(-[01]\d)?", x.release.shown) and x.release.source for x in found.values()
    )
    for x in found.values():
        assert x.fraction_bits == resolve(x.name).design.fraction_bits
        assert x.unit.operands.d.name == ("fp64" if x.release.name == "NVDLA" else "fp32")
    eight = found["H100", 8]
    assert (eight.fraction_bits, eight.products) == (13, 32)
    assert eight.error == accuracy(eight.unit, length=LENGTH).bound
    # Products that are rounded one by one, in pairs by a tree, eight or sixteen at a time.
    names = ("Sapphire Rapids", "Gaudi", "A100", "H100")
    assert [found[name, 16].products for name in names] == [1, 2, 8, 16]
    assert found["NVDLA", 16].error is None


@pytest.mark.slow
def test_every_mark_of_the_timeline_leads_to_its_evidence(site: Path) -> None:
    text = text_of(site / "index.html")
    for x in widths():
        drawn = 2 if x.error is None else 3
        assert text.count(f'<a href="{address(x.unit.name)}" aria-label="{x.sentence()}"') == drawn


def test_of_the_sums_of_the_first_page_one_differs() -> None:
    sums = {row["exponent"]: row for row in same_sums()}
    assert [e for e, row in sums.items() if row["differ"]] == [OPENING]
    assert sums[OPENING]["decimals"] == ["1", "0.99999994"]
    assert "a=1&b=1&c=-2^-25" in str(sums[OPENING]["address"])


def test_a_forged_witness_is_not_shown(tmp_path: Path) -> None:
    """A witness on which both units give the same result is refused, whatever its record says."""
    zeros = Witness((0, 0), (0, 0), 0)
    with pytest.raises(RecordError, match="same result"):
        replayed(*BF16, zeros)
    store = Store(tmp_path)
    tcformal.separate(*BF16, store=store)
    (entry,) = store.records()
    honest = pair_pages(groups(BF16[1]), [entry], ignore_count)
    assert honest[Pair(*BF16)].verdict == "SEPARATED"
    for row in ("a", "b"):
        entry.record["witness"][row] = [{"hex": "0x0000", "value": "0"}] * 2
    entry.record["witness"]["c"] = {"hex": "0x00000000", "value": "0"}
    assert witness_of_record(entry.record) == zeros
    forged = pair_pages(groups(BF16[1]), [entry], ignore_count)[Pair(*BF16)]
    assert forged.verdict == "not answered"
    assert "refused" in forged.status


@pytest.mark.long
def test_the_nan_rule_of_amx_is_measured_from_the_recorded_tiles(tmp_path: Path) -> None:
    recorded = Path("hardware", "Intel-R-Xeon-R-Processor", "x86")
    shutil.copytree(ROOT / "results" / recorded, tmp_path / recorded)
    stories = nan_stories(tmp_path)
    assert [story.unit for story in stories[:1]] == ["x86/tdpbf16ps"]
    given = {rule: count for rule, count, _ in stories[0].rules}
    assert given[stories[0].chosen] == stories[0].nans > 1000
    # The recorded tiles do not tell these two apart.
    alike = {rule for rule, count in given.items() if count == stories[0].nans}
    assert alike == {stories[0].chosen, "products_c"}


def test_nothing_of_the_user_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="expected a new folder, or one with a site in it"):
        site_pages.check_target(tmp_path)
    site_pages.check_target(tmp_path / "new")


# ------------------------------------------------------------------------------------------ playground


@pytest.mark.parametrize("name", [AMPERE, "cdna3/v_mfma_f32_32x32x8_f16", "x86/tdpfp16ps"])
def test_the_playground_gives_what_the_command_line_gives(name: str) -> None:
    spec = resolve(name)
    x = batch(spec, spec.k, 40, 3)
    rows = [
        {"a": a, "b": b, "c": c} for a, b, c in zip(x.a.tolist(), x.b.tolist(), x.c.tolist(), strict=True)
    ]
    expected = Unit(spec).dot_bits(x.a, x.b, x.c).tolist()
    assert json.loads(play.call("results", json.dumps({"unit": name, "rows": rows}))) == expected


def test_the_playground_takes_values_as_people_write_them() -> None:
    given = {"units": [AMPERE, HOPPER], "a": ["1.5", "2^-24"], "b": ["0x3c00", ""], "c": "-1/8"}
    found = json.loads(play.call("answer", json.dumps(given)))
    w = Witness((0x3E00, 1, *[0] * 14), (0x3C00, *[0] * 15), 0xBE000000)
    assert [int(r["hex"], 16) for r in found["results"]] == [
        int(Unit(resolve(n)).dot_bits(*(np.array([x], np.uint64) for x in (w.a, w.b, w.c)))[0])
        for n in (AMPERE, HOPPER)
    ]
    assert len(found["pictures"]) == 2
    assert found["operands"]["a"][0] == {"hex": "0x3e00", "value": "1.5", "bits": f"{0x3E00:016b}"}
    wrong = json.loads(play.call("answer", json.dumps(given | {"a": ["one"]})))
    assert wrong["error"].startswith("expected a value such as")
    other = json.loads(play.call("shape", json.dumps({"units": [AMPERE, "x86/vdpbf16ps"]})))
    assert "expected units of the same formats" in other["error"]


def test_random_operands_are_numbers() -> None:
    for seed in range(40):
        drawn = play.draw([AMPERE], seed)
        found = play.answer([AMPERE], drawn["a"], drawn["b"], drawn["c"])
        assert "nan" not in found["results"][0]["value"]


def test_a_trace_and_its_picture_need_no_compiled_package() -> None:
    """What the page in the browser runs, from the archive that the page holds: pure Python."""
    code = (
        "import sys\n"
        "class Refuse:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in {'numpy', 'ml_dtypes', 'click', 'rich', 'jsonschema', 'z3',"
        " 'llvmlite', 'cvc5', 'bitwuzla', 'pysat', 'jinja2'}:\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Refuse())\n"
        "from tcformal.report.site import play\n"
        "assert '.zip' in play.__file__\n"
        f"print(play.answer(['{AMPERE}'], ['1'], ['1'], '1')['results'][0]['hex'])\n"
        "try:\n"
        "    play.answer(['nobody/mma'], ['1'], ['1'], '1')\n"
        "except Exception:\n"
        "    print(*sorted(sys.modules))\n"
    )
    with zipfile.ZipFile(io.BytesIO(sources())) as held:
        assert "tcformal/semantics/round.py" in held.namelist()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "tcformal.zip").write_bytes(sources())
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=60, check=False,
            env={"PYTHONPATH": str(Path(folder) / "tcformal.zip")},
        )  # fmt: skip
    word, _, loaded = done.stdout.strip().partition("\n")
    assert word == "0x40000000", done.stderr
    # What is left out of the browser's library is none of what was loaded.
    tops = {name.partition(".")[0] for name in loaded.split()}
    assert "difflib" in tops
    assert {name for name in tops if f"{name}.".startswith(_UNUSED) or f"{name}/" in _UNUSED} == set()


def test_what_is_not_pyodide_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected Pyodide's npm package"):
        scripts(tmp_path / "gone.tgz")
    with pytest.raises(InputError, match=r"expected pyodide\.js"):
        scripts(tmp_path)
    with tarfile.open(tmp_path / "other.tgz", "w:gz"):
        pass
    with pytest.raises(InputError, match="expected Pyodide's npm package"):
        scripts(tmp_path / "other.tgz")
