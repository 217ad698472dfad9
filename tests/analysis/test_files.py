"""Query files: every one that comes with the package is well formed, and a mistake is named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tcformal.analysis.papers.checked import check_asks
from tcformal.analysis.papers.files import find, known_queries, load
from tcformal.design.sources import references
from tcformal.errors import InputError, UnknownNameError

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
    # A file of somebody's own may name any source; ours cite the bibliography (tests/repo/test_sources.py).
    assert references(query.source), query.source
    assert asks
    names = [ask.name for ask in asks]
    assert len(set(names)) == len(names), "two asks of one file have one name"
    for ask in asks:
        assert "{" not in ask.name


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ('title = "A question"', "", "title"),
        ('source = "VALPEY §4"', 'source = ""', "source"),
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


VOLTA = 'unit = "volta/mma.m8n8k4.f32.f16.f16.f32"'
#: What tells the kind of an ask, and an outcome of that kind.
EXPECTED = {
    "search": "FOUND", "separate": "SEPARATED", "property": "HOLDS", "claim": "HOLDS",
    "algorithm": "HOLDS", "error": "BOUNDED", "measure": "FOUND", "d = ": "DIFFERENT",
}  # fmt: skip


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        ('separate = ["valpey@terms=3", "valpex@terms=3"]', "ask.1.separate (one): expected a known unit"),
        ('separate = ["valpey@terms=3", "valpey@terms=4"]\nassume = ["finit"]', "ask.1.assume (one): "),
        (f'property = "nan-wrd"\n{VOLTA}', "ask.1.property (one): expected a known property"),
        (f'claim = "carry"\n{VOLTA}', "ask.1.claim (one): expected a known claim"),
        ('algorithm = { form = "split" }', "ask.1.algorithm.unit (one): "),
        (f'algorithm = {{ {VOLTA}, forn = "split" }}', "ask.1.algorithm (one): expected a known key"),
        (f"algorithm = {{ {VOLTA}, products = 2.5 }}", "ask.1.algorithm (one): "),
        (f'algorithm = {{ {VOLTA}, more_than = "few" }}', "for more_than, but got 'few'"),
        (f'algorithm = {{ {VOLTA}, more_than = "-1" }}', "for more_than, but got '-1'"),
        (f'algorithm = {{ {VOLTA}, search = "largest" }}', "expected a known search, but got 'largest'"),
        (f'algorithm = {{ {VOLTA}, search = "largest excess", more_than = 1 }}', "search or more_than"),
        (f'algorithm = {{ {VOLTA}, search = "largest excess", seconds = 0 }}', "seconds"),
        (f"algorithm = {{ {VOLTA}, seconds = 5 }}", "ask.1.algorithm (one): expected a known key"),
        (f"algorithm = {{ {VOLTA}, c_exponents = 3 }}", "expected c_exponents as [low, high], but got 3"),
        (f'algorithm = {{ {VOLTA}, keep_last = "yes" }}', "true or false for keep_last, but got 'yes'"),
        ('error = { of = "fma-chian" }', "ask.1.error (one): expected a known"),
        ('error = { of = "fma-chain", promote = 4 }', "expected promote with a unit only"),
        ('error = { of = "valpey@terms=3", exponents = "0..1" }', "expected exponents with a program only"),
        ('error = { of = "fma-chain", bound = "few" }', "expected a number for bound, but got 'few'"),
        ('error = { of = "fma-chain", attained = "-1" }', "a number of at least 0 for attained"),
        ('measure = { of = "kahan" }', "ask.1.measure (one): expected one of random and falls to measure"),
        ('measure = { of = "kahan", random = "1", falls = "1" }', "expected one of random and falls"),
        ('measure = { of = "kahan", random = "1", distribution = "gauss" }', "a known distribution"),
        ('measure = { of = "kahan", falls = "1", length = 0 }', "for length, but got 0"),
        (f'{VOLTA}\na = ["one"]\nb = ["1"]\nc = "0"\nd = "1"', "ask.1.a (one): expected a value"),
        (f'{VOLTA}\na = ["1"]\nb = ["1"]\nc = "0"\nd = "2^999"', "ask.1.d (one): expected a value"),
        (f'{VOLTA}\na = ["1", "1", "1", "1", "1"]\nb = ["1"]\nc = "0"\nd = "1"', "ask.1.a, b (one): "),
    ],
)
def test_a_mistake_in_what_is_asked_is_named_before_it_is_asked(tmp_path: Path, ask: str, said: str) -> None:
    outcome = next(o for key, o in EXPECTED.items() if key in ask)
    text = f'title = "x"\nsource = "me"\n[[ask]]\nname = "one"\nexpected = "{outcome}"\n{ask}\n'
    query = load(written(tmp_path, text))
    with pytest.raises(InputError) as caught:
        check_asks(query, query.concrete())
    assert str(caught.value).startswith(f"expected a query file in {query.path}, but at ask.1")
    assert said in str(caught.value)


def test_an_unknown_query_is_refused_with_the_closest_names() -> None:
    with pytest.raises(UnknownNameError, match="valpey/carry-bits"):
        find("valpey/carry-bit")


# ---------------------------------------------------------------------- hostile files
@pytest.mark.parametrize(
    "text",
    [
        "{terms:>1500000000}",
        "{terms!r}",
        "{terms.__class__}",
        "{terms[0]}",
        "{0}",
        "{}",
        "{{terms}}",
        "{",
        "}",
        "{terms} }",
    ],
)
def test_nothing_but_names_stands_in_braces(tmp_path: Path, text: str) -> None:
    query = written(tmp_path, f"""
