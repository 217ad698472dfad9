"""Kept answers about pairs of designs, their witnesses computed again on integers and on fractions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tcformal.callbacks import Advance
from tcformal.design.catalog import distinct_designs
from tcformal.design.names import resolve
from tcformal.errors import RecordError, TcformalError
from tcformal.oracle.values import format_value, hex_word
from tcformal.query.explain.explain import explain_witness
from tcformal.query.explain.trace import Divergence, Trace, divergence
from tcformal.query.pairs.pairs import FormatGroup, Pair
from tcformal.query.question import Kind
from tcformal.query.replay import oracle_result
from tcformal.query.search import EQUALITY
from tcformal.query.verdict import kept_as
from tcformal.report.svg.page import operand_rows, pictures_html
from tcformal.simulation.operands.witness import Witness, by_value, explain_command
from tcformal.store.lines import Record
from tcformal.store.store import Entry

#: A letter in the matrix for each part of a picture in which two designs first differ, with its words.
LETTERS = {
    "term": ("a", "alignment of a term"), "e_max": ("e", "alignment exponent"), "sum": ("s", "the sum"),
    "rounding": ("r", "rounding of the result"), "special": ("n", "NaN and Inf"),
    "order": ("o", "order of summation"), "result": ("d", "encoding of the result"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class WitnessReplay:
    """Two units on a kept witness: what each gives, computed now on integers and on fractions."""

    witness: Witness
    traces: tuple[Trace, Trace]
    #: Where they first differ; None where no stage shows it.
    found: Divergence | None


@dataclass(frozen=True, slots=True)
class PairPage:
    """One pair of the matrix: its verdict, how far it was checked, and what the page shows."""

    first: str
    second: str
    verdict: str
    status: str
    letter: str = ""
    stage: str = ""
    #: The values of both units at the stage.
    values: tuple[str, str] = ("", "")
    results: tuple[tuple[str, str, str], ...] = ()
    operands: tuple[tuple[str, str, str], ...] = ()
    command: str = ""
    pictures: str = ""
    witness: Witness | None = None

    @property
    def file(self) -> str:
        """The name of its page."""
        return f"pair/{slug(self.first)}--{slug(self.second)}.html"


def slug(name: str) -> str:
    """A name as part of a file name and of an address."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")


def witness_of_record(record: Record) -> Witness:
    """The operands in a record of two units, from their encodings."""
    w = record["witness"]
    rows = {name: tuple(int(x["hex"], 16) for x in w[name]) for name in ("a", "b", "scale_a", "scale_b")}
    return Witness(rows["a"], rows["b"], int(w["c"]["hex"], 16), rows["scale_a"], rows["scale_b"])


def replayed(first: str, second: str, w: Witness) -> WitnessReplay:
    """Both units on a witness, now; RecordError where it does not show that they differ."""
    specs = resolve(first), resolve(second)
    one, other = (explain_witness(spec, w) for spec in specs)
    results = one.result, other.result
    if results != tuple(oracle_result(spec, w) for spec in specs):
        raise RecordError(f"integers and fractions give different results for {first} or {second}")
    if results[0] == results[1]:
        raise RecordError(f"{first} and {second} give the same result on the kept witness")
    return WitnessReplay(w, (one, other), divergence(one, other))


def pair_pages(
    groups: Sequence[FormatGroup], entries: Sequence[Entry], advance: Advance
) -> dict[Pair, PairPage]:
    """The page of every pair of every group; a witness that does not replay is none."""
    kept = _by_pair(entries)
    pairs = [pair for group in groups for pair in group.pairs]
    made = {}
    for done, pair in enumerate(pairs):
        advance(done, len(pairs))
        records = kept.get(frozenset((pair.first, pair.second)), [])
        made[pair] = _page(pair, records)
    advance(len(pairs), len(pairs))
    return made


def _by_pair(entries: Sequence[Entry]) -> Mapping[frozenset[str], list[Record]]:
    """The records about pairs of catalogued designs, by the names that stand for these; newest first."""
    leads = {name: lead for lead, names in distinct_designs().items() for name in names}
    found: dict[frozenset[str], list[Record]] = {}
    for entry in reversed(entries):
        q = entry.record["question"]
        names = (q.get("first"), q.get("second"))
        if q["kind"] != EQUALITY.name or not all(name in leads for name in names):
            continue
        key = frozenset(leads[name] for name in names)
        found.setdefault(key, []).append(entry.record)
    return found


def _page(pair: Pair, records: Sequence[Record]) -> PairPage:
    ask = f"tcformal separate {pair.first} {pair.second} --explain"
    refused = ""
    for record in records:
        if record["witness"] is None:
            continue
        try:
            found = replayed(pair.first, pair.second, witness_of_record(record))
        except (TcformalError, LookupError, ValueError, TypeError) as error:
            refused = f"a kept witness was refused: {error}"
            continue
        return _separated(pair, found)
    for record in records:
        if record["verdict"] == Kind.EQUIVALENT.name and not record["question"]["assumptions"]:
            said = kept_as(record["verdict"], record["date"])
            return PairPage(pair.first, pair.second, Kind.UNKNOWN.name, said, "?", command=ask)
    return PairPage(pair.first, pair.second, "not answered", refused or "no kept answer", "?", command=ask)


def _separated(pair: Pair, x: WitnessReplay) -> PairPage:
    spec = x.traces[0].unit
    d, found = spec.operands.d, x.found
    return PairPage(
        pair.first, pair.second, Kind.SEPARATED.name, "computed again on integers and on fractions",
        LETTERS[found.part][0] if found else "d", found.stage if found else "",
        (found.first, found.second) if found else ("", ""),
        tuple((t.unit.name, format_value(d, t.result), hex_word(d, t.result)) for t in x.traces),
        tuple(operand_rows(spec, x.witness)),
        explain_command([pair.first, pair.second], x.witness, by_value(spec)),
        pictures_html(x.traces), x.witness,
    )  # fmt: skip
