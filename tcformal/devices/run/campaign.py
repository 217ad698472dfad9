"""A campaign: measurements of many units of a device in order of value, within a time limit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.devices.device import Device
from tcformal.devices.log.parts import FullError
from tcformal.devices.plan.plan import Random
from tcformal.devices.run import work
from tcformal.devices.run.bench import Bench
from tcformal.devices.run.groups import InstructionGroup, groups, is_slow
from tcformal.devices.run.tally import Measured, Tally, without_folders
from tcformal.devices.run.work import Chunk, DirectedBlock, chunk_sizes
from tcformal.devices.sealed import SUMMARY
from tcformal.errors import DeviceError, RecordError, TcformalError
from tcformal.files import write_whole
from tcformal.simulation.operands.random import Batch, Raw
from tcformal.store.schema import sealed

Submit = Callable[[Executor], list[Future[Any]]]


@dataclass(slots=True)
class CampaignStep:
    """A step of a campaign: an action on the device, with the futures whose results it needs."""

    #: Steps of one kind take about as long.
    kind: str
    needs: Submit
    #: Called with the results of the futures.
    act: Callable[..., None]
    #: Called with the error of a future.
    fail: Callable[[Exception], None]
    futures: list[Future[Any]] = field(default_factory=list)

    def ready(self) -> bool:
        """Whether all needed futures are done."""
        return all(f.done() for f in self.futures)


class CampaignTimeError(Exception):
    """The campaign's time limit is reached."""