title = "A question"
source = "VALPEY §4"
parameters = {{ terms = 5 }}
[[ask]]
name = "one {text}"
separate = ["valpey@terms=5", "valpey@terms=6"]
expected = "SEPARATED"
""")  # fmt: skip
    with pytest.raises(
        InputError, match=r"^expected only terms in braces in .*\.toml, ask 1, key name, but got 'one "
    ):
        load(query).concrete()


def test_a_text_that_grows_too_long_is_refused(tmp_path: Path) -> None:
    query = written(tmp_path, f"""
title = "A question"
source = "VALPEY §4"
parameters = {{ long = "{'x' * 5000}" }}
[[ask]]
name = "{{long}}{{long}}{{long}}"
separate = ["valpey@terms=5", "valpey@terms=6"]
expected = "SEPARATED"
""")  # fmt: skip
    with pytest.raises(InputError, match=r"it becomes 15000 characters long, of at most 10000"):
        load(query).concrete()


def test_a_file_that_asks_too_much_is_refused(tmp_path: Path) -> None:
    names = ", ".join(f'"{i}"' for i in range(200))
    query = written(tmp_path, f"""
title = "A question"
source = "VALPEY §4"
[[ask]]
name = "{{x}} {{y}}"
pairs = [{names}]
separate = ["{{x}}", "{{y}}"]
expected = "SEPARATED"
""")  # fmt: skip
    with pytest.raises(
        InputError, match=r"^expected at most 10000 questions in .*\.toml, but there are more$"
    ):
        load(query).concrete()


@pytest.mark.parametrize(
    "body", ["x = " + "[" * 100_000, "x = " + "9" * 5000, "x = " + "{a=" * 50_000, "\x00", "\x1b"]
)
def test_odd_toml_is_one_sentence(tmp_path: Path, body: str) -> None:
    path = tmp_path / "odd.toml"
    path.write_text(body)
    with pytest.raises(InputError, match=r"^expected TOML in "):
        load(path)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "link.toml").symlink_to("/dev/zero")
    for name in ("pipe", "folder", "link"):
        with pytest.raises(
            InputError, match=r"^expected a query file in .*, but got: a (pipe|folder|device)$"
        ):
            load(tmp_path / f"{name}.toml")
