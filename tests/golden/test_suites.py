"""The kept suites: evaluated again, they say of every design what they said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tcformal.query.suites.made import complaints, from_json

KEPT = sorted((Path(__file__).resolve().parents[2] / "results" / "suites").glob("*.json"))


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_a_kept_suite_tells_its_designs_apart(path: Path) -> None:
    made = from_json(json.loads(path.read_text(encoding="utf-8")))
    assert complaints(made) == []
    together = {(u.first, u.second) for u in made.undecided}
    classes = made.classes
    for first in range(len(made.designs)):
        for second in range(first):
            if classes[first] != classes[second] and (second, first) not in together:
                assert made.separator(second, first) is not None
