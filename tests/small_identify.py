"""A short identification among the catalogued designs, for tests of what asks, keeps and checks."""

from __future__ import annotations

import time

from tcformal.callbacks import Progress, ignore
from tcformal.design.catalog import distinct_designs
from tcformal.design.names import resolve
from tcformal.design.unit import same_formats, takes
from tcformal.identify.asking.ask import Asker
from tcformal.identify.asking.layout import find_layout
from tcformal.identify.asking.rates import Rate
from tcformal.identify.asking.repeat import repeat
from tcformal.identify.asking.validation import validate
from tcformal.identify.record.identification import (
    AxisOutcome,
    Identification,
    IdentifyVerdict,
    NearDesign,
    Settled,
)
from tcformal.matmul.replay import replay
from tcformal.operands.batch import inputs_to_try

#: Directed and random inputs of the only batch, and designs that are shown where none fits.
_INPUTS, _SHOWN = 200, 10


def identify(asker: Asker, *, vectors: int = 100_000, progress: Progress = ignore) -> Identification:
    """Identify a device among the catalogued designs of its formats.

    Errors: as `Asker.ask`.
    """
    start = time.monotonic()
    spec, k = asker.spec, asker.k

    def made(verdict: IdentifyVerdict, reason: str, **more: object) -> Identification:
        return Identification(
            verdict=verdict, reason=reason, device=asker.identity, operands=spec, history=asker.history,
            layout=asker.layout, repeated=repeated, probes=asker.probes, batches=asker.batches,
            seconds=(asker.seconds, time.monotonic() - start), **more,  # type: ignore[arg-type]
        )  # fmt: skip

    progress("asking the same inputs several times")
    repeated = repeat(asker)
    if not repeated.deterministic:
        return made(IdentifyVerdict.NON_DETERMINISTIC, repeated.repetition.value)
    progress("looking for the layout of the operands")
    if find_layout(asker).order is None:
        return made(IdentifyVerdict.OUTSIDE, f"no pairing of {k} products gives the answers")
    designs = list(distinct_designs(lambda u: same_formats(u, spec) and takes(u, k)))
    space = len(designs)
    asker.ask(inputs_to_try(spec, k, _INPUTS, 1))
    batch, answers = asker.history
    given = {name: replay(resolve(name), batch) for name in designs}
    agrees = {name: int((d == answers).sum()) for name, d in given.items()}
    fitting = [name for name in designs if agrees[name] == len(answers)]
    growth = ((asker.probes, len(fitting)),)
    if not fitting:
        ranked = sorted(designs, key=lambda name: -agrees[name])[:_SHOWN]
        nearest = tuple(NearDesign(name, Rate(agrees[name], len(answers))) for name in ranked)
        return made(
            IdentifyVerdict.OUTSIDE, "no catalogued design gives all answers", space=space, growth=growth,
            nearest=nearest,
        )  # fmt: skip
    axes = tuple(
        AxisOutcome("unit", name, name, Settled.REFUTED, int((given[name] != answers).argmax()))
        for name in designs
        if name not in fitting
    )
    found = {"space": space, "survivors": len(fitting), "growth": growth, "axes": axes}
    if len(fitting) > 1:
        return made(
            IdentifyVerdict.REMAINING, f"{len(fitting)} designs give all answers",
            classes=tuple((name,) for name in fitting), **found,
        )  # fmt: skip
    if not vectors:
        return made(
            IdentifyVerdict.IDENTIFIED, f"of the catalogued designs only {fitting[0]} gives all answers",
            classes=((fitting[0],),), untested=("other inputs than these",), **found,
        )  # fmt: skip
    progress(f"comparing {fitting[0]} with the device")
    validated = validate(asker, resolve(fitting[0]), vectors)
    verdict = IdentifyVerdict.FAULTY if validated.misfits.count else IdentifyVerdict.IDENTIFIED
    return made(
        verdict, f"of the catalogued designs only {fitting[0]} gives all answers",
        classes=((fitting[0],),), validated=validated, **found,
    )  # fmt: skip
