"""No class name has two meanings: each name of a class or of a type stands for one thing in the package."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: Names that still stand for several things, and in how many modules.  The list may only become shorter.
PENDING: dict[str, int] = {
    "Check": 2,
    "Inputs": 2,
    "Item": 2,
    "Kind": 2,
    "Maker": 2,
    "Pair": 3,
    "Part": 2,
    "Progress": 2,
    "Raw": 3,
    "Record": 2,
    "Replay": 2,
    "Term": 2,
    "Told": 4,
    "Value": 4,
    "Words": 3,
    "_Proof": 2,
    "_Search": 2,
}

#: A name of a type, as against a constant in capitals.
_TYPE_NAME = re.compile(r"_?[A-Z]\w*[a-z]\w*")


def type_names(text: str) -> Iterator[str]:
    """The names of the classes of a module, nested ones too, and of its type aliases and type variables."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.BinOp | ast.Call):
            yield from (t.id for t in node.targets if isinstance(t, ast.Name) and _TYPE_NAME.fullmatch(t.id))


def shared_names(modules: Mapping[str, str]) -> dict[str, list[str]]:
    """The type names that more than one module defines (modules by name, with their texts), and which do."""
    found: dict[str, list[str]] = defaultdict(list)
    for module, text in modules.items():
        for name in type_names(text):
            found[name].append(module)
    return {name: sorted(where) for name, where in sorted(found.items()) if len(where) > 1}


def package() -> dict[str, str]:
    """Every module of the package by its path, with its text."""
    paths = sorted((ROOT / "tcformal").rglob("*.py"))
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths}


def test_no_type_name_has_two_meanings() -> None:
    """A new duplicate is to be renamed, or made one definition."""
    assert shared_names(package()) == {}


def test_a_second_meaning_rejects() -> None:
    one = {"a.py": "class Step:\n    pass\n", "b.py": "def f():\n    class Step:\n        pass\n"}
    assert shared_names(one) == {"Step": ["a.py", "b.py"]}
    alias = {
        "a.py": "Step = tuple[int, ...]\nLIMIT = int('1')\n",
        "b.py": "class Step:\n    pass\nLIMIT = f(2)\n",
    }
    assert shared_names(alias) == {"Step": ["a.py", "b.py"]}
    third = {**one, "c.py": "Step = TypeVar('Step')\n"}
    assert shared_names(third) == {"Step": ["a.py", "b.py", "c.py"]}
    assert shared_names({"a.py": "class Step:\n    pass\n", "b.py": "class Stage:\n    pass\n"}) == {}
