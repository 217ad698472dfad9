"""Every field of every line of results, plans and summaries, falsified: refused, or shown to turn nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from executors import Inline
from inline import Clock, Slow
from tcformal.devices import work
from tcformal.devices.campaign import Campaign
from tcformal.devices.directed import directed
from tcformal.devices.plan import make_plan, read_plan, write_plan
from tcformal.devices.registry import ModelDevice
from tcformal.devices.runner import run_plan
from tcformal.devices.sealed import SUMMARY
from tcformal.errors import TcformalError
from tcformal.identification.refutation import compare
from tcformal.simulation.matrix_unit import unit
from tcformal.store.schema import SEAL, sealed

UNIT = "x86/vdpbf16ps"
ALTERED = f"{UNIT}@nan_rule=word"
Path_ = tuple[str | int, ...]

#: What informs of a run and decides nothing: fields of lines, by their kind.
INFORMS = {
    ("run", "date"), ("run", "tcformal"), ("run", "definition"), ("run", "device"), ("end", "date"),
    ("campaign", "part"), ("campaign", "device"), ("campaign", "tcformal"), ("campaign", "date"),
    ("operands", "names"),
    # Texts for people, made anew when a campaign goes on; no comparison reads them.
    ("answer", "question"), ("answer", "title"), ("answer", "outputs"), ("answer", "fits"),
    ("answer", "refuted"), ("answer", "survivors"),
    # What the device gave where it was not what the model gives, and still is not.
    ("suite", "d"), ("directed", "d"),
    # Operands that have the same result, rounded.
    ("position", "a"), ("position", "b"), ("position", "c"),
}  # fmt: skip


def leaves(data: Any, path: Path_ = ()) -> Iterator[Path_]:
    """The place of every value that is no list and no object; of a long list, some."""
    if isinstance(data, dict) and data:
        for key in list(data)[:4] if len(data) > 40 else data:
            yield from leaves(data[key], (*path, key))
    elif isinstance(data, list) and data:
        for i in {0, len(data) // 2, len(data) - 1}:
            yield from leaves(data[i], (*path, i))
    else:
        yield path


def falsified(data: Any, path: Path_) -> Any:
    """The same with one value changed into another of its kind."""
    if not path:
        return other(data)
    made: Any = dict(data) if isinstance(data, dict) else list(data)
    made[path[0]] = falsified(data[path[0]], path[1:])
    return made


def other(value: Any) -> Any:
    """Another value that could stand there: a flipped digit, the next number."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str) and value:
        last = value[-1]
        return value[:-1] + {"0": "1", "1": "0"}.get(last, "0" if last in "0123456789abcdef" else "x")
    return "x" if isinstance(value, str) else {**value, "0": 1} if isinstance(value, dict) else [0]


def outcome(path: Path) -> tuple[Any, ...]:
    """What a comparison says, and what decides its exit code."""
    found = compare(path)
    survivors = tuple(u.name for u in found.survivors)
    return found.holds, found.survives, found.lacks, found.count, found.sealed, survivors


def refused(path: Path) -> bool:
    """Whether a comparison is refused; in one sentence."""
    try:
        outcome(path)
    except TcformalError as error:
        return "\n" not in str(error)
    return False


def one_of_each(lines: list[dict[str, Any]]) -> list[int]:
    """The first line of each kind, and the first random one with mismatches."""
    seen: dict[object, int] = {}
    for i, line in enumerate(lines):
        seen.setdefault((line["kind"], bool(line.get("mismatches"))), i)
    return list(seen.values())


def falsify_all(folder: Path, file: Path) -> int:
    """Falsify every field of the chosen lines, with the digest as it was and with a new one."""
    whole = [json.loads(line) for line in file.read_text().splitlines()]
    before = outcome(folder)
    count = 0
    for i in one_of_each(whole):
        for path in leaves(whole[i]):
            changed = falsified(whole[i], path)
            write(file, [*whole[:i], changed, *whole[i + 1 :]])
            assert refused(folder), (whole[i]["kind"], path)
            if path[0] == SEAL:
                continue
            write(file, [*whole[:i], sealed(changed), *whole[i + 1 :]])
            if not refused(folder):
                assert (whole[i]["kind"], path[0]) in INFORMS, (whole[i]["kind"], path, changed)
                assert outcome(folder) == before
            count += 1
    write(file, whole)
    assert outcome(folder) == before
    return count


