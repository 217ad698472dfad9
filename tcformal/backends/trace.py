"""A labelled trace: the value of every named stage on one input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tcformal.backends.concrete import Concrete
from tcformal.ir.build import Graph, Stage
from tcformal.ir.node import Node


@dataclass(frozen=True, slots=True)
class Traced:
    """One stage on one input.

    Ranges and units: the stage stands for `value` · 2^-stage.scale; `raw` are its bits.
    """

    name: str
    stage: Stage
    raw: int

    @property
    def value(self) -> int:
        """The integer that the bits stand for, in units of 2^-scale."""
        return self.stage.read(self.raw)

    @property
    def bits(self) -> str:
        """The bits as text, most significant first."""
        return f"{self.raw:0{self.stage.node.width}b}"


@dataclass(frozen=True, slots=True)
class StageTrace:
    """Every labelled stage of a definition on one input, in order of definition, and the result."""

    stages: dict[str, Traced]
    result: int


class Tracer:
    """A definition compiled once, to be traced on many inputs.

    Errors: InputError as `Concrete` raises it.
    """

    def __init__(self, graph: Graph, root: Node) -> None:
        self._labels = dict(graph.labels)
        self._run = Concrete(graph, [*(stage.node for stage in self._labels.values()), root])

    def __call__(self, inputs: Mapping[str, int]) -> StageTrace:
        """Run the integer interpretation once and keep every labelled stage."""
        *raws, result = self._run(inputs)
        parts = zip(self._labels.items(), raws, strict=True)
        return StageTrace({name: Traced(name, stage, raw) for (name, stage), raw in parts}, result)
