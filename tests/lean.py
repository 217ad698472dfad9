"""A folder of packages as of an environment that lacks the solvers and LLVM."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

#: What models, `eval`, `explain` and `simulate` need.
NEEDED = ("numpy", "ml_dtypes", "click", "rich", "jsonschema", "lazy-loader")


def _with_requirements(names: tuple[str, ...]) -> Iterator[metadata.Distribution]:
    """The distributions of these names and all that they require here, without extras."""
    open_, seen = list(names), set[str]()
    while open_:
        name = open_.pop()
        if name.lower() in seen:
            continue
        seen.add(name.lower())
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # of another platform or Python
        yield found
        required = [text for text in found.requires or () if "extra ==" not in text]
        open_ += [re.split(r"[^\w.-]", text)[0] for text in required]


def lean_site(folder: Path) -> Path:
    """Links to the packages in NEEDED, and to no others."""
    for found in _with_requirements(NEEDED):
        for top in {
            file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")
        }:
            link = folder / top
            if not link.exists():
                link.symlink_to(Path(str(found.locate_file(top))).resolve())
    return folder


def lean(
    package: Path, site: Path, cwd: Path, *words: str, code: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run the command line, or code, with `package` and the packages of `site` only."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "TCFORMAL"))}
    environment["PYTHONPATH"] = f"{package}{os.pathsep}{site}"
    program = ["-c", code] if code else ["-m", "tcformal", *words]
    return subprocess.run(
        [sys.executable, "-S", "-P", *program], cwd=cwd, env=environment, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
