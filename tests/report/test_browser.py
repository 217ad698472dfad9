"""The report and the playground in a real browser: Debian's Chromium, from the disk, with no network."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tcformal
from tcformal.analysis.queryfile import known_queries
from tcformal.callbacks import ignore, ignore_count
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.unit import UnitSpec
from tcformal.query.pairs.pairs import groups
from tcformal.report.site import pages as site_pages
from tcformal.semantics.chain import scale_count
from tcformal.simulation.operands.batch import batch

pytestmark = pytest.mark.debian
playwright = pytest.importorskip("playwright.sync_api", reason="Playwright drives the browser")

ROOT = Path(__file__).resolve().parents[2]
AMPERE, HOPPER = (f"{arch}/mma.m16n8k16.f32.f16.f16.f32" for arch in ("ampere", "hopper"))
#: Versions of the npm packages that the tests fetch.
PYODIDE, AXE = "pyodide@314.0.7", "axe-core@4.14.1"
#: Windows of a desk, a tablet and a phone, in CSS pixels.
DESK, TABLET, PHONE = (1400, 900), (768, 1024), (390, 844)
#: Groups of formats of the small site: two that AMX and Arm share, and fp16 into fp32.
_GROUPS = ("arm/bfdot.ebf0", "hopper/mma.m16n8k16.f32.f16.f16.f32")


#: Elements beyond the window, but for places that scroll by themselves; and texts beyond their pictures.
_BEYOND = """(() => {
  const beyond = (x) => x.getBoundingClientRect().right > innerWidth + 1;
  const seen = (x) => !x.closest(".scroll, .picture, .hidden, .skip, .stack thead") && x.checkVisibility();
  const out = [...document.querySelectorAll("body *")].filter((x) => seen(x) && beyond(x));
  const cut = [...document.querySelectorAll("svg text")].filter((x) => {
    const [box, all] = [x.getBBox(), x.ownerSVGElement.viewBox.baseVal];
    const at = x.parentElement.transform.baseVal.consolidate();
    const [dx, dy] = at ? [at.matrix.e, at.matrix.f] : [0, 0];
    return box.width && (box.x + dx < -1 || box.y + dy < -1 || box.x + dx + box.width > all.width + 1
      || box.y + dy + box.height > all.height + 1);
  });
  return [...out, ...cut].map((x) => x.outerHTML.slice(0, 160));
})()"""


def fetched(package: str, folder: Path) -> Path:
    """The archive of an npm package; the test is skipped where npm cannot fetch it."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip(f"npm fetches {package}, and is not installed")
    done = subprocess.run(
        [npm, "pack", "--silent", package],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"npm did not fetch {package}: {done.stderr.strip()[-200:]}")
    return folder / done.stdout.strip().splitlines()[-1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of some formats and questions from records of the checkout, with the playground."""
    made = tmp_path_factory.mktemp("site")
    # All records but the claims, which take the longest to read.
    (made / "results").mkdir()
    for kind in ("answers", "identifications", "conformance"):
        for path in (ROOT / "results").glob(f"{kind}.jsonl*"):
            shutil.copy(path, made / "results")
    for name in ("hardware", "figures"):
        shutil.copytree(ROOT / "results" / name, made / "results" / name)
    package = fetched(PYODIDE, made)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site_pages, "groups", lambda: [group for text in _GROUPS for group in groups(text)])
        some = {n: p for n, p in known_queries().items() if n in ("xie/table-8", "disagreements/truncation")}
        patch.setattr(site_pages, "known_queries", lambda: some)
        site_pages.build(
            made / "out", made / "results", verify=False, part=lambda _: ignore_count, warn=ignore,
            pyodide=str(package),
        )  # fmt: skip
    return made / "out"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium."""
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("Debian's chromium is not installed")
    with playwright.sync_playwright() as started:
        made = started.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield made
        made.close()


@contextmanager
def opened(
    browser: Any, path: Path, anchor: str = "", size: tuple[int, int] = DESK, shade: str = "light"
) -> Iterator[Any]:
    """A page from the disk that may reach nothing else; no error may have been written at the end."""
    window = {"width": size[0], "height": size[1]}
    context = browser.new_context(viewport=window, offline=True, color_scheme=shade)
    page, said = context.new_page(), []
    page.on("console", lambda x: said.append(x.text) if x.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(f"{path.as_uri()}{anchor}")
    yield page
    context.close()
    assert said == []


def ready(page: Any) -> float:
    """Wait for the playground's Python; the milliseconds from the start to the first picture."""
    page.wait_for_function("document.body.dataset.ready", timeout=120_000)
    return float(page.evaluate("Number(document.body.dataset.ready)"))


def took(page: Any) -> float:
    """The milliseconds of the last change."""
    return float(page.evaluate("Number(document.body.dataset.took)"))


@pytest.fixture(scope="module")
def play(browser: Any, site: Path) -> Iterator[Any]:
    """The playground, started once."""
    with opened(browser, site / "playground.html") as page:
        ready(page)
        yield page


#: One page of each kind.
KINDS = (
    *(f"{name}.html" for name in ("index", "gpus", "pairs", "papers", "devices", "identified", "checks")),
    "playground.html", "gpu/hopper.html", "pairs/fp32-bf16-bf16-fp32.html", "papers/xie.html",
)  # fmt: skip


def test_every_page_loads_from_the_disk_without_an_error(browser: Any, site: Path) -> None:
    for path in site.rglob("*.html"):
        with opened(browser, path) as page:
            assert page.inner_text("h1")


@pytest.mark.parametrize("shade", ["light", "dark"])
@pytest.mark.parametrize("size", [DESK, TABLET, PHONE], ids=["desk", "tablet", "phone"])
def test_nothing_is_cut_off(browser: Any, site: Path, size: tuple[int, int], shade: str) -> None:
    """No page scrolls sideways, with its first folds open; TCFORMAL_SCREENSHOTS keeps pictures of all."""
    kept = os.environ.get("TCFORMAL_SCREENSHOTS")
    wide: list[tuple[str, object]] = []
    for name in KINDS:
        with opened(browser, site / name, size=size, shade=shade) as page:
            if kept:
                file = f"{size[0]}-{shade}-{name.replace('/', '-')}.png"
                page.screenshot(path=Path(kept, file), full_page=True)
            for fold in page.locator("main details > summary").all()[:3]:
                fold.click()
            page.wait_for_function("!document.querySelector('details[open] > [data-inside]:empty')")
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                wide.append((name, "scrolls"))
            wide += [(name, page.evaluate(_BEYOND))] if page.evaluate(_BEYOND) else []
    assert wide == []


def test_dark_and_light_are_switched_and_kept(browser: Any, site: Path) -> None:
    back = "getComputedStyle(document.body).backgroundColor"
    with opened(browser, site / "index.html") as page:
        light = page.evaluate(back)
        page.click("#theme")
        dark = page.evaluate(back)
        assert dark != light
        page.goto((site / "gpus.html").as_uri())
        assert page.evaluate(back) == dark
    with opened(browser, site / "index.html", shade="dark") as page:
        assert page.evaluate(back) == dark


def test_a_mark_of_the_timeline_leads_to_its_evidence(browser: Any, site: Path) -> None:
    with opened(browser, site / "index.html") as page:
        page.locator("svg a[aria-label^='H100, e4m3']").first.click()
        page.wait_for_selector("details[open] .risk")
        assert page.inner_text("h1").startswith("H100")
        assert "13 bits" in page.inner_text("details[open] > summary")


def test_the_addend_of_the_first_page_is_chosen(browser: Any, site: Path) -> None:
    with opened(browser, site / "index.html") as page:
        shown = page.locator("section.pane .value:visible")
        assert shown.all_inner_texts() == ["1", "0.99999994"]
        page.click("label[for=c1]")
        assert len(set(shown.all_inner_texts())) == 1


def test_the_catalogue_filters_and_its_address_keeps_the_filter(browser: Any, site: Path) -> None:
    def rows(page: Any) -> list[str]:
        return list(
            page.eval_on_selector_all("#catalogue tbody tr:not([hidden]) a", "x => x.map(y => y.textContent)")
        )

    with opened(browser, site / "gpus.html") as page:
        everything = len(rows(page))
        assert everything >= len(distinct_designs())
        page.select_option("select[name=vendor]", "AMD")
        amd = rows(page)
        assert {name.partition("/")[0] for name in amd} == {"cdna1", "cdna2", "cdna3", "rdna3", "rdna4"}
        page.fill("input[name=text]", "bf16")
        both = rows(page)
        assert 0 < len(both) < len(amd) < everything
        assert page.inner_text("#shown") == f"{len(both)} of {everything} designs"
        assert page.locator("#catalogue details[open]:visible").count() == len({x[:5] for x in both})
        address = page.url
    with opened(browser, site / "gpus.html", "#" + address.partition("#")[2]) as page:
        assert rows(page) == both


def test_a_cell_of_the_matrix_leads_to_the_witness_and_its_picture(browser: Any, site: Path) -> None:
    with opened(browser, site / "pairs.html") as page:
        page.click(".matrix a:not(.k-open) >> nth=0")
        page.wait_for_selector("details[open] .picture svg")
        assert page.locator(".picture svg").count() == 2
        assert page.inner_text("details[open] .command pre").startswith("tcformal explain ")
        page.click("details[open] >> text=Copy")
        page.wait_for_function("/Copied|Selected/.test(document.querySelector('[open] .copy').textContent)")
        page.click("text=Change the numbers in the playground")
        ready(page)
        assert page.inner_text("#problem") == ""
        assert "first differ" in page.inner_text("#said")


def test_the_playground_opens_on_a_pair_that_differs(browser: Any, site: Path) -> None:
    """At once, and the same again when Python has come."""
    with opened(browser, site / "playground.html") as page:
        first = page.inner_text("#results"), page.inner_text("#said")
        assert page.locator(".picture svg .mark").count() > 0
        ready(page)
        assert (page.inner_text("#results"), page.inner_text("#said")) == first
        assert "the alignment of c" in first[1]
        assert "&c=-2^-25" in page.url


def test_the_playground_answers_edits_and_keeps_its_address(browser: Any, site: Path, play: Any) -> None:
    play.evaluate(f"location.hash = 'u={AMPERE}&u={HOPPER}&a=16384&b=1&c=-2^-11'")
    play.wait_for_function("document.querySelector('#results').rows.length === 2")
    assert "the alignment of c" in play.inner_text("#said")
    play.fill("#c", "0.5")
    assert "0x46800100" in play.inner_text("#results")
    play.click("#c")
    play.click("#bits button >> nth=0")
    assert "= -0.5" in play.inner_text("#bits-of")
    play.focus("#bits button >> nth=0")
    play.keyboard.press("Enter")
    assert "= 0.5" in play.inner_text("#bits-of")
    play.fill("#c", "one half")
    assert "expected a value such as" in play.inner_text("#problem")
    play.fill("#c", "3")
    play.click("#random")
    drawn, address = play.inner_text("#results"), play.url
    assert play.inner_text("#problem") == ""
    with opened(browser, site / "playground.html", "#" + address.partition("#")[2]) as again:
        ready(again)
        assert again.inner_text("#results") == drawn
        assert again.locator(".picture svg").count() == 2


def test_bits_are_painted_by_dragging(play: Any) -> None:
    play.evaluate(f"location.hash = 'u={AMPERE}&a=0&b=1&c=0'")
    play.wait_for_function("document.querySelector('#results').rows.length === 1")
    play.focus("input[data-name=a]")
    bits = play.locator("#bits button")
    bits.first.scroll_into_view_if_needed()
    start, end = (bits.nth(i).bounding_box() for i in (6, 9))
    play.mouse.move(start["x"] + 5, start["y"] + 5)
    play.mouse.down()
    play.mouse.move(end["x"] + 5, end["y"] + 5, steps=20)
    play.mouse.up()
    assert play.input_value("input[data-name=a]") == "0x03c0"


def test_smallest_difference_and_the_papers_examples(play: Any) -> None:
    play.evaluate("location.hash = 'u=x86/vdpbf16ps&u=arm/bfdot.ebf0&a=1&b=1&c=0'")
    play.wait_for_function("document.querySelector('#results').rows.length === 2")
    play.click("#smallest")
    rows = play.eval_on_selector_all("#results tr", "x => x.map(y => y.cells[2].textContent)")
    assert len(set(rows)) == 2
    play.select_option("#paper", "0")
    play.wait_for_function("document.querySelector('#results').rows.length === 1")
    assert play.inner_text("#problem") == ""


def test_changes_take_less_than_a_tenth_of_a_second(play: Any) -> None:
    """The median of some, so that another program on the machine does not decide."""
    play.evaluate(f"location.hash = 'u={AMPERE}&u={HOPPER}&a=1&b=1&c=1'")
    play.wait_for_function("document.querySelector('#results').rows.length === 2")
    times = []
    for i in range(15):
        play.fill("input[data-name=a]", f"{i}.5")
        times.append(took(play))
    assert sorted(times)[7] < 100


def witnesses(spec: UnitSpec, count: int, seed: int) -> tuple[list[dict[str, Any]], list[int]]:
    """Operands of all families, and the results of the command line's own interpretation."""
    x = batch(spec, spec.k, count, seed)
    names = ["a", "b", "c"] + (["scale_a", "scale_b"] if scale_count(spec, spec.k) else [])
    columns = [getattr(x, name) for name in names]
    rows = [
        dict(zip(names, row, strict=True))
        for row in zip(*(np.asarray(y).tolist() for y in columns), strict=True)
    ]
    scales = columns[3:] if len(columns) > 3 else []
    return rows, tcformal.unit(spec.name).dot_bits(*columns[:3], *scales).tolist()


def compared(play: Any, names: list[str], count: int, seed: int) -> dict[str, int]:
    """The units whose results in the browser are not those of the command line, with how many."""
    wrong: dict[str, int] = {}
    for name in names:
        rows, expected = witnesses(catalogue()[name], count, seed)
        for start in range(0, count, 500):
            part = slice(start, start + 500)
            found = play.evaluate(
                "([unit, rows]) => tcformalText('results', {unit, rows})", [name, json.dumps(rows[part])]
            )
            differing = sum(x != y for x, y in zip(json.loads(found), expected[part], strict=True))
            if differing:
                wrong[name] = wrong.get(name, 0) + differing
    return wrong


def test_the_browser_gives_the_command_lines_bits(play: Any) -> None:
    """Some designs of each run; the long test takes all of them."""
    names = random.Random(5).sample(list(distinct_designs()), 12)
    assert compared(play, names, 20, 5) == {}


@pytest.mark.long
def test_the_browser_gives_the_command_lines_bits_on_every_design(play: Any) -> None:
    count = int(os.environ.get("TCFORMAL_BROWSER_INPUTS", "10000"))
    assert compared(play, list(distinct_designs()), count, 1) == {}


@pytest.mark.parametrize("shade", ["light", "dark"])
@pytest.mark.parametrize("name", KINDS)
def test_axe_finds_no_fault(browser: Any, site: Path, name: str, shade: str, axe: Callable[[], str]) -> None:
    with opened(browser, site / name, shade=shade) as page:
        for fold in page.locator("main details > summary").all()[:2]:
            fold.click()
        page.evaluate(axe())
        found = page.evaluate("axe.run({preload: false}).then(x => x.violations)")
    assert [(x["id"], x["nodes"][0]["html"][:200]) for x in found] == []


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], str]:
    """The text of axe."""
    folder = tmp_path_factory.mktemp("axe")
    archive = fetched(AXE, folder)
    shutil.unpack_archive(archive, folder, filter="data")
    text = (folder / "package" / "axe.min.js").read_text(encoding="utf-8")
    return lambda: text


def test_the_page_of_one_explanation_stands_alone(browser: Any, tmp_path: Path) -> None:
    from click.testing import CliRunner

    from tcformal.cli import main

    words = ["explain", AMPERE, HOPPER, "--a", "16384,...", "--b", "1,...", "--c=-2^-11"]
    done = CliRunner().invoke(main, [*words, "--html", str(tmp_path / "sum.html")])
    assert done.exit_code == 0
    with opened(browser, tmp_path / "sum.html", size=PHONE) as page:
        assert page.locator(".picture svg").count() == 2
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
