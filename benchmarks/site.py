"""The site: its files, bytes and processor seconds, and when a browser paints each kind of page first.

    python -m benchmarks.site PYODIDE

writes benchmarks/site.md; PYODIDE is the archive of Pyodide's npm package.
"""

from __future__ import annotations

import platform
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

from playwright.sync_api import sync_playwright

from tcformal.callbacks import ignore, ignore_count
from tcformal.report.markdown import table_lines
from tcformal.report.site.pages import build
from tcformal.version import processor

PAGE = Path(__file__).resolve().parent / "site.md"
#: Goals: bytes, files, processor seconds, milliseconds to the first paint.
GOALS = (10_000_000, 400, 60, 5000)
WIDTHS = (390, 768, 1400)
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def painted(folder: Path) -> list[tuple[str, ...]]:
    """The milliseconds to the first paint of the first page of each folder and of those at the top."""
    pages = [*sorted(folder.glob("*.html")), *(min(x.glob("*.html")) for x in sorted(folder.glob("[gp]*/"))
             if any(x.glob("*.html")))]  # fmt: skip
    rows = []
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for path in pages:
            cells = []
            for width in WIDTHS:
                page = browser.new_page(viewport={"width": width, "height": 900})
                page.goto(path.as_uri(), wait_until="commit")
                page.wait_for_function(f"{_PAINT} > 0")
                cells.append(f"{page.evaluate(_PAINT):.0f}")
                page.close()
            rows.append((str(path.relative_to(folder)), *cells))
    return rows


def main() -> None:
    """Build, measure, write."""
    with tempfile.TemporaryDirectory() as name:
        folder, start = Path(name, "site"), time.process_time()
        results = PAGE.parent.parent / "results"
        made = build(
            folder, results, verify=False, part=lambda _: ignore_count, warn=ignore, pyodide=sys.argv[1]
        )
        seconds, size = time.process_time() - start, sum(path.stat().st_size for path in made)
        rows = painted(folder)
    head = (
        f"{date.today()}, {platform.machine()}, {processor()}.\n\n{len(made)} files, {size / 1e6:.1f} MB "
        f"with the playground, {seconds:.0f} s of one core.  Goals: {GOALS[1]} files, "
        f"{GOALS[0] / 1e6:.0f} MB, {GOALS[2]} s, and {GOALS[3] / 1000:.0f} s to the first "
        "paint.\n\nMilliseconds to the first paint, "
        "by the width of the window in CSS pixels:"
    )
    table = table_lines(("page", *(f">{width}" for width in WIDTHS)), rows)
    PAGE.write_text("\n".join(["# The site", "", head, "", *table, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
