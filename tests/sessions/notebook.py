"""Notebooks whose cells are run: every output in them is what a notebook would show."""

from __future__ import annotations

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any

from sessions.page import ROOT, masked

FOLDER = ROOT / "docs" / "tutorials"


def notebooks() -> list[Path]:
    """Every notebook of the documentation."""
    return sorted(FOLDER.glob("*.ipynb"))


def executed(text: str, folder: Path) -> str:
    """The notebook with every output as it is now, run in `folder`."""
    notebook, names, count = json.loads(text), dict[str, Any](), 0
    with contextlib.chdir(folder):
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                count += 1
                cell["execution_count"] = count
                cell["outputs"] = _outputs("".join(cell["source"]), names, count)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _outputs(code: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """What a cell prints, and its last line's value: as text, and as HTML where the value makes some."""
    tree, out, value = ast.parse(code), io.StringIO(), None
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(out):
        exec(compile(tree, "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    made: list[dict[str, Any]] = []
    if printed := out.getvalue():
        made.append({"name": "stdout", "output_type": "stream", "text": _lines(masked(printed))})
    if value is not None:
        html = getattr(value, "_repr_html_", lambda: None)()
        data = {"text/plain": _lines(repr(value))} | (
            {} if html is None else {"text/html": _lines(masked(html))}
        )
        made.append({"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return made


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)
