"""Query files: every one that comes with the package is well formed, and a mistake is named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcformal.analysis.asks import OUTCOMES, check_asks, run
from tcformal.analysis.queryfile import find, folder, known_queries, load, validator
from tcformal.design.names import resolve
from tcformal.design.sources import references
from tcformal.errors import InputError, UnknownNameError
from tcformal.query.assume import FLAGS
from tcformal.query.claims.register import CLAIMS
from tcformal.query.comparison.parameters import ALGORITHMS, FORMS
from tcformal.query.options import solve_options
from tcformal.query.properties import PROPERTIES
from tcformal.solve.result import Limits
from tcformal.store.store import Store

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


def test_an_outcome_of_another_kind_is_a_mistake(tmp_path: Path) -> None:
    query = load(written(tmp_path, PLAIN.replace('"SEPARATED"', '"HOLDS"')))
    with pytest.raises(InputError, match=r"ask\.1\.expected .*expected a known outcome of separate"):
        check_asks(query, query.concrete())


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (
            "",
            "separate, property, claim, algorithm, error, measure, or unit with a, b, c and d, but got none",
        ),
        ('property = "nan-word"', "expected property beside unit, but there is no unit"),
        (f'd = "1"\na = ["1"]\n{VOLTA}', "expected d beside unit, a, b, c, but there is no b and no c"),
        (f'property = "nan-word"\nclaim = "carry-bits"\n{VOLTA}', "but got property and claim"),
    ],
)
def test_an_ask_is_of_one_kind(tmp_path: Path, ask: str, said: str) -> None:
    text = f'title = "x"\nsource = "me"\n[[ask]]\nname = "one"\nexpected = "HOLDS"\n{ask}\n'
    with pytest.raises(InputError) as caught:
        load(written(tmp_path, text))
    assert said in str(caught.value)


def test_what_only_asking_finds_names_the_ask(tmp_path: Path) -> None:
    text = PLAIN.replace('"valpey@terms={terms}"]', '"hopper/mma.m16n8k8.f32.tf32.tf32.f32"]')
    query = load(written(tmp_path, text))
    check_asks(query, query.concrete())
    how = solve_options(Limits(10.0, 4096, 0), store=Store(tmp_path / "results"))
    with pytest.raises(InputError, match=r"query\.toml, but at ask\.1 .*expected two units of equal operand"):
        list(run(query, query.concrete(), how))


def test_an_unknown_solver_is_no_mistake_of_the_file(tmp_path: Path) -> None:
    query = load(written(tmp_path, PLAIN))
    how = solve_options(Limits(10.0, 4096, 0), ["nobody"], store=Store(tmp_path / "results"))
    with pytest.raises(UnknownNameError, match=r"^expected a known solver, but got 'nobody'"):
        list(run(query, query.concrete(), how))


def test_the_documented_file_is_one(tmp_path: Path) -> None:
    """The example of queries/README.md; and every property, claim and kind is named there."""
    text = (folder() / "README.md").read_text(encoding="utf-8")
    example = text.split("```toml\n")[1].split("```")[0]
    query = load(written(tmp_path, example))
    check_asks(query, query.concrete({"align_bits": "1"}))
    assert [ask.name for ask in query.concrete()] == ["5 terms: 2 carry bits", "9 terms: 3 carry bits"]
    for name in (*PROPERTIES, *CLAIMS, *FLAGS, *ALGORITHMS, *FORMS):
        assert f"`{name}`" in text or f'`"{name}"`' in text, name
    for outcomes in OUTCOMES.values():
        assert ", ".join(f"`{o}`" for o in outcomes) in text
    for key in set(validator().schema["$defs"]["ask"]["properties"]):
        assert f"`{key}" in text, key


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
    with pytest.raises(
        InputError, match=r"^expected a query file in nowhere\.toml, but got: No such file or directory$"
    ):
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
