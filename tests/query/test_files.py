"""Query files: every one that comes with the package is well formed, and a mistake is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcformal.design.names import resolve
from tcformal.errors import InputError, UnknownNameError
from tcformal.query.papers.files import find, known_queries, load

PLAIN = """
title = "A question"
source = "VALPEY §4"
[parameters]
terms = 5
mode = "RZ"
[[ask]]
name = "{terms} terms, {few}"
cases = [{ few = 2 }, { few = 3 }]
separate = ["valpey@terms={terms},carry_bits={few}", "valpey@terms={terms}"]
expected = "SEPARATED"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "query.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", known_queries())
def test_every_file_is_well_formed_and_cites_its_source(name: str) -> None:
    query = find(name)
    asks = query.concrete()
    assert query.title
    assert query.source
    assert asks
    names = [ask.name for ask in asks]
    assert len(set(names)) == len(names), "two asks of one file have one name"
    for ask in asks:
        assert "{" not in ask.name


def test_values_are_filled_in(tmp_path: Path) -> None:
    query = load(written(tmp_path, PLAIN))
    assert [ask.name for ask in query.concrete()] == ["5 terms, 2", "5 terms, 3"]
    changed = query.concrete({"terms": "9"})
    assert changed[0].body["separate"] == ["valpey@terms=9,carry_bits=2", "valpey@terms=9"]
    assert changed[0].kind == "separate"


def test_pairs_are_every_two_of_a_list(tmp_path: Path) -> None:
    text = PLAIN.replace("cases = [{ few = 2 }, { few = 3 }]", 'pairs = ["RNE", "RZ", "RD"]')
    text = text.replace("{few}", "{x}{y}")
    names = [ask.name for ask in load(written(tmp_path, text)).concrete()]
    assert names == ["5 terms, RNERZ", "5 terms, RNERD", "5 terms, RZRD"]


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ('title = "A question"', "", "title"),
        ('source = "VALPEY §4"', 'source = "hearsay"', "source"),
        ('expected = "SEPARATED"', 'expected = "PERHAPS"', "ask.1.expected"),
        ('expected = "SEPARATED"', 'expected = "SEPARATED"\ncolour = "red"', "colour"),
        ('expected = "SEPARATED"', 'expected = "SEPARATED"\nproperty = "nan-word"', "ask.1"),
        ("terms = 5", "terms = 5.5", "parameters.terms"),
        ("title =", "title", "TOML"),
    ],
)
def test_a_mistake_is_named_with_file_and_key(tmp_path: Path, old: str, new: str, where: str) -> None:
    path = written(tmp_path, PLAIN.replace(old, new))
    with pytest.raises(InputError) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert where in str(caught.value)


def test_a_placeholder_that_nothing_fills_is_named(tmp_path: Path) -> None:
    query = load(written(tmp_path, PLAIN.replace("{few}", "{fewer}")))
    with pytest.raises(InputError, match=r"ask 1, key name.*fewer"):
        query.concrete()


def test_settings_must_be_parameters_of_the_right_kind(tmp_path: Path) -> None:
    query = load(written(tmp_path, PLAIN))
    with pytest.raises(UnknownNameError, match="term"):
        query.concrete({"term": "9"})
    with pytest.raises(InputError, match="expected an integer for terms"):
        query.concrete({"terms": "many"})


def test_an_unknown_query_is_refused_with_the_closest_names() -> None:
    with pytest.raises(UnknownNameError, match="valpey/carry-bits"):
        find("valpey/carry-bit")


def test_a_missing_file_is_one_sentence() -> None:
    with pytest.raises(InputError, match=r"expected a query file at nowhere\.toml"):
        find("nowhere.toml")


# ---------------------------------------------------------------------------- carry bits of n terms


def test_the_rows_of_the_carry_bits_are_the_formula() -> None:
    """⌈log2 n⌉ bits, asked for every n from 2 to 33: one bit fewer is too few, and these are enough."""
    asks = find("valpey/carry-bits").concrete()
    few, enough = set(), set()
    for ask in asks:
        first, second = (resolve(name).design for name in ask.body["separate"])
        terms, bits = first.products + 1, first.carry_bits
        needed = (terms - 1).bit_length()
        if ask.expected == "SEPARATED":
            assert bits == needed - 1
            few.add(terms)
        elif second.carry_bits is None:
            assert bits == needed
            enough.add(terms)
        else:
            assert (bits, second.carry_bits) == (needed, needed + 1)
    assert few == enough == set(range(2, 34))


@given(n=st.integers(2, 1 << 24))
def test_more_terms_follow_the_same_formula(n: int) -> None:
    """n full significands of 24 bits, and the units that a sum of p carry bits holds."""
    bits, largest = (n - 1).bit_length(), n * ((1 << 24) - 1)
    assert largest < 1 << (24 + bits)
    assert largest >= 1 << (24 + bits - 1)
