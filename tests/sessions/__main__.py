"""Renew the outputs on the pages: `make sessions`, or `python -m sessions NAME…` for some of them."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from sessions.page import pages, renewed


def main(names: list[str]) -> None:
    """Run the pages with one of these texts in their names, by default all, and write what is new."""
    for path in pages():
        if names and not any(name in path.stem for name in names):
            continue
        text = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            new = renewed(text, Path(folder))
        sys.stderr.write(f"{path.name}: {'as it was' if new == text else 'renewed'}\n")
        path.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