def run_steps(
    steps: Iterator[CampaignStep | None],
    pool: Executor,
    window: int,
    left: Callable[[], float],
    clock: Callable[[], float],
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
                barrier, more = _prepare(steps, pool, waiting)
            while waiting and (barrier or not more or len(waiting) == window):
                _do_one(waiting, longest, left, clock)
    finally:
        for step in waiting:
            for future in step.futures:
                future.cancel()


def _prepare(
    steps: Iterator[CampaignStep | None], pool: Executor, waiting: list[CampaignStep]
) -> tuple[bool, bool]:
    """Submit the computations of the next step; whether it is a barrier, and whether a step was left."""
    try:
        step = next(steps)
    except StopIteration:
        return False, False
    if step is None:
        return True, True
    step.futures = step.needs(pool)
    waiting.append(step)
    return False, True


def _do_one(
    waiting: list[CampaignStep],
    longest: dict[str, float],
    left: Callable[[], float],
    clock: Callable[[], float],
) -> None:
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


def sentence(error: Exception) -> str:
    """The error of another process, as one sentence."""
    if isinstance(error, TcformalError):
        return str(error)
    return f"expected the inputs and the model's results, but got {type(error).__name__}: {error!s:.100}"


def given(value: Any) -> Future[Any]:
    """An already finished future with this result."""
    future: Future[Any] = Future()
    future.set_result(value)
    return future


#: Units that one random item is run on before other steps.
_TOGETHER = 8


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
        clock: Callable[[], float],
        pool: Executor,
        jobs: int = 1,
        vectors: int = 1_000_000,
        seed: int = 1,
        units: Iterable[str] = (),
        answers: Path | None = None,
        say: Callable[[str], None] = lambda _: None,
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
                self.tally.units[spec.name] = Measured(spec, spec == group.leader)
        self._bench = Bench(device, folder, self.tally, self._left, say)
        self._building: dict[str, Future[str]] = {}
        self._suites: dict[tuple[object, ...], DirectedBlock] = {}
        self._models: dict[tuple[object, ...], Raw] = {}

    def run(self) -> Tally:
        """Measure until all is done or time is up; every result is on disk in either case.

        Errors: DeviceError where no unit at all could be measured, with the first reason.
        """
        tally = self.tally
        self._build_ahead()
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
            text = json.dumps(sealed(without_folders(tally.data())), indent=1, ensure_ascii=False)
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
        quick = [pair for pair in leaders if not is_slow(pair[0])]
        slow = [pair for pair in leaders if is_slow(pair[0])]
        yield from self._all("directed inputs of the leading units", leaders, self._suite)
        yield from self._all("first random inputs", leaders, lambda g, u: self._random(g, u, self._items[:1]))
        yield from self._all("every place of a tile", leaders, self._positions)
        yield from self._all("random inputs", quick, lambda g, u: self._random(g, u, self._items[1:]))
        yield None  # the answers need the outputs of what was asked
        yield from self._all("answers to the questions", leaders, self._answers)
        yield from self._all("directed inputs of the other units", others, self._suite)
        yield from self._all("every place of their tiles", others, self._positions)
        yield from self._all("first random inputs", others, lambda g, u: self._random(g, u, self._items[:1]))
        yield from self._all(
            "random inputs, slow models", slow, lambda g, u: self._random(g, u, self._items[1:])
        )
        yield from self._all("random inputs", others, lambda g, u: self._random(g, u, self._items[1:]))
        yield None
        kept = [(g, specs) for g, specs in (*leaders, *others) if self._unchecked(specs)]
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
            yield from steps(group, [self.tally.units[spec.name] for spec in specs])

    # ------------------------------------------------------------------ the steps
    def _suite(self, group: InstructionGroup, units: Sequence[Measured]) -> Iterator[CampaignStep]:
        """Steps for the directed dot products, the questions' first; the model runs once per group."""
        for unit in units:

            def needs(pool: Executor, unit: Measured = unit) -> list[Future[Any]]:
                made = self._suites.get(group.model)
                asked = given(made) if made else pool.submit(work.suite, unit.spec.name, self._store)
                return [asked, *self._builds([unit])]

            def act(made: DirectedBlock, *_: str, unit: Measured = unit) -> None:
                self._suites[group.model] = made
                if self._begun(unit):
                    self._bench.suite(unit, made)

            yield CampaignStep("suite", needs, act, partial(self._failed, [unit]))

    def _random(
        self, group: InstructionGroup, units: Sequence[Measured], items: Sequence[tuple[int, int]]
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

        def needs(pool: Executor) -> list[Future[Any]]:
            made = pool.submit(work.chunk, group.leader.name, count, seed, key not in self._models)
            return [made, *self._builds(units)]

        def act(made: Chunk, *_: str) -> None:
            if made.model is not None:
                self._models[key] = made.model
            item = Random(f"random/{seed}", seed, count, made.inputs)
            for unit in units:
                if self._left() <= 0:
                    raise CampaignTimeError
                if self._begun(unit):
                    self._bench.random(unit, item, made, self._models[key], first=turn == 0)

        return CampaignStep(
            f"{count} random ones for {len(units)} units", needs, act, partial(self._failed, units)
        )

    def _positions(self, group: InstructionGroup, units: Sequence[Measured]) -> Iterator[CampaignStep]:
        """Steps for one dot product at every position of a tile."""
        del group
        for unit in units:
            if unit.positions or unit.spec.m * unit.spec.n == 1:
                continue

            def needs(pool: Executor, unit: Measured = unit) -> list[Future[Any]]:
                return [pool.submit(work.positions, unit.spec.name, self._seed), *self._builds([unit])]

            def act(made: tuple[Batch, Any, int], *_: str, unit: Measured = unit) -> None:
                if self._begun(unit):
                    self._bench.positions(unit, *made)

            yield CampaignStep("position", needs, act, partial(self._failed, [unit]))

    def _unchecked(self, specs: Sequence[UnitSpec]) -> bool:
        return any(self.tally.units[spec.name].unchecked for spec in specs)

    def _kept(self, group: InstructionGroup, units: Sequence[Measured]) -> Iterator[CampaignStep]:
        """Steps that compare an earlier campaign's random items with the model, without the device."""
        del group
        for unit in units:
            for line in list(unit.unchecked):

                def needs(pool: Executor, unit: Measured = unit, line: Any = line) -> list[Future[Any]]:
                    return [pool.submit(work.recounted, unit.spec.name, line, str(self.tally.folder))]

                def act(problem: str, unit: Measured = unit, line: Any = line) -> None:
                    if problem:
                        raise RecordError(problem)
                    unit.unchecked.remove(line)

                yield CampaignStep("kept results", needs, act, partial(self._not_compared, unit))

    def _answers(self, group: InstructionGroup, units: Sequence[Measured]) -> Iterator[CampaignStep]:
        """Steps that find each question's answer from the outputs, without the device."""
        for unit in units:
            made, outputs = self._suites.get(group.model), unit.outputs()
            if (
                made is None
                or unit.answers
                or len(outputs) < max((e for _, e in made.questions.values()), default=1)
            ):
                continue
            asked = {
                id_: ([i.id for i in made.items[a:e]], [i.witness for i in made.items[a:e]], outputs[a:e])
                for id_, (a, e) in made.questions.items()
            }

            def needs(pool: Executor, unit: Measured = unit, asked: Any = asked) -> list[Future[Any]]:
                return [pool.submit(work.answers, unit.spec.name, asked)]

            def act(found: list[dict[str, Any]], unit: Measured = unit) -> None:
                for answer in found:
                    unit.answers.append({"kind": "answer", "unit": unit.spec.name, **answer})
                    self._bench.keep_new(unit, unit.answers[-1])

            yield CampaignStep("answers", needs, act, partial(self._not_compared, unit))

    def _designs(self, group: InstructionGroup, units: Sequence[Measured]) -> Iterator[CampaignStep]:
        """Steps that find the designs consistent with the directed outputs, without the device."""
        for unit in units:
            made, outputs = self._suites.get(group.model), unit.outputs()
            if made is None or unit.designs or unit.spec.emulation or len(outputs) != len(made.items):
                continue

            def needs(
                pool: Executor, unit: Measured = unit, x: Any = (made.items, outputs)
            ) -> list[Future[Any]]:
                return [pool.submit(work.survivors, unit.spec.name, *x)]

            def act(found: dict[str, Any], unit: Measured = unit) -> None:
                unit.designs = {"kind": "answer", "unit": unit.spec.name, **found}
                self._bench.keep_new(unit, unit.designs)

            yield CampaignStep("designs", needs, act, partial(self._not_compared, unit))

    def _failed(self, units: Sequence[Measured], error: Exception) -> None:
        """Record that a computation in another process failed for some units."""
        for unit in units:
            self._bench.fail(unit, "prepare", DeviceError(sentence(error)))

    def _not_compared(self, unit: Measured, error: Exception) -> None:
        self._say(f"{unit.spec.name}: {sentence(error)}")

    def _builds(self, units: Sequence[Measured]) -> list[Future[str]]:
        """Futures of kernel builds; each gives the reason of a failure, or an empty text."""
        build = self._device.builder()
        if build is None:
            return []
        for unit in units:
            if unit.spec.name not in self._building:
                self._building[unit.spec.name] = self._pool.submit(build, unit.spec.name)
        return [self._building[unit.spec.name] for unit in units]

    def _build_ahead(self) -> None:
        """Build the kernels of the first groups in parallel, before the first use."""
        ahead = [self.tally.units[group.leader.name] for group in self._groups[: 2 * self._jobs]]
        for first in self._builds(ahead)[:1]:
            wait([first], timeout=max(0.0, self._left()))

    def _begun(self, unit: Measured) -> bool:
        built = self._building.get(unit.spec.name)
        return self._bench.begun(unit, built.result() if built is not None else "")
