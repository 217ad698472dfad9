"""The theorems as a whole: nothing is admitted, coqchk checks all of them, their pages are up to date."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import theorem_pages as page
from coq_instances import checked_axioms
from tcformal.errors import InputError
from tcformal.theory.checked import AXIOMS, SOURCES, coqc, source_names

ROOT = Path(__file__).parents[2]


def test_nothing_is_admitted() -> None:
    loose = re.compile(r"\b(Admitted|admit|Axiom|Conjecture|Parameter|Abort)\b")
    for name in source_names():
        text = re.sub(r"\(\*.*?\*\)", "", (SOURCES / name).read_text(encoding="utf-8"), flags=re.DOTALL)
        assert loose.search(text) is None, name


def test_every_source_is_listed() -> None:
    assert sorted(source_names()) == sorted(x.name for x in SOURCES.glob("*.v"))


@pytest.mark.slow
def test_pages_are_up_to_date() -> None:
    for name, text in page.pages().items():
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == text, (
            f"docs/{name} is not what its sources say: python tests/theorem_pages.py"
        )


def test_a_changed_comment_changes_the_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for path in (*SOURCES.glob("*.v"), SOURCES / "_CoqProject"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    regions = tmp_path / "Regions.v"
    text = regions.read_text(encoding="utf-8")
    changed = text.replace(
        "Theorem agreement_within_spread", "(** Other words. *)\nTheorem agreement_within_spread"
    )
    regions.write_text(changed, encoding="utf-8")
    monkeypatch.setattr(page, "SOURCES", tmp_path)
    assert "**`agreement_within_spread`**: Other words." in page.theorems_page()
    assert page.theorems_page() != (ROOT / "docs" / "theorems.md").read_text(encoding="utf-8")


@pytest.mark.debian
def test_coqchk_checks_everything(compiled: Path) -> None:
    """All compiled sources are checked anew, and rest on the axioms of Coq's real numbers alone."""
    assert sorted(checked_axioms(compiled)) == sorted(AXIOMS)


@pytest.mark.debian
def test_an_axiom_more_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "Loose.v").write_text("Axiom more : 1 = 2.\n", encoding="utf-8")
    coqc(tmp_path, "Loose.v")
    monkeypatch.setattr("coq_instances.source_names", lambda: ["Loose.v"])
    assert checked_axioms(tmp_path) == ["TC.Loose.more"]
    (tmp_path / "Loose.vo").write_bytes(b"no library")
    with pytest.raises(InputError, match="coqchk says"):
        checked_axioms(tmp_path)
