"""Renew the outputs on pages and in notebooks: `make sessions`, or `python -m sessions NAME…` for some.

Pictures that a page shows are those that its commands write.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from sessions.notebook import executed, notebooks
from sessions.page import pages, pictures, renewed


def main(names: list[str]) -> None:
    """Run the pages with one of these texts in their names, by default all, and write what is new."""
    for path in [*pages(), *notebooks()]:
        if names and not any(name in path.stem for name in names):
            continue
        text = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            new = (executed if path.suffix == ".ipynb" else renewed)(text, Path(folder))
            for name in pictures(new):
                if (made := Path(folder, Path(name).name)).exists():
                    shutil.copyfile(made, path.parent / name)
        sys.stderr.write(f"{path.name}: {'as it was' if new == text else 'renewed'}\n")
        path.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
