"""A campaign: measurements of units in order of value, within a time limit; apart from the command on it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tcformal.callbacks import Warn, ignore
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.devices import work
from tcformal.devices.device import Device
from tcformal.devices.entries import (
    Answer,
    Designs,
    FullError,
    Note,
    Parts,
    RandomLine,
    SuiteLine,
    block_data,
    fault_line,
    head_line,
    random_line,
    suite_line,
)
from tcformal.devices.isolated import IsolatedDevice
from tcformal.devices.plan import Random
from tcformal.devices.runner import measured
from tcformal.devices.runs import Run, files_of, read_runs, suite_pieces
from tcformal.devices.sealed import CAMPAIGN, SCHEMA, SUMMARY, check_program
from tcformal.devices.tally import (
    InstructionGroup,
    Measured,
    Pair,
    Tally,
    groups,
    model_key,
    operands_key,
    without_folders,
)
from tcformal.devices.work import Chunk, DirectedBlock, Tile, chunk_sizes
from tcformal.errors import DeviceError, RecordError, TcformalError
from tcformal.files import write_whole
from tcformal.oracle.values import hex_word
from tcformal.semantics.chain import definition
from tcformal.simulation.operands.batch import Batch, Raw, batch_of, witness_at
from tcformal.simulation.operands.witness import to_data
from tcformal.store.schema import SEAL, now, sealed
from tcformal.version import VERSION

#: A clock, or the remaining time.
Seconds = Callable[[], float]
#: What a step does with results, and a computation in another process.
Act = Callable[..., None]
Call = Callable[..., object]
#: Directed dot products of one line.
BLOCK = 1024
#: The keys of an identity that name the device; the others differ from unit to unit.
_WHO = ("device", "driver", "system", "program", "program_sha256")
#: Time limit of one call of a device, in seconds.
_PATIENCE_S = 60.0
#: Units that one random item is run on before other steps.
_TOGETHER = 8


class Bench:
    """A device, the units measured on it, and their result files.

    Each result is logged durably before the next is measured.  `left` gives the remaining seconds; `say`
    takes one sentence on each unit that fails.
    """

    def __init__(
        self,
        device: Device,
        folder: Path,
        tally: Tally,
        left: Seconds,
        say: Callable[[str], None],
    ) -> None:
        self._device, self._folder, self._tally = device, folder, tally
        self._left, self._say = left, say
        self._parts: Parts | None = None
        self._blocks: set[str] = set()
        self._definitions: dict[tuple[object, ...], str] = {}

    # ------------------------------------------------------------------ who and where
    def open(self, groups: Iterable[InstructionGroup]) -> None:
        """Identify the device by the first unit that runs, and read its earlier results.

        Errors: DeviceError where it runs none of the leading units, with the first reason.
        """
        reasons: list[DeviceError] = []
        identity: dict[str, str] = {}
        for group in groups:
            try:
                identity = self._identified(group.leader)
                break
            except DeviceError as error:
                reasons.append(error)
                if self._left() <= 0:
                    break
        if not identity:
            raise DeviceError(str(reasons[0]))
        who, folder = _who(identity), self._folder / "hardware" / self._device.label(identity)
        self._tally.device, self._tally.folder = who, folder
        self._parts = Parts(folder, {"schema": SCHEMA, "device": who, "tcformal": VERSION, "date": now()})
        for run in read_runs(folder) if files_of(folder) else ():
            check_program(run.head["device"], identity, folder)
            self._blocks |= {digest for digest, block in run.blocks.items() if SEAL in block}
            unit = self._tally.units.get(run.head["unit"])
            if unit is not None and self._same(run, unit):
                unit = self._tally.units[run.head["unit"]] = Measured(unit.spec, unit.leads)
                unit.resume(run)

    def _same(self, run: Run, unit: Measured) -> bool:
        """Whether an earlier run measured this unit in its current definition on this device."""
        return run.continues(self._head(unit)) and self._tally.device.items() <= run.head["device"].items()

    def _head(self, unit: Measured, **more: object) -> dict[str, object]:
        key = model_key(unit.spec)
        if key not in self._definitions:
            self._definitions[key] = definition(unit.spec)
        return head_line(unit.spec, unit.spec.k, CAMPAIGN, self._definitions[key], **more)

    def keep_new(self, unit: Measured, line: Mapping[str, object]) -> None:
        """Log a line about a unit's outputs, unless the files contain it."""
        if line not in unit.notes:
            self.keep(line)

    def keep(self, line: Mapping[str, object]) -> None:
        """Log a line."""
        if self._parts is None:
            raise DeviceError("expected the device to be asked who it is before it is measured")
        self._parts.append(line)

    # ------------------------------------------------------------------ one unit
    def begun(self, unit: Measured, why_not: str = "") -> bool:
        """Whether a unit can be measured; the first call identifies the device and logs the unit's head."""
        if unit.fault or unit.begun:
            return not unit.fault
        try:
            if why_not:
                raise DeviceError(why_not)
            unit.identity = self._identified(unit.spec)
            mine, who = self._tally.device, _who(unit.identity)
            if who != mine:  # such as an emulator for the processor
                raise DeviceError(
                    f"expected {mine.get('device')} to run it, but {who.get('device')} would: "
                    "give it a campaign of its own by --unit"
                )
        except DeviceError as error:
            self.fail(unit, "identify", error)
            return False
        self.keep(self._head(unit, device=unit.identity, date=now()))
        unit.begun = True
        return True

    def suite(self, unit: Measured, made: DirectedBlock) -> None:
        """Measure the directed dot products, block by block."""
        for start in range(0, len(made.items), BLOCK):
            items = made.items[start : start + BLOCK]
            block = block_data(unit.spec, items)
            digest, id_ = block["digest"], f"suite/{block['digest'][:16]}"
            if id_ in unit.done:
                suites = [(block, cast(SuiteLine, unit.done[id_]))]
                (held,) = suite_pieces(unit.spec, unit.spec.k, suites, self._folder, lambda: True)
                unit.suite[id_] = held.outputs.tolist()
                continue
            if digest not in self._blocks:
                self.keep(block)
                self._blocks.add(digest)
            outputs, error = self._outputs(unit.spec, batch_of([i.witness for i in items]))
            line = suite_line(unit.spec, digest, outputs, made.model[start : start + BLOCK])
            if len(outputs) < len(items):
                self.keep({**line, "partial": True})
            else:
                self.keep(line)
                unit.take(line)
                unit.suite[id_] = outputs.tolist()
            if error is not None:
                self.fail(unit, id_, error)
                return

    def random(self, unit: Measured, item: Random, made: Chunk, model: Raw, *, first: bool) -> None:
        """Measure one random item; with `first`, compare the group's leader with units of equal operands."""
        compares = first and unit.leads
        if item.id in unit.done:
            if compares and unit.first is None:
                outputs = model.astype(np.uint64)
                for row, word in cast(RandomLine, unit.done[item.id])["mismatches"].items():
                    outputs[int(row)] = int(word, 16)
                self._compared(unit, outputs, made.batch)
            return
        outputs, error = self._outputs(unit.spec, made.batch, made.finite)
        line: RandomLine = {
            "unit": unit.spec.instruction, **random_line(unit.spec, item, outputs, model, unit.room)
        }  # fmt: skip
        if len(outputs) < item.count:
            failed = {"kind": "fault", "answered": len(outputs), "reason": str(error), "date": now()}
            self.keep({**line, **failed})
        else:
            self.keep(line)
            unit.take(line)
        if error is not None:
            self.fail(unit, item.id, error)
        elif compares:
            self._compared(unit, outputs, made.batch)

    def positions(self, unit: Measured, tile: Tile) -> None:
        """Measure one dot product at every position of a tile, with other dot products around it."""
        outputs, error = self._outputs(unit.spec, tile.batch)
        words, counts = np.unique(outputs[tile.holds[: len(outputs)]], return_counts=True)
        d, row = unit.spec.operands.d, int(np.flatnonzero(tile.holds)[0])
        facts = {
            "kind": "position", "unit": unit.spec.instruction, "places": unit.spec.m * unit.spec.n,
            "model": hex_word(d, tile.model), **to_data(unit.spec, witness_at(tile.batch, row)),
            "outputs": {hex_word(d, int(w)): int(n) for w, n in zip(words, counts, strict=True)},
        }  # fmt: skip
        unit.positions = cast(Note, facts)
        self.keep(facts)
        if error is None and len(words) > 1:
            error = DeviceError(
                f"expected {self._device.name} to give one result for one dot product wherever it stands, "
                f"but it gives {', '.join(unit.positions['outputs'])}"
            )
        if error is not None:
            self.fail(unit, "position", error)

    def _identified(self, spec: UnitSpec) -> dict[str, str]:
        self._be_patient()
        return self._device.identify(spec, spec.k)

    def _outputs(
        self, spec: UnitSpec, x: Batch, finite: NDArray[np.bool_] | None = None
    ) -> tuple[Raw, DeviceError | None]:
        self._be_patient()
        return measured(self._device, spec, x, finite)

    def _be_patient(self) -> None:
        """Limit the device's answer timeout to the remaining time."""
        if isinstance(self._device, IsolatedDevice):
            self._device.patience_s = min(_PATIENCE_S, max(5.0, self._left()))

    def fail(self, unit: Measured, id_: str, error: DeviceError) -> None:
        """Log the reason of a unit's failure, and stop measuring the unit."""
        unit.fault = str(error)
        self._say(f"{unit.spec.instruction}: {error}")
        if not unit.begun:
            self.keep(self._head(unit, device=unit.identity or dict(self._tally.device), date=now()))
        unit.begun = True
        self.keep(fault_line(id_, error, unit=unit.spec.instruction))

    def _compared(self, unit: Measured, outputs: Raw, x: Batch) -> None:
        """Compare the results of a group's leading unit with the other units of equal operands."""
        unit.first, d = outputs, unit.spec.operands.d
        for other in self._tally.units.values():
            if other is unit or other.first is None or operands_key(other.spec) != operands_key(unit.spec):
                continue
            rows = np.flatnonzero(other.first != outputs)
            pair = Pair(
                first=other.spec.instruction, second=unit.spec.instruction,
                dot_products=len(outputs), differing=len(rows),
            )  # fmt: skip
            for row in map(int, rows[:1]):
                pair["example"] = {
                    **to_data(unit.spec, witness_at(x, row)),
                    "first_gives": hex_word(d, int(other.first[row])),
                    "second_gives": hex_word(d, int(outputs[row])),
                }
            self._tally.pairs.append(pair)


