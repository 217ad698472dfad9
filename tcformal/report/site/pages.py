"""The site: every page, in one folder that opens from the disk; apart from the command that writes it."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np

from tcformal.analysis.asks import algorithm_asked, claim_of, question_asked, run
from tcformal.analysis.queryfile import Ask, QueryFile, known_queries, load
from tcformal.analysis.records import EXPORTS, held
from tcformal.callbacks import Advance, Warn
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.names import resolve
from tcformal.design.operations import Operation, operation, risks
from tcformal.design.rounding import NAN_RULES
from tcformal.design.short_names import PROCESSORS, formats_of
from tcformal.design.sources import references as cited_works
from tcformal.design.sources import works
from tcformal.design.unit import UnitSpec
from tcformal.devices.runs import Run, pieces_of, read_runs, unit_of
from tcformal.devices.sealed import read_summary
from tcformal.errors import InputError, RecordError, TcformalError
from tcformal.files import read_regular, write_whole
from tcformal.identification.identification import IDENTIFICATION
from tcformal.identification.verified import verify_identification
from tcformal.oracle.values import format_value, hex_word
from tcformal.query.assume import from_texts
from tcformal.query.explain.explain import explain_witness
from tcformal.query.explain.trace import Divergence, Trace, divergence
from tcformal.query.options import SolveOptions
from tcformal.query.pair import EqualityQuestion
from tcformal.query.pairs.pairs import FormatGroup, Pair, groups
from tcformal.query.question import Kind
from tcformal.query.verdict import DECIDED, NOT_CHECKED, kept_as
from tcformal.report.chart import STYLE as CHART_STYLE
from tcformal.report.chart import key_mark
from tcformal.report.claim_view import claims_section
from tcformal.report.escape import Plain
from tcformal.report.identified import growth_picture
from tcformal.report.markdown import tables
from tcformal.report.parameter_facts import Stated, stated
from tcformal.report.references import counted_references, references, references_section
from tcformal.report.results import exports_section, unchecked_reason, unchecked_verdict
from tcformal.report.site.bundle import script, scripts
from tcformal.report.site.story import (
    CLASSES,
    LENGTH,
    OPENING,
    growth,
    opening,
    same_sums,
    share,
    timeline,
    widths,
)
from tcformal.report.svg import STYLE, operand_rows, pictures_html
from tcformal.report.units import in_hex
from tcformal.semantics.chain import definition
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.witness import Witness, by_value, explain_command
from tcformal.simulation.replay import oracle_result
from tcformal.store.audit.audit import AuditStatus
from tcformal.store.file import RecordFile
from tcformal.store.lines import Record
from tcformal.store.schema import check
from tcformal.store.store import Entry, Store
from tcformal.theory.theorems import SEPARATOR, STATEMENTS
from tcformal.version import VERSION, commit, host

#: A letter in the matrix for each part of a picture in which two designs first differ, with its words.
LETTERS = {
    "term": ("a", "alignment of a term"), "e_max": ("e", "alignment exponent"), "sum": ("s", "the sum"),
    "rounding": ("r", "rounding of the result"), "special": ("n", "NaN and Inf"),
    "order": ("o", "order of summation"), "result": ("d", "encoding of the result"),
}  # fmt: skip


#: What the playground's address calls each operand.
_QUERY = {"a": "a", "b": "b", "c": "c", "sa": "scale_a", "sb": "scale_b"}


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
    def anchor(self) -> str:
        """Its place on the page of its formats."""
        return f"{slug(self.first)}--{slug(self.second)}"

    @property
    def kind(self) -> str:
        """How its cell is drawn: by the letter, or `open`."""
        return "open" if self.letter == "?" else self.letter

    @property
    def query(self) -> str:
        """Its operands as the playground's address holds them."""
        rows: dict[str, dict[int, str]] = {}
        for name, _, code in self.operands:
            row, _, place = name.partition("[")
            rows.setdefault(row, {})[int(place.rstrip("]") or 0)] = code
        most = max((max(row) for name, row in rows.items() if name in ("a", "b")), default=0)
        texts = [
            (short, rows.get(name, {})) for short, name in _QUERY.items() if name in rows or name in "ab"
        ]
        lists = [
            (short, ",".join(row.get(i, "1" if short[0] == "s" else "0")
                             for i in range(max(row) + 1 if short not in ("a", "b") else most + 1)))
            for short, row in texts
        ]  # fmt: skip
        return urlencode([("u", self.first), ("u", self.second), *lists], safe=":,/")


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
    records = {pair: kept.get(frozenset((pair.first, pair.second)), []) for pair in pairs}
    made = {}
    # Circuits of one length are built once and used at once.
    for done, pair in enumerate(sorted(pairs, key=lambda pair: _length(records[pair]))):
        advance(done, len(pairs))
        made[pair] = _page(pair, records[pair])
    advance(len(pairs), len(pairs))
    return {pair: made[pair] for pair in pairs}


