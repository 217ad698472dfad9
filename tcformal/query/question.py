"""The interface of all kinds of questions, for one engine and one store, and the list of these kinds."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar, Protocol, TypeVar

from tcformal.encodings.spec import Format
from tcformal.errors import RecordError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import digest
from tcformal.shown import JsonObject, Shown


class Kind(enum.Enum):
    """The kind of a verdict.

    Examples:
        >>> tcformal.Kind.EQUIVALENT.value
        'the two units agree on every input that the assumptions allow'
    """

    SEPARATED = "the two units differ on the witness"
    EQUIVALENT = "the two units agree on every input that the assumptions allow"
    HOLDS = "the claim is true of every input that the assumptions allow"
    VIOLATED = "the claim is false of the inputs shown"
    VACUOUS = "no input satisfies the assumptions"
    UNKNOWN = "no solver could tell, or none confirmed"
    TIMEOUT = "no answer within the time limit"
    ERROR = "answers that cannot all be right, or every solver failed"


#: Raw encodings by input name.
RawInputs = Mapping[str, int]


class Replayed(Protocol):
    """The replay of inputs on integers and on the Fraction oracle."""

    @property
    def assumed(self) -> bool:
        """Whether the inputs obey the assumptions."""

    @property
    def confirms(self) -> bool:
        """Whether integers and oracle agree that the inputs obey the assumptions and show what was asked."""


class Question(Shown, ABC):
    """A question: is there an input that satisfies the assumptions and shows what is asked about?

    Each kind of question is a subclass, by which the engine answers it and the store records it.
    """

    __slots__ = ()

    #: The kind's name in records and query files.
    KIND: ClassVar[str]
    #: The verdict where such an input exists, and where none exists.
    FOUND: ClassVar[Kind]
    NONE: ClassVar[Kind]
    #: Whether the engine first asks whether the assumptions are satisfiable.  A witness shows it too, so
    #: kinds that often have one do without that question.
    ASSUMPTIONS_FIRST: ClassVar[bool] = True

    graph: Graph
    #: 1 where every assumption holds.
    assumed: Node

    @property
    @abstractmethod
    def asked(self) -> Node:
        """The node that is 1 where the assumptions hold and the event in question occurs."""

    @abstractmethod
    def outcome(self, kind: Kind) -> str:
        """What is asked about, with its verdict where that takes a sign: `A ≠ B`."""

    @property
    @abstractmethod
    def c_format(self) -> Format:
        """The format of the operand c."""

    def _summary(self) -> str:
        return f"{type(self).__name__} {self.outcome(Kind.UNKNOWN)}"

    def digest(self) -> str:
        """SHA-256 of the question's definition."""
        return digest(self.graph, {"assertion": self.asked, "assumed": self.assumed})

    # ------------------------------------------------------------------ answering
    @abstractmethod
    def replay(self, inputs: RawInputs) -> Replayed:
        """Run inputs on integers and on the Fraction oracle."""

    @abstractmethod
    def shrink(self, inputs: RawInputs, seconds: float) -> dict[str, int]:
        """Simplify inputs while they still satisfy the question."""

    def search(self, seed: int) -> dict[str, int] | None:
        """Search seeded vectors for inputs that satisfy the question; None without success."""

    def members(self, solvers: Sequence[str] | None) -> Sequence[str] | None:
        """The solvers in the order that suits this kind; None for the default order."""
        return solvers

    @abstractmethod
    def conditions(self) -> list[str]:
        """The assumptions as readable lines."""

    @abstractmethod
    def found_text(self, finder: str) -> str:
        """The reason of a verdict with inputs that `finder` found, as one sentence."""

    @abstractmethod
    def none_text(self, deciders: str) -> str:
        """The reason of a verdict without inputs that `deciders` decided, as one sentence."""

    # ------------------------------------------------------------------ writing and reading
    @abstractmethod
    def parts(self) -> JsonObject:
        """The identifying parts of the question, from which `build` builds it again."""

    @staticmethod
    @abstractmethod
    def build(parts: Mapping[str, Any], graph: Graph | None = None) -> Question:
        """Build the question of `parts` from the current definitions, in an empty or a new graph.

        Errors: TcformalError for parts that the current definitions do not support.
        """

    @abstractmethod
    def witness_data(self, inputs: RawInputs) -> JsonObject:
        """Inputs as record data: encodings in hex, exact values."""

    @abstractmethod
    def read_witness(self, data: Mapping[str, Any]) -> dict[str, int]:
        """Read inputs from record data; RecordError where encodings, values or shape disagree."""

    @abstractmethod
    def results_data(self, replayed: Any) -> JsonObject:
        """The results on the inputs as record data: encodings in hex, exact values."""

    @abstractmethod
    def commands(self, replayed: Any) -> list[str]:
        """The `tcformal eval` commands that reproduce the results."""

    @abstractmethod
    def to_json(self) -> JsonObject:
        """The question as plain data, for `--json`."""


Q = TypeVar("Q", bound=Question)

#: Where the class of each kind of question is, by the kind's name; answers of other kinds are not kept.
_KINDS = {
    "separate": ("tcformal.query.pair", "EqualityQuestion"),
    "property": ("tcformal.query.properties", "PropertyQuestion"),
    "algorithm": ("tcformal.query.comparison.error_comparison", "ErrorComparison"),
    "programs": ("tcformal.query.comparison.error_comparison", "ProgramsQuestion"),
}


def build_question(parts: Mapping[str, Any], graph: Graph | None = None) -> Question:
    """Build the question of a record's `parts`; errors of `Question.build`, RecordError for another kind."""
    if parts["kind"] not in _KINDS:
        raise RecordError(f"expected a known kind of question, but got {parts['kind']!r}")
    module, name = _KINDS[parts["kind"]]
    q: Question = getattr(import_module(module), name).build(parts, graph)
    return q
