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
from tcformal.programs.chain import scale_count
from tcformal.query.pairs.pairs import groups
from tcformal.report.site import pages as site_pages
from tcformal.simulation.operands.batch import batch

pytestmark = pytest.mark.debian
playwright = pytest.importorskip("playwright.sync_api", reason="Playwright drives the browser")

ROOT = Path(__file__).resolve().parents[2]
AMPERE, HOPPER = (f"{arch}/mma.m16n8k16.f32.f16.f16.f32" for arch in ("ampere", "hopper"))
#: Versions of the npm packages that the tests fetch.
PYODIDE, AXE = "pyodide@314.0.7", "axe-core@4.14.1"
#: Widths of a desk and of a phone, in CSS pixels.
DESK, PHONE = (1300, 900), (390, 844)
#: Groups of formats of the small site: two that AMX and Arm share, and fp16 into fp32.
_GROUPS = ("arm/bfdot.ebf0", "hopper/mma.m16n8k16.f32.f16.f16.f32")


#: The element that reaches farthest to the right.
_WIDEST = """(() => {
  const right = (x) => x.getBoundingClientRect().right;
  const free = [...document.querySelectorAll("main *")].filter((x) => !x.closest(".scroll, .picture"));
  return free.sort((x, y) => right(y) - right(x))[0].outerHTML.slice(0, 200);
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
def opened(browser: Any, path: Path, anchor: str = "", size: tuple[int, int] = DESK) -> Iterator[Any]:
    """A page from the disk that may reach nothing else; no error may have been written at the end."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, offline=True)
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


def test_every_page_loads_from_the_disk_without_an_error(browser: Any, site: Path) -> None:
    pages = [
        site / name
        for name in (
            "pairs.html",
            "papers.html",
            "devices.html",
            "identified.html",
            "figures.html",
            "speed.html",
        )
    ]
    pages += [next((site / folder).glob("*.html")) for folder in ("design", "pair", "paper")]
    for path in pages:
        with opened(browser, path) as page:
            assert page.inner_text("h1")


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_no_page_is_wider_than_its_window(browser: Any, site: Path, size: tuple[int, int]) -> None:
    """Tables and pictures scroll in places of their own; screenshots are kept where the tests are told to."""
    kept = os.environ.get("TCFORMAL_SCREENSHOTS")
    names = [
        "index.html",
        "pairs.html",
        "papers.html",
        "devices.html",
        "identified.html",
        "figures.html",
        "speed.html",
    ]
    names += [str(next((site / folder).glob("*.html")).relative_to(site)) for folder in ("design", "paper")]
    names += ["pair/x86-vdpbf16ps--arm-bfdot.ebf0.html", "playground.html"]
    wide: list[tuple[str, str]] = []
    for name in names:
        with opened(browser, site / name, size=size) as page:
            if name == "playground.html":
                ready(page)
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                wide.append((name, page.evaluate(_WIDEST)))
            if kept:
                page.screenshot(path=Path(kept, f"{size[0]}-{name.replace('/', '-')}.png"))
    assert wide == []


def test_the_catalogue_filters_and_its_address_keeps_the_filter(browser: Any, site: Path) -> None:
    def rows(page: Any) -> list[str]:
        return list(
            page.eval_on_selector_all("#catalogue tbody tr:not([hidden]) a", "x => x.map(y => y.textContent)")
        )

    with opened(browser, site / "index.html") as page:
        everything = len(rows(page))
        assert everything == len(distinct_designs())
        page.select_option("select[name=vendor]", "AMD")
        amd = rows(page)
        assert {name.partition("/")[0] for name in amd} == {"cdna1", "cdna2", "cdna3"}
        page.fill("input[name=text]", "bf16")
        both = rows(page)
        assert 0 < len(both) < len(amd) < everything
        assert page.inner_text("#shown") == f"{len(both)} of {everything} designs"
        address = page.url
    with opened(browser, site / "index.html", "#" + address.partition("#")[2]) as page:
        assert rows(page) == both


def test_a_cell_of_the_matrix_leads_to_the_witness_and_its_picture(browser: Any, site: Path) -> None:
    with opened(browser, site / "pairs.html") as page:
        page.click(".matrix a.m-separated >> nth=0")
        page.wait_for_selector(".picture svg")
        assert page.locator(".picture svg").count() == 2
        assert page.inner_text(".command pre").startswith("tcformal explain ")
        page.click("text=Copy")
        page.wait_for_function("/Copied|Selected/.test(document.querySelector('.copy').textContent)")


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


@pytest.mark.parametrize(
    "name",
    ["index.html", "pairs.html", "paper", "devices.html", "identified.html", "figures.html", "design", "pair",
     "playground.html"],
)  # fmt: skip
def test_axe_finds_no_serious_fault(browser: Any, site: Path, name: str, axe: Callable[[], str]) -> None:
    path = site / name if name.endswith(".html") else next((site / name).glob("*.html"))
    with opened(browser, path) as page:
        if name == "playground.html":
            ready(page)
        page.evaluate(axe())
        found = page.evaluate("axe.run({preload: false}).then(x => x.violations)")
    serious = [
        (x["id"], x["nodes"][0]["html"][:200]) for x in found if x["impact"] in ("serious", "critical")
    ]
    assert serious == []


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