def _length(records: Sequence[Record]) -> int:
    """The number of products of the first witness in some records."""
    return next((len(x["witness"]["a"]) for x in records if isinstance(x["witness"], dict)), 0)


def _by_pair(entries: Sequence[Entry]) -> Mapping[frozenset[str], list[Record]]:
    """The records about pairs of catalogued designs, by the names that stand for these; newest first."""
    leads = _leads()
    found: dict[frozenset[str], list[Record]] = {}
    for entry in reversed(entries):
        q = entry.record["question"]
        names = (q.get("first"), q.get("second"))
        if q["kind"] != EqualityQuestion.KIND or not all(name in leads for name in names):
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


#: Who makes the units of each architecture.
_VENDORS = {
    "cdna": "AMD", "rdna": "AMD", "x86": "Intel and AMD", "arm": "Arm", "gaudi": "Intel", "power": "IBM",
    "riscv": "RISC-V", "et-soc": "Esperanto", "vortex": "Vortex", "hexagon": "Qualcomm",
    "wormhole": "Tenstorrent", "blackhole": "Tenstorrent",
}  # fmt: skip


def vendor(arch: str) -> str:
    """Who makes the units of an architecture."""
    return next((who for start, who in _VENDORS.items() if arch.startswith(start)), "NVIDIA")