def _who(identity: Mapping[str, str]) -> dict[str, str]:
    """The part of an identity that names the device."""
    return {key: text for key, text in identity.items() if key in _WHO}


@dataclass(slots=True)
class CampaignStep:
    """A step of a campaign: an action on the device, with the futures whose results it needs."""

    #: Steps of one kind take about as long.
    kind: str
    needs: Callable[[Executor], list[Future[Any]]]
    #: Called with the results of the futures.
    act: Act
    #: Called with the error of a future.
    fail: Callable[[Exception], None]
    futures: list[Future[Any]] = field(default_factory=list)

    def ready(self) -> bool:
        """Whether all needed futures are done."""
        return all(f.done() for f in self.futures)


class CampaignTimeError(Exception):
    """The campaign's time limit is reached."""


def run_steps(
    steps: Iterator[CampaignStep | None], pool: Executor, window: int, left: Seconds, clock: Seconds
) -> None:
    """Run all steps, always the first ready one of the next `window`, which are prepared in advance.

    None is a barrier: later steps are made after all earlier ones are done.  A step does not begin where
    the longest step of its kind would exceed the time `left`.
    Errors: CampaignTimeError.
    """
    longest: dict[str, float] = {}
    waiting: list[CampaignStep] = []
    more = True
    try:
        while more or waiting:
            barrier = False
            while more and not barrier and len(waiting) < window:
                try:
                    step = next(steps)
                except StopIteration:
                    more = False
                    break
                barrier = step is None
                if step is not None:
                    step.futures = step.needs(pool)
                    waiting.append(step)
            while waiting and (barrier or not more or len(waiting) == window):
                _do_one(waiting, longest, left, clock)
    finally:
        for step in waiting:
            for future in step.futures:
                future.cancel()


