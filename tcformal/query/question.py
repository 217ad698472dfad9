"""The interface of all kinds of questions, for one engine and one store, and the register of these kinds."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Generic, Protocol, TypeVar

from tcformal.encodings.spec import Format
from tcformal.errors import RecordError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import digest
from tcformal.shown import Shown


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


#: A JSON object, as `json` reads and writes it.
JsonObject = dict[str, Any]
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
    """A question: is there an input that satisfies the assumptions and shows what is asked about?"""

    __slots__ = ()

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


Q = TypeVar("Q", bound=Question)


class QuestionKind(ABC, Generic[Q]):
    """One kind of question: the functions by which the engine answers it and the store records it."""

    #: The kind's name in records and query files.
    name: str
    #: The verdict where such an input exists, and where none exists.
    found: Kind
    none: Kind
    #: Whether the engine first asks whether the assumptions are satisfiable.  A witness shows it too, so
    #: kinds that often have one do without that question.
    assumptions_first: bool = True

    # ------------------------------------------------------------------ answering
    @abstractmethod
    def replay(self, q: Q, inputs: RawInputs) -> Replayed:
        """Run inputs on integers and on the Fraction oracle."""

    @abstractmethod
    def shrink(self, q: Q, inputs: RawInputs, seconds: float) -> dict[str, int]:
        """Simplify inputs while they still satisfy the question."""

    def search(self, q: Q, seed: int) -> dict[str, int] | None:
        """Search seeded vectors for inputs that satisfy the question; None without success."""
        return None

    def members(self, solvers: Sequence[str] | None) -> Sequence[str] | None:
        """The solvers in the order that suits this kind; None for the default order."""
        return solvers

    @abstractmethod
    def assumptions(self, q: Q) -> list[str]:
        """The assumptions as readable lines."""

    @abstractmethod
    def found_text(self, q: Q, finder: str) -> str:
        """The reason of a verdict with inputs that `finder` found, as one sentence."""

    @abstractmethod
    def none_text(self, q: Q, deciders: str) -> str:
        """The reason of a verdict without inputs that `deciders` decided, as one sentence."""

    # ------------------------------------------------------------------ writing and reading
    @abstractmethod
    def parts(self, q: Q) -> JsonObject:
        """The identifying parts of a question, from which `build` builds it again."""

    @abstractmethod
    def build(self, parts: Mapping[str, Any], graph: Graph | None = None) -> Q:
        """Build the question of `parts` from the current definitions, in an empty or a new graph.

        Errors: TcformalError for parts that the current definitions do not support.
        """

    @abstractmethod
    def witness_data(self, q: Q, inputs: RawInputs) -> JsonObject:
        """Inputs as record data: encodings in hex, exact values."""

    @abstractmethod
    def read_witness(self, q: Q, data: Mapping[str, Any]) -> dict[str, int]:
        """Read inputs from record data; RecordError where encodings, values or shape disagree."""

    @abstractmethod
    def results_data(self, q: Q, replayed: Any) -> JsonObject:
        """The results on the inputs as record data: encodings in hex, exact values."""

    @abstractmethod
    def commands(self, q: Q, replayed: Any) -> list[str]:
        """The `tcformal eval` commands that reproduce the results."""

    @abstractmethod
    def to_json(self, q: Q) -> JsonObject:
        """The question as plain data, for `--json`."""


#: Where the kind of each class of questions is, by the class's name.
_OF = {
    "EqualityQuestion": ("tcformal.query.search", "EQUALITY"),
    "PropertyQuestion": ("tcformal.query.properties", "PROPERTY"),
    "ErrorComparison": ("tcformal.query.comparison.kind", "PROGRAM"),
    "ProgramsQuestion": ("tcformal.query.comparison.kind", "PROGRAMS"),
    "RtlQuestion": ("tcformal.query.rtl", "RTL"),
}


def kind_of(question: Q) -> QuestionKind[Q]:
    """The kind of a question."""
    return _kind(type(question).__name__)


def kind_named(name: str) -> QuestionKind[Any]:
    """The kind with this name in records; RecordError for an unknown name."""
    for question in _OF:
        kind = _kind(question)
        if kind.name == name and question != "RtlQuestion":  # whose answers are not kept
            return kind
    raise RecordError(f"expected a known kind of question, but got {name!r}")


def _kind(question: str) -> QuestionKind[Any]:
    module, name = _OF[question]
    kind: QuestionKind[Any] = getattr(import_module(module), name)
    return kind