#: Parameters with their values by what is known of them: evidence and source.
_Parameters = Mapping[tuple[str, str], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class DesignRow:
    """One distinct design on the page of an architecture that has it."""

    #: The architecture's first unit of it, and all of them.
    spec: UnitSpec
    names: tuple[str, ...]
    #: The unit that stands for it among pairs and claims.
    lead: str
    operation: Operation
    risks: tuple[str, ...]
    #: Parameters that differ from most designs' of the page.
    parameters: _Parameters
    #: Kept claims and pairs; empty where the lead is of another architecture.
    claims: Mapping[str, Sequence[tuple[str, str]]]
    pairs: tuple[PairPage, ...]

    @property
    def anchor(self) -> str:
        """Its place on the page."""
        return slug(self.lead)

    @property
    def width(self) -> str:
        """The fraction bits of its sums."""
        bits = self.spec.design.fraction_bits
        return "exact" if bits is None else str(bits)

    @property
    def evidence(self) -> str:
        """The evidence of its fraction bits, as `tcformal units --evidence` filters."""
        fact = self.spec.facts.get("fraction_bits")
        return fact.evidence.name.lower() if fact else ""

    @property
    def formats(self) -> tuple[str, ...]:
        """The names of its formats."""
        return tuple(dict.fromkeys(self.spec.operands.names().values()))

    @property
    def shapes(self) -> dict[str, int]:
        """The first of the names that differ in m and n alone, with how many these are."""
        made: dict[str, list[str]] = {}
        for name in self.names:
            made.setdefault(re.sub(r"m\d+n\d+(?=k)", "", name), []).append(name)
        return {names[0]: len(names) for names in made.values()}

    def neighbour(self, pair: PairPage) -> str:
        """The other design of a pair."""
        return pair.second if pair.first == self.lead else pair.first


@dataclass(frozen=True, slots=True)
class ArchitecturePage:
    """All designs of one architecture; parameters that most of them share are said once."""

    arch: str
    rows: tuple[DesignRow, ...]
    usual: _Parameters
    citations: tuple[tuple[str, str], ...]

    @property
    def file(self) -> str:
        """The name of its page."""
        return f"gpu/{self.arch}.html"

    @property
    def vendor(self) -> str:
        """Who makes it."""
        return vendor(self.arch)

    @property
    def processors(self) -> str:
        """The processors that have it."""
        return ", ".join(PROCESSORS.get(self.arch, (self.arch,)))

    @property
    def widths(self) -> dict[str, str]:
        """The fraction bits of the sums of each format, as libraries use them."""
        units = {name: resolve(f"{self.arch}:{name}") for name in formats_of(self.arch)}
        bits = {name: unit.design.fraction_bits for name, unit in units.items()}
        return {name: "exact" if n is None else str(n) for name, n in bits.items()}


def architecture_pages(pairs: Sequence[PairPage], claims: Sequence[Record]) -> list[ArchitecturePage]:
    """One page for each architecture, in the order of the catalogue."""
    by_unit: dict[str, dict[str, Record]] = {}
    for record in claims:
        by_unit.setdefault(record["unit"], {})[record["claim"]] = record
    rows: dict[str, list[DesignRow]] = {}
    for lead, names in distinct_designs().items():
        own: dict[str, list[str]] = {}
        for name in names:
            own.setdefault(name.partition("/")[0], []).append(name)
        for arch, mine in own.items():
            here, spec = mine[0] == lead, catalogue()[mine[0]]
            rows.setdefault(arch, []).append(DesignRow(
                spec, tuple(mine), lead, operation(spec), tuple(risks(spec)), {},
                _claims(by_unit.get(lead, {})) if here else {},
                tuple(pair for pair in pairs if lead in (pair.first, pair.second)) if here else (),
            ))  # fmt: skip
    order = {name: i for i, name in enumerate(catalogue())}
    return [
        _architecture(arch, sorted(mine, key=lambda row: order[row.spec.name])) for arch, mine in rows.items()
    ]


def _architecture(arch: str, rows: Sequence[DesignRow]) -> ArchitecturePage:
    stated_of = [stated(row.spec.design.parameters(), row.spec.facts) for row in rows]
    usual = {name: Counter(x[name] for x in stated_of).most_common(1)[0][0] for name in stated_of[0]}
    texts = ("; ".join((row.operation.source, *row.spec.sources, *row.spec.notes)) for row in rows)
    return ArchitecturePage(
        arch,
        tuple(
            replace(row, parameters=_by_source({n: x for n, x in mine.items() if usual.get(n) != x}))
            for row, mine in zip(rows, stated_of, strict=True)
        ),
        _by_source(usual),
        tuple((work.tag, work.citation()) for work in cited_works("; ".join(texts))),
    )


def _by_source(parameters: Mapping[str, Stated]) -> _Parameters:
    """Parameters as texts, those of one source together."""
    made: dict[tuple[str, str], dict[str, str]] = {}
    for name, x in parameters.items():
        value = "none" if x.value is None else str(in_hex(name, x.value))
        made.setdefault((x.evidence or "", x.source or ""), {})[name.replace("_", " ")] = value
    return made


def _claims(kept: Mapping[str, Record]) -> dict[str, list[tuple[str, str]]]:
    """The kept claims about one unit with their answers, by how far they were checked."""
    made: dict[str, list[tuple[str, str]]] = {}
    for claim, record in sorted(kept.items()):
        if claim.partition(SEPARATOR)[0] in STATEMENTS:
            made.setdefault(unchecked_reason(record), []).append((claim, str(record["reason"])))
    return made


#: The relations of answers to their sources.
RELATIONS = ("agrees", "deviates", "asks something else", "open")

#: What identifies a record, without its definition.
_Key = tuple[str, ...]
_NAMED = ("kind", "first", "second", "property", "unit")


@dataclass(frozen=True, slots=True)
class AskRow:
    """One question: what its source says, what was found, how far that was checked, how to ask it."""

    name: str
    assumed: str
    reported: str
    outcome: str
    status: str
    agreement: str
    found: str
    command: str
    deviation: str


@dataclass(frozen=True, slots=True)
class QueryPage:
    """One file of questions."""

    query: QueryFile
    rows: tuple[AskRow, ...]

    @property
    def family(self) -> str:
        """The folder of its file, whose questions share a page."""
        return self.query.name.partition("/")[0]

    @property
    def anchor(self) -> str:
        """Its place on the page of its family."""
        return slug(self.query.name)

    def count(self, word: str) -> int:
        """How many answers agree with the source, deviate, and so on."""
        return sum(row.agreement == word for row in self.rows)


def query_pages(
    queries: Sequence[QueryFile], entries: Sequence[Entry], store: Store, advance: Advance
) -> list[QueryPage]:
    """Every question of every file with its kept answer, whose evidence is checked; claims are not proved."""
    kept = {_record_key(e.record): e.record for e in entries}
    proved = {(r["claim"], r["unit"]): r for r in store.claims.all()}
    asks = {query.name: query.concrete() for query in queries}
    total, done, made = sum(map(len, asks.values())), 0, []
    for query in queries:
        rows = []
        for ask in asks[query.name]:
            advance(done, total)
            done += 1
            rows.append(_row(query, ask, kept, proved, store))
        made.append(QueryPage(query, tuple(rows)))
    advance(total, total)
    return made


def _record_key(record: Record) -> _Key:
    """What identifies a kept answer."""
    q = record["question"]
    if q["kind"] in (EqualityQuestion.KIND, "property"):
        return tuple(str(q.get(x)) for x in _NAMED) + tuple(q["assumptions"])
    return _parts_key({name: part for name, part in q.items() if name != "sha256"})


def _parts_key(parts: Mapping[str, Any]) -> _Key:
    """All that identifies a question about two programs."""
    return (json.dumps(parts, sort_keys=True),)


def _ask_key(ask: Ask) -> _Key:
    """What identifies the answer to a question of kind `separate`, `property`, `algorithm` or `programs`."""
    body = ask.body
    if ask.kind == "separate":
        spec, other = map(resolve, body["separate"])
        named = {"kind": ask.kind, "first": spec.name, "second": other.name}
    elif ask.kind == "property":
        spec = resolve(body["unit"])
        named = {"kind": ask.kind, "property": body["property"], "unit": spec.name}
    else:
        return _parts_key(algorithm_asked(body).parts())
    assumed = from_texts(spec.operands.c, body.get("assume", ()))
    return tuple(str(named.get(x)) for x in _NAMED) + tuple(assumed.spellings())


def _row(
    query: QueryFile, ask: Ask, kept: Mapping[_Key, Record], proved: Mapping[tuple[str, str], Record],
    store: Store,
) -> AskRow:  # fmt: skip
    """One question with its answer."""
    try:
        outcome, status, found, command = _answer(query, ask, kept, proved, store)
    except (TcformalError, LookupError, ValueError, TypeError) as error:
        outcome, status, found, command = "not answered", f"refused: {error}", "", ""
    relation = "open"
    if outcome == ask.expected:
        relation = "asks something else" if not ask.reported else "deviates" if ask.deviation else "agrees"
    asked = f"tcformal run {query.name} --only '{ask.name}'"
    return AskRow(
        ask.name, "; ".join(ask.body.get("assume", ())), ask.reported, outcome, status, relation, found,
        command or asked, " ".join(ask.deviation.split()),
    )  # fmt: skip


def _answer(
    query: QueryFile, ask: Ask, kept: Mapping[_Key, Record], proved: Mapping[tuple[str, str], Record],
    store: Store,
) -> tuple[str, str, str, str]:  # fmt: skip
    """The outcome, how far it was checked, what was found, and the command that shows it."""
    if ask.kind == "evaluate":
        (done,) = run(query, [ask], SolveOptions())
        found = str(done.answer["results"]["integers"]["value"])
        return done.outcome, "computed again on lanes, integers and fractions", found, ""
    if ask.kind == "claim":
        claim = proved.get((claim_of(ask.body), ask.body["unit"]))
        if claim is None or claim["definition"] != definition(resolve(ask.body["unit"])):
            return "not answered", "no kept answer", "", ""
        return unchecked_verdict(claim), unchecked_reason(claim), claim["reason"], ""
    record = None if ask.kind in ("largest", "error", "measure") else kept.get(_ask_key(ask))
    if record is None or Kind[record["verdict"]] not in DECIDED:
        return "not answered", "no kept answer", "", ""
    if ask.kind == EqualityQuestion.KIND and record["witness"] is not None:
        first, second = ask.body["separate"]
        w = witness_of_record(record)
        x = replayed(first, second, w)
        command = explain_command([first, second], w, by_value(x.traces[0].unit))
        found = "" if x.found is None else f"{x.found.stage}: {x.found.first}, and {x.found.second}"
        return record["verdict"], "computed again on integers and on fractions", found, command
    v = store.find(question_asked(ask))
    if v is None or not v.checked:
        return Kind.UNKNOWN.name, kept_as(record["verdict"], record["date"]), str(record["reason"]), ""
    return v.kind.name, "checked again", v.reason, ""


#: Most dot products of one device that the page of NaN rules computes again.
_MOST = 4096


@dataclass(frozen=True, slots=True)
class NanStory:
    """Recorded results that are NaN, and how many of them each rule gives, computed now."""

    device: str
    unit: str
    file: str
    nans: int
    #: The rule, how many recorded NaNs it gives, and an example of one that it does not.
    rules: tuple[tuple[str, int, str], ...]
    #: The rule of the catalogue.
    chosen: str


@dataclass(frozen=True, slots=True)
class DevicePage:
    """One device: what its campaign says, and the answers that refute designs."""

    folder: str
    device: str
    summary: Mapping[str, Any]
    status: str
    problem: str = ""

    @property
    def answers(self) -> list[Mapping[str, Any]]:
        """The questions whose answers refute designs, one of each, with what it refutes."""
        seen: dict[tuple[str, str], Mapping[str, Any]] = {}
        for answer in self.summary.get("answers", ()):
            if "question" in answer and answer.get("refuted"):
                seen.setdefault((answer["question"], answer["unit"]), answer)
        return list(seen.values())

    @property
    def differing(self) -> list[Mapping[str, Any]]:
        """The units whose results were not the models' of that day."""
        return [unit for unit in self.summary.get("units", ()) if unit["mismatches"]]


@dataclass(frozen=True, slots=True)
class IdentificationPage:
    """One identification with its curve of survivors."""

    data: Mapping[str, Any]
    status: str
    reason: str
    curve: str


def device_pages(folder: Path) -> list[DevicePage]:
    """The devices of a results folder, by the summaries of their campaigns."""
    made = []
    for path in sorted(folder.glob("hardware/*")):
        name = path.name
        try:
            data = read_summary(path)
            if data is None:
                continue
            _check_counts(data)
            made.append(DevicePage(name, str(data["device"]["device"]), data, NOT_CHECKED))
        except (TcformalError, OSError, ValueError, LookupError, TypeError) as error:
            made.append(DevicePage(name, name, {}, "refused", str(error)))
    return made


def _check_counts(data: Mapping[str, Any]) -> None:
    """KeyError, TypeError or ValueError for a summary without what its page shows."""
    for row in (data, *data["units"]):
        int(row["mismatches"])
    int(data["dot_products"]) + float(data["seconds"])
    for unit in data["units"]:
        str(unit["unit"]) + str(unit["instruction"]) + str(int(unit["directed"]) + int(unit["random"]))
    for answer in data["answers"]:
        if "question" in answer:
            str(answer["title"]) + str(answer["unit"])
            sorted(map(str, dict(answer["outputs"]))), list(answer["refuted"])


def nan_stories(folder: Path) -> list[NanStory]:
    """Files of results with NaNs whose bits tell which operand's NaN a step returns."""
    made = []
    for path in sorted((folder / "hardware").glob("*/*/*.jsonl*")):
        plain = path.with_name(path.name.removesuffix(".xz"))
        try:
            for run in read_runs(plain):
                if resolve(str(run.head["unit"])).design.nan_rule != "word":
                    story = _story(run, plain, folder)
                    made += [story] if story is not None else []
        except (TcformalError, LookupError, ValueError, TypeError):
            continue
    # The longest sums first: there the rule is asked most often.
    return sorted(made, key=lambda story: (-resolve(story.unit).k, -story.nans))


@dataclass(slots=True)
class _RuleTally:
    """How many recorded NaNs one rule gives, and an example of one that it does not."""

    design: UnitSpec
    right: int = 0
    example: str = ""


def _story(run: Run, path: Path, folder: Path) -> NanStory | None:
    """How many recorded NaNs each rule of a unit gives."""
    spec = unit_of(run, path)
    fmt = spec.operands.d
    infinity = ((1 << fmt.exponent_bits) - 1) << fmt.fraction_bits
    rules: dict[str, _RuleTally] = {}
    nans = count = 0
    for rule in NAN_RULES:
        try:
            rules[rule] = _RuleTally(resolve(f"{spec.name}@nan_rule={rule}"))
        except InputError:
            continue
    for piece in pieces_of(run, path):
        if count >= _MOST:
            break
        count += len(piece.outputs)
        magnitude = piece.outputs & np.uint64((1 << (fmt.width - 1)) - 1)
        is_nan = magnitude > np.uint64(infinity)
        nans += int(np.count_nonzero(is_nan))
        for row in rules.values():
            given = replay(row.design, piece.batch)
            good = (given == piece.outputs) & is_nan
            row.right += int(np.count_nonzero(good))
            wrong = np.flatnonzero(is_nan & ~good)
            if len(wrong) and not row.example:
                i = int(wrong[0])
                theirs = f"the device's {int(piece.outputs[i]):#010x}"
                row.example = f"{int(given[i]):#010x} instead of {theirs}"
    if not nans:
        return None
    found = tuple((rule, row.right, row.example) for rule, row in rules.items())
    device = str(run.head["device"].get("device", path.parent.parent.name))
    return NanStory(device, spec.name, str(path.relative_to(folder)), nans, found, spec.design.nan_rule)


def identification_pages(
    store: Store, warn: Callable[[str], None], *, verify: bool
) -> Iterator[IdentificationPage]:
    """The newest identification of every device and formats; `verify`: each statement checked by replay."""
    kept = RecordFile(store.folder, IDENTIFICATION, warn)
    for start in kept.last_starts():
        record = kept.line(start).data
        if record is None:
            continue
        try:
            check(record, IDENTIFICATION.name)
        except TcformalError as error:
            yield IdentificationPage({}, AuditStatus.FAILED.value, str(error), "")
            continue
        status, reason = NOT_CHECKED, ""
        if verify:
            finding = verify_identification(record, store)
            status, reason = finding.status.value, finding.reason
            if finding.status is AuditStatus.FAILED:
                yield IdentificationPage({}, status, reason, "")
                continue
        growth = [(int(probes), int(left)) for probes, left in record["growth"]]
        curve = growth_picture(int(record["space"]), growth, "") if growth else ""
        yield IdentificationPage(record, status, reason, curve)


#: Where figures are in a results folder, and in the site.
FOLDER = "figures"
#: Bytes of a picture or its data that are read.
_LARGEST = 1 << 21
#: The first line of the data: the command, and the version that drew.
_HEAD = re.compile(r"# (tcformal .*) \(tcformal (\S+)\)")


@dataclass(frozen=True, slots=True)
class FigurePage:
    """One figure: what drew it, the picture's text, and the table that it shows."""

    name: str
    command: str
    version: str
    picture: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    @property
    def file(self) -> str:
        """The picture's file in the site."""
        return f"{FOLDER}/{self.name}.svg"


def figure_pages(results: Path, warn: Warn) -> list[FigurePage]:
    """Every figure of a results folder by its name; one whose data do not say what drew it is left out."""
    return [page for path in sorted((results / FOLDER).glob("*.csv")) if (page := _figure_page(path, warn))]


def _figure_page(path: Path, warn: Warn) -> FigurePage | None:
    try:
        data, picture = (read_regular(x, _LARGEST).decode() for x in (path, path.with_suffix(".svg")))
        head, _, table = data.partition("\n")
        said = _HEAD.fullmatch(head)
        if said is None:
            raise InputError("expected the command in the first line of the data, but there is none")
        header, *rows = list(csv.reader(table.splitlines()))
    except (InputError, RecordError, OSError, ValueError, csv.Error) as error:
        warn(f"figure {path.name} is not shown: {error}")
        return None
    # Two decimals draw the same.
    return FigurePage(path.stem, said[1], said[2], re.sub(r"(\.\d\d)\d+", r"\1", picture), header, rows)


#: Takes the name of a part, and returns what counts its steps.
StepCounter = Callable[[str], Advance]


@dataclass(frozen=True, slots=True)
class Site:
    """All that the pages show."""

    architectures: Sequence[ArchitecturePage]
    pairs: Mapping[Pair, PairPage]
    queries: Sequence[QueryPage]

    @property
    def families(self) -> dict[str, list[QueryPage]]:
        """The files of questions by folder."""
        names = dict.fromkeys(query.family for query in self.queries)
        return {name: [query for query in self.queries if query.family == name] for name in names}

    @property
    def units(self) -> list[list[str]]:
        """A unit of each design of each architecture, those of equal formats together."""
        made: dict[tuple[object, ...], list[str]] = {}
        for spec in (row.spec for page in self.architectures for row in page.rows):
            made.setdefault((spec.operands, spec.scale_format, spec.scale_block), []).append(spec.name)
        return list(made.values())


def build(
    folder: Path, results: Path, *, verify: bool, part: StepCounter, warn: Warn, pyodide: str | None = None
) -> list[Path]:
    """Write the site of a results folder; the files that were written.

    `verify`: identifications are replayed too, which takes minutes.  `pyodide`: the package of npm, which
    the playground needs; without it there is none.
    Errors: InputError where jinja2 is not installed, `folder` holds something else, or Pyodide is not there.
    """
    pages = _templates()
    check_target(folder)
    made = {}
    if pyodide is not None:
        made = scripts(Path(pyodide))
    store = Store(results, warn)
    entries = [entry for entry in store.records() if _usable(entry, warn)]
    claims = store.claims.all()
    formats = groups()
    pairs = pair_pages(formats, entries, part("pairs of designs"))
    architectures = architecture_pages(list(pairs.values()), claims)
    queries = query_pages(
        [load(path, name) for name, path in known_queries().items()], entries, store, part("questions")
    )
    site = Site(architectures, pairs, queries)
    of_formats = {pair: slug(group.formats) for group in formats for pair in group.pairs}
    shared: Plain = {
        "site": site, "version": VERSION, "commit": commit(), "host": host(), "letters": LETTERS,
        "relations": RELATIONS, "playground": pyodide is not None, "slug": slug, "Pair": Pair,
        "address": address,
        "row_of": lambda p: f"pairs/{of_formats[Pair(p.first, p.second)]}.html#{p.anchor}",
    }  # fmt: skip
    figures = figure_pages(results, warn)
    found = list(identification_pages(store, warn, verify=verify))
    devices, beside = device_pages(results), [*references(results, warn)]
    sources = {tag.lower(): work for tag, work in works().items()}
    made |= {figure.file: figure.picture for figure in figures}
    made |= {
        "site.css": STYLE + CHART_STYLE + _static("site.css"),
        "site.js": _static("site.js"),
        "index.html": pages("index.html", "", shared | _front(site, devices, found)),
        "gpus.html": pages("gpus.html", "", shared),
        "pairs.html": pages("pairs.html", "", shared | {"groups": formats}),
        "papers.html": pages("papers.html", "", shared | {"works": sources}),
        "devices.html": pages("devices.html", "", shared | {
            "devices": devices, "stories": nan_stories(results),
            "references": references_section(beside), "counted": counted_references(beside),
        }),
        "identified.html": pages("identified.html", "", shared | {"found": found}),
        "checks.html": pages("checks.html", "", shared | {
            "benchmarks": _benchmarks(results), "figures": figures,
            "sections": [claims_section(claims), exports_section(held(results / EXPORTS, warn))],
        }),
    }  # fmt: skip
    if pyodide is not None:
        made["play.js"] = _static("play.js")
        made["playground.html"] = pages("playground.html", "", shared | {
            "papers": _papers(), "witnesses": _witnesses(pairs), "opening": opening(),
            "groups": site.units,
            "leads": {row.spec.name: row.lead for page in architectures for row in page.rows
                      if row.spec.name != row.lead},
        })  # fmt: skip
    for page in architectures:
        made[page.file] = pages("gpu.html", "../", shared | {"page": page})
    for group in formats:
        rows = [pairs[pair] for pair in group.pairs]
        made[f"pairs/{slug(group.formats)}.html"] = pages("pair.html", "../", shared | {
            "group": group, "rows": rows, "here": lambda p: f"#{p.anchor}",
        })  # fmt: skip
    for family, mine in site.families.items():
        made[f"papers/{family}.html"] = pages(
            "paper.html", "../", shared | {"queries": mine, "family": family, "work": sources.get(family)}
        )
    for name in [name for name in made if name.endswith(".html")]:
        made |= folded(name, made[name])
    return _write(folder, made, part("files"))


#: What a fold holds, as the templates write it, and characters of a page from which on it is apart.
_INSIDE, _HEAVY = re.compile(r'<div class="inside">\n(.*?)\n</div></details>', re.DOTALL), 30_000


def folded(name: str, text: str) -> dict[str, str]:
    """A page by its file's name; of a heavy one what its folds hold is apart, in one compressed script."""
    held = _INSIDE.findall(text)
    if len(text) < _HEAVY or len(held) < 2:
        return {name: text}
    apart, number = name.removesuffix("html") + "js", count()
    text = _INSIDE.sub(lambda _: f'<div class="inside" data-inside="{next(number)}"></div></details>', text)
    text = text.replace('<main id="main">', f'<main id="main" data-insides="{Path(apart).name}">', 1)
    return {name: text, apart: script("insides", json.dumps(held).encode())}


@cache
def _leads() -> dict[str, str]:
    """The unit that stands for each unit's design."""
    return {name: lead for lead, names in distinct_designs().items() for name in names}


def address(unit: str) -> str:
    """The address of the evidence for a unit of the catalogue: its design on its architecture's page."""
    return f"gpu/{unit.partition('/')[0]}.html#{slug(_leads()[unit])}"


def _front(site: Site, devices: Sequence[DevicePage], found: Sequence[IdentificationPage]) -> Plain:
    """What the first page shows."""
    width = widths()
    processors: dict[str, dict[str, str]] = {}
    for x in width:
        processors.setdefault(x.release.vendor, {})[x.release.name] = f"gpu/{x.unit.arch}.html"
    return {
        "width": {f"{x.release.name}:{x.bits}": x for x in width}, "processors": processors, "share": share,
        "timeline": timeline(width, address), "sums": same_sums(), "opening": OPENING, "grown": growth(),
        "keys": [(key_mark(i), x) for i, x in enumerate(CLASSES.values())], "length": LENGTH,
        "devices": devices, "found": found,
    }  # fmt: skip


def _static(name: str) -> str:
    return (Path(__file__).parent / "static" / name).read_text(encoding="utf-8")


def _usable(entry: Entry, warn: Warn) -> bool:
    """Whether a record is whole, by its schema and its digest."""
    try:
        entry.check()
    except RecordError as error:
        warn(f"record {entry.id[:12]} is not shown: {error}")
        return False
    return True


def check_target(folder: Path) -> None:
    """InputError where a folder holds what is no site of this program: nothing there is overwritten."""
    taken = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    if taken and not (folder / "site.js").is_file():
        raise InputError(f"expected a new folder, or one with a site in it, but got {folder}")


def _templates() -> Callable[[str, str, Mapping[str, Any]], str]:
    """The function that fills a template, which stands some folders below the site's top."""
    try:
        import jinja2
    except ModuleNotFoundError as error:
        raise InputError(
            "expected jinja2 to be installed for a report, but its package is missing: "
            "pip install 'tcformal[report]'"
        ) from error
    # Every text of a record is escaped; what is HTML already says so in its template.
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True,
        trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    return lambda name, top, values: found.get_template(name).render(**values, top=top, page_name=name)


def _benchmarks(results: Path) -> list[tuple[str, Sequence[Any]]]:
    """The tables of benchmarks beside the results folder, with the machine that each names."""
    found = sorted((results.resolve().parent / "benchmarks").glob("*.md"))
    return [(path.stem, tables(path.read_text(encoding="utf-8"))) for path in found]


def _write(folder: Path, made: Mapping[str, str], advance: Advance) -> list[Path]:
    for done, (name, text) in enumerate(made.items()):
        advance(done, len(made))
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(folder / name, text.encode())
    advance(len(made), len(made))
    return [folder / name for name in made]


def _witnesses(pairs: Mapping[Pair, PairPage]) -> list[Plain]:
    """The kept witnesses, for the playground."""
    return [
        {"units": [p.first, p.second], "operands": {name: code for name, _, code in p.operands}}
        for p in pairs.values()
        if p.witness is not None
    ]


def _papers() -> list[Plain]:
    """The stated results of the papers, for the playground."""
    files = [load(path, name) for name, path in known_queries().items()]
    return [
        {"title": query.title, "name": ask.name, **{x: ask.body[x] for x in ("unit", "a", "b", "c")}}
        for query in files
        for ask in query.concrete()
        if ask.kind == "evaluate"
    ]