def _do_one(waiting: list[CampaignStep], longest: dict[str, float], left: Seconds, clock: Seconds) -> None:
    """Wait for a ready step and run it; CampaignTimeError where too little time remains."""
    while (step := next((s for s in waiting if s.ready()), None)) is None:
        if left() <= 0:
            raise CampaignTimeError
        pending = [f for s in waiting for f in s.futures if not f.done()]
        wait(pending, timeout=min(left(), 1.0), return_when=FIRST_COMPLETED)
    if left() <= longest.get(step.kind, 0.0):
        raise CampaignTimeError
    waiting.remove(step)
    start = clock()
    try:
        results = [f.result() for f in step.futures]
    except Exception as error:  # noqa: BLE001  whatever befell another process, the other steps go on
        step.fail(error)
    else:
        step.act(*results)
    longest[step.kind] = max(longest.get(step.kind, 0.0), clock() - start)


def _sentence(error: Exception) -> str:
    """The error of another process, as one sentence."""
    if isinstance(error, TcformalError):
        return str(error)
    return f"expected the inputs and the model's results, but got {type(error).__name__}: {error!s:.100}"


class Campaign:
    """A campaign on one device, with its units grouped by instruction.

    `clock` gives seconds; `pool` runs what needs no device, on `jobs` processes; `folder` holds the
    results; the witnesses of kept answers in the folder `answers` are run too; `say` takes one sentence
    at a time.
    Errors: DeviceError for a device that names no units where none are given.
    """

    def __init__(
        self,
        device: Device,
        folder: Path,
        *,
        seconds: float,
        clock: Seconds,
        pool: Executor,
        jobs: int = 1,
        vectors: int = 1_000_000,
        seed: int = 1,
        units: Iterable[str] = (),
        answers: Path | None = None,
        say: Warn = ignore,
    ) -> None:
        self._device, self._pool = device, pool
        self._store = str(folder if answers is None else answers)
        self._clock, self._start, self._seconds = clock, clock(), seconds
        self._jobs, self._seed, self._say = jobs, seed, say
        self._items = list(enumerate(chunk_sizes(vectors)))
        names = list(units) or device.units()
        if not names:
            raise DeviceError(
                f"expected units that {device.name} runs, but it names none: give them by --unit"
            )
        self._groups = groups(resolve(name) for name in names)
        self.tally = Tally()
        for group in self._groups:
            for spec in group.units:
                self.tally.units[spec.instruction] = Measured(spec, spec == group.leader)
        self._bench = Bench(device, folder, self.tally, self._left, say)
        self._building: dict[str, Future[str]] = {}
        self._suites: dict[tuple[object, ...], DirectedBlock] = {}
        self._models: dict[tuple[object, ...], Raw] = {}

    def run(self) -> Tally:
        """Measure until all is done or time is up; every result is on disk in either case.

        Errors: DeviceError where no unit at all could be measured, with the first reason.
        """
        tally = self.tally
        # The kernels of the first groups are built in parallel, before the first use.
        for first in self._builds([group.leader for group in self._groups[: 2 * self._jobs]])[:1]:
            wait([first], timeout=max(0.0, self._left()))
        self._bench.open(self._groups)
        finished = False
        try:
            run_steps(self._steps(), self._pool, 3 * self._jobs + 2, self._left, self._clock)
            finished = True
        except CampaignTimeError:
            tally.stopped = "the time is up"
        except FullError as error:
            tally.stopped = str(error)
        finally:
            tally.seconds = self._clock() - self._start
            tally.complete = finished and not tally.faults
            tally.untouched = [n for n, u in tally.units.items() if not u.done and not u.fault]
            facts = {key: without_folders(value) for key, value in tally.data().items()}
            text = json.dumps(sealed(facts), indent=1, ensure_ascii=False)
            write_whole(tally.folder / SUMMARY, f"{text}\n".encode())
        return tally

    def _left(self) -> float:
        """The remaining time in seconds."""
        return self._start + self._seconds - self._clock()

    # ------------------------------------------------------------------ the order of value
    def _steps(self) -> Iterator[CampaignStep | None]:
        """All steps, in descending order of value."""
        leaders = [(group, group.units[:1]) for group in self._groups]
        others = [(group, group.units[1:]) for group in self._groups]
        quick = [pair for pair in leaders if not pair[0].slow]
        slow = [pair for pair in leaders if pair[0].slow]
        first = partial(self._random, self._items[:1])
        rest = partial(self._random, self._items[1:])
        yield from self._all("directed inputs of the leading units", leaders, self._suite)
        yield from self._all("first random inputs", leaders, first)
        yield from self._all("every place of a tile", leaders, self._positions)
        yield from self._all("random inputs", quick, rest)
        yield None  # the answers need the outputs of what was asked
        yield from self._all("answers to the questions", leaders, self._answers)
        yield from self._all("directed inputs of the other units", others, self._suite)
        yield from self._all("every place of their tiles", others, self._positions)
        yield from self._all("first random inputs", others, first)
        yield from self._all("random inputs, slow models", slow, rest)
        yield from self._all("random inputs", others, rest)
        yield None
        kept = [
            (g, specs) for g, specs in (*leaders, *others)
            if any(self.tally.units[spec.instruction].unchecked for spec in specs)
        ]  # fmt: skip
        yield from self._all("kept results, held against the models again", kept, self._kept)
        yield from self._all("designs that survive", leaders, self._designs)

    def _all(
        self,
        title: str,
        pairs: list[tuple[InstructionGroup, tuple[UnitSpec, ...]]],
        steps: Callable[[InstructionGroup, Sequence[Measured]], Iterator[CampaignStep]],
    ) -> Iterator[CampaignStep]:
        """One stage of the campaign: its steps for every group."""
        count = sum(len(specs) for _, specs in pairs)
        if count:
            self._say(f"{self._left():.0f} s left: {title} ({count} units)")
        for group, specs in pairs:
            yield from steps(group, [self.tally.units[spec.instruction] for spec in specs])

    # ------------------------------------------------------------------ the steps
    def _step(
        self, kind: str, units: Sequence[Measured], act: Act, call: Call, *arguments: object
    ) -> CampaignStep:
        """A step on the device: `act` on the result of `call` in another process, and built kernels."""

        def needs(pool: Executor) -> list[Future[Any]]:
            return [pool.submit(call, *arguments), *self._builds([unit.spec for unit in units])]

        def fail(error: Exception) -> None:
            for unit in units:
                self._bench.fail(unit, "prepare", DeviceError(_sentence(error)))

        return CampaignStep(kind, needs, lambda result, *_: act(result), fail)

    def _comparison(
        self, kind: str, unit: Measured, act: Act, call: Call, *arguments: object
    ) -> CampaignStep:
        """A step without the device: `act` on the result of `call` on a unit in another process."""

        def fail(error: Exception) -> None:
            self._say(f"{unit.spec.instruction}: {_sentence(error)}")

        return CampaignStep(
            kind, lambda pool: [pool.submit(call, unit.spec.instruction, *arguments)], act, fail
        )

    def _suite(self, group: InstructionGroup, units: Sequence[Measured]) -> Iterator[CampaignStep]:
        """Steps for the directed dot products, the questions' first; the model runs once per group."""

        def act(unit: Measured, made: DirectedBlock | None) -> None:
            made = self._suites.setdefault(group.model, made) if made else self._suites[group.model]
            if self._begun(unit):
                self._bench.suite(unit, made)

        for unit in units:
            name = unit.spec.instruction
            call = (bool, False) if group.model in self._suites else (work.suite, name, self._store)
            yield self._step("suite", [unit], partial(act, unit), *call)

    def _random(
        self, items: Sequence[tuple[int, int]], group: InstructionGroup, units: Sequence[Measured]
    ) -> Iterator[CampaignStep]:
        """Steps for random dot products, generated once and run on several units."""
        for turn, count in items:
            id_ = f"random/{self._seed + turn}"
            open_ = [u for u in units if not u.fault and (id_ not in u.done or (turn == 0 and u.leads))]
            for start in range(0, len(open_), _TOGETHER):
                yield self._random_step(group, open_[start : start + _TOGETHER], turn, count)

    def _random_step(
        self, group: InstructionGroup, units: Sequence[Measured], turn: int, count: int
    ) -> CampaignStep:
        seed, key = self._seed + turn, (*group.model, turn)

        def act(made: Chunk) -> None:
            if made.model is not None:
                self._models[key] = made.model
            item = Random(f"random/{seed}", seed, count, made.inputs)
            for unit in units:
                if self._left() <= 0:
                    raise CampaignTimeError
                if self._begun(unit):
                    self._bench.random(unit, item, made, self._models[key], first=turn == 0)

        kind, lacking = f"{count} random ones for {len(units)} units", key not in self._models
        return self._step(kind, units, act, work.chunk, group.leader.instruction, count, seed, lacking)

    def _positions(self, _: InstructionGroup, units: Sequence[Measured]) -> Iterator[CampaignStep]:
        """Steps for one dot product at every position of a tile."""

        def act(unit: Measured, made: Tile) -> None:
            if self._begun(unit):
                self._bench.positions(unit, made)

        for unit in units:
            if not unit.positions and unit.spec.m * unit.spec.n > 1:
                yield self._step(
                    "position", [unit], partial(act, unit), work.positions, unit.spec.instruction, self._seed
                )

    def _kept(self, _: InstructionGroup, units: Sequence[Measured]) -> Iterator[CampaignStep]:
        """Steps that compare an earlier campaign's random items with the model, without the device."""

        def act(unit: Measured, line: RandomLine, problem: str) -> None:
            if problem:
                raise RecordError(problem)
            unit.unchecked.remove(line)

        for unit in units:
            for line in list(unit.unchecked):
                done = partial(act, unit, line)
                folder = str(self.tally.folder)
                yield self._comparison("kept results", unit, done, work.recounted, line, folder)

    def _answers(self, group: InstructionGroup, units: Sequence[Measured]) -> Iterator[CampaignStep]:
        """Steps that find each question's answer from the outputs, without the device."""

        def act(unit: Measured, found: list[Answer]) -> None:
            for answer in found:
                unit.answers.append({"kind": "answer", "unit": unit.spec.instruction, **answer})
                self._bench.keep_new(unit, unit.answers[-1])

        for unit in units:
            made, outputs = self._suites.get(group.model), unit.outputs
            if made is None or unit.answers:
                continue
            if len(outputs) >= max((e for _, e in made.questions.values()), default=1):
                asked = {id_: (made.items[a:e], outputs[a:e]) for id_, (a, e) in made.questions.items()}
                yield self._comparison("answers", unit, partial(act, unit), work.answers, asked)

    def _designs(self, group: InstructionGroup, units: Sequence[Measured]) -> Iterator[CampaignStep]:
        """Steps that find the designs consistent with the directed outputs, without the device."""

        def act(unit: Measured, found: Designs) -> None:
            unit.designs = {"kind": "answer", "unit": unit.spec.instruction, **found}
            self._bench.keep_new(unit, unit.designs)

        for unit in units:
            made, outputs = self._suites.get(group.model), unit.outputs
            if made and not (unit.designs or unit.spec.emulation) and len(outputs) == len(made.items):
                yield self._comparison(
                    "designs", unit, partial(act, unit), work.survivors, made.items, outputs
                )

    def _builds(self, specs: Sequence[UnitSpec]) -> list[Future[str]]:
        """Futures of kernel builds; each gives the reason of a failure, or an empty text."""
        build = self._device.builder()
        if build is None:
            return []
        for spec in specs:
            if spec.instruction not in self._building:
                self._building[spec.instruction] = self._pool.submit(build, spec.instruction)
        return [self._building[spec.instruction] for spec in specs]

    def _begun(self, unit: Measured) -> bool:
        built = self._building.get(unit.spec.instruction)
        return self._bench.begun(unit, built.result() if built is not None else "")
