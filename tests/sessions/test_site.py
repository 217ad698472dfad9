"""The documentation in a real browser: Debian's Chromium, from the disk, with no network."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.debian
playwright = pytest.importorskip("playwright.sync_api", reason="Playwright drives the browser")

SITE = Path(__file__).resolve().parents[2] / "site"
PHONE, TABLET, DESK = (390, 844), (768, 1024), (1400, 900)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium; skipped where there is none, or no site."""
    found = shutil.which("chromium")
    if found is None or not (SITE / "index.html").exists():
        pytest.skip("`make docs` builds the site, and Debian's chromium opens it")
    with playwright.sync_playwright() as started:
        made = started.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield made
        made.close()


def test_no_page_is_wider_than_its_screen(browser: Any) -> None:
    context = browser.new_context(offline=True)
    page, said = context.new_page(), []
    page.on("console", lambda x: said.append(x.text) if x.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    local = ("file:", "data:", "blob:")
    page.on("request", lambda x: None if x.url.startswith(local) else said.append(x.url))
    pages = [x for x in SITE.rglob("*.html") if "report" not in x.relative_to(SITE).parts]
    for path in sorted(x for x in pages if x.name != "404.html"):  # that one is for servers
        page.goto(path.as_uri())
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            for width, height in (PHONE, TABLET, DESK):
                page.set_viewport_size({"width": width, "height": height})
                try:  # what slides aside after a change of size takes a moment
                    page.wait_for_function("document.documentElement.scrollWidth <= innerWidth", timeout=3000)
                except playwright.TimeoutError:
                    pytest.fail(f"{path} is wider than {width} px, {scheme}")
    context.close()
    assert said == []


def test_the_search_answers_from_the_disk(browser: Any) -> None:
    context = browser.new_context(viewport={"width": DESK[0], "height": DESK[1]}, offline=True)
    page = context.new_page()
    page.goto((SITE / "index.html").as_uri())
    page.click(".md-search__input")
    page.keyboard.type("fused sum")
    page.wait_for_selector(".md-search-result__link")
    assert "What a fused sum is" in page.inner_text(".md-search-result__list")
    context.close()


def test_only_the_commands_of_a_session_are_copied(browser: Any) -> None:
    context = browser.new_context(viewport={"width": DESK[0], "height": DESK[1]}, offline=True)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto((SITE / "how-to" / "errors.html").as_uri())
    page.locator("[data-md-type=copy]").first.click(force=True)
    page.wait_for_function("navigator.clipboard.readText().then(x => x.startsWith('tcformal accuracy'))")
    assert len(page.evaluate("navigator.clipboard.readText()").splitlines()) == 1
    context.close()