def write(path: Path, lines: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.parametrize("device", [UNIT, ALTERED])
def test_no_field_of_a_run_turns_its_comparison(device: str, tmp_path: Path, quick_rivals: None) -> None:
    """Of a run that holds, and of one that is refuted: head, directed and random lines, end."""
    spec = unit(UNIT).spec
    plan = make_plan(spec, list(directed(spec))[::150], vectors=60, seed=1)
    path = run_plan(plan, ModelDevice(device), tmp_path).path
    assert compare(path).holds == (device == UNIT)
    assert falsify_all(path, path) > 25


@pytest.mark.slow
def test_no_field_of_a_campaign_turns_its_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick_rivals: None
) -> None:
    """Heads, operands, suites, random items, places, answers; the summary is only looked at whole."""
    monkeypatch.setattr(work, "directed", lambda spec: list(directed(spec))[::600])
    monkeypatch.setattr(work, "survivors", lambda *_: {"survivors": [UNIT], "refuted": {}})
    name = "arm/bfmmla.ebf0"
    Campaign(
        Slow("arm@nan_word=0xffc00000", Clock()), tmp_path, seconds=1e6, clock=Clock(), pool=Inline(),
        vectors=30, units=[name], answers=tmp_path,
    ).run()  # fmt: skip
    folder = next((tmp_path / "hardware").iterdir())
    assert falsify_all(folder, folder / "campaign-1.jsonl") > 40
    summary = folder / SUMMARY
    data, before = json.loads(summary.read_text()), outcome(folder)
    for path in leaves(data):
        changed = falsified(data, path)
        summary.write_text(json.dumps(changed))
        assert refused(folder), path
        summary.write_text(json.dumps(sealed(changed)))
        assert outcome(folder) == before
    for text in ("", "[]", "[" * 99_999, "{}"):
        summary.write_text(text)
        assert refused(folder)


def test_no_field_of_a_plan_is_falsified_unseen(tmp_path: Path) -> None:
    """With the head's digest renewed too: only the version of the tool may be another."""
    spec, path = unit(UNIT).spec, tmp_path / "plan"
    write_plan(path, make_plan(spec, list(directed(spec))[::150], vectors=60, seed=1))
    whole = [json.loads(line) for line in path.read_text().splitlines()]
    read_plan(path)
    for i in one_of_each(whole):
        for place in leaves(whole[i]):
            changed = falsified(whole[i], place)
            tries = [changed] if i else [changed, sealed(changed)]
            for line in tries:
                write(path, [*whole[:i], line, *whole[i + 1 :]])
                if line is not changed and place[0] in ("tcformal", SEAL):
                    read_plan(path)
                    continue
                with pytest.raises(TcformalError):
                    read_plan(path)


@pytest.fixture
def quick_rivals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two designs to choose from, not fifty."""
    monkeypatch.setattr(
        "tcformal.identification.refutation.rivals", lambda spec, _: [spec, unit(ALTERED).spec]
    )


def test_a_line_that_is_missing_or_doubled_is_seen(tmp_path: Path, quick_rivals: None) -> None:
    """Of a whole run no line can go, come, or stand elsewhere."""
    spec = unit(UNIT).spec
    plan = make_plan(spec, list(directed(spec))[::150], vectors=60, seed=1)
    path = run_plan(plan, ModelDevice(UNIT), tmp_path).path
    whole = [json.loads(line) for line in path.read_text().splitlines()]
    for changed in (
        [*whole[:3], *whole[4:]],
        [*whole[:4], whole[3], *whole[4:]],
        [whole[0], whole[2], whole[1], *whole[3:]],
    ):
        write(path, changed)
        assert refused(path)
    write(path, whole[:-1])
    found = compare(path)
    assert (found.survives, found.holds) == (True, False)
    assert found.lacks == f"it holds {plan.count} of {plan.count} dot products and did not come to its end"
    write(path, whole[:1])
    assert refused(path)
    write(path, [*whole, {**whole[0]}])
    assert compare(path).lacks == "it has no results"


def test_kept_counts_are_made_anew(tmp_path: Path) -> None:
    """A run that goes on does not say what its lines say, but what their outputs give."""
    spec = unit(UNIT).spec
    plan = make_plan(spec, list(directed(spec))[::50], vectors=60, seed=1)
    device = ModelDevice(UNIT)
    path = run_plan(plan, ModelDevice(ALTERED), tmp_path).path
    whole = [json.loads(line) for line in path.read_text().splitlines()]
    wrong = next(
        i for i, line in enumerate(whole) if line["kind"] == "directed" and line["d"] != line["model"]
    )
    lied = sealed({**whole[wrong], "model": whole[wrong]["d"]})
    mine = sealed({**whole[0], "device": device.identify(spec, 2)})
    target = tmp_path / "hardware" / device.label(mine["device"]) / "x86" / path.name
    target.parent.mkdir(parents=True)
    write(target, [mine, *whole[1:wrong], lied, *whole[wrong + 1 :]])
    with pytest.raises(TcformalError, match="as the model's output of"):
        run_plan(plan, device, tmp_path)
    write(target, [mine, *whole[1:]])
    kept = run_plan(plan, device, tmp_path)
    assert (kept.held, kept.mismatches > 0) == (plan.count, True)
    other_plan = make_plan(spec, list(directed(spec))[1::50], vectors=0, seed=1)
    swapped = [{**line, "id": item.id} for line, item in zip(whole[1:], other_plan.items, strict=False)]
    head = sealed({**mine, "plan": other_plan.digest(), "dot_products": other_plan.count})
    write(target, [head, *map(sealed, swapped[:5])])
    with pytest.raises(TcformalError, match="to be an item of the plan"):
        run_plan(other_plan, device, tmp_path)
