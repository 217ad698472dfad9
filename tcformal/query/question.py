"""What every kind of question has in common, so that one engine answers it and one store keeps the answer."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import digest


class Kind(enum.Enum):
    """What was found."""

    SEPARATED = "the two units differ on the witness"
    EQUIVALENT = "the two units agree on every input that the assumptions allow"
    HOLDS = "the claim is true of every input that the assumptions allow"
    VIOLATED = "the claim is false of the inputs shown"
    VACUOUS = "no input satisfies the assumptions"
    UNKNOWN = "no solver could tell, or none confirmed"
    TIMEOUT = "no answer within the time limit"
    ERROR = "answers that cannot all be right, or every solver failed"


#: Raw encodings by input name.
Inputs = Mapping[str, int]


class Replayed(Protocol):
    """What inputs do when they are run again, on integers and on the Fraction oracle."""

    @property
    def assumed(self) -> bool:
        """Whether the inputs obey the assumptions."""

    @property
    def confirms(self) -> bool:
        """Whether integers and oracle agree that the inputs obey the assumptions and show what was asked."""


class Question(ABC):
    """Is there an input that satisfies the assumptions and shows what is asked about, in one DAG?"""

    __slots__ = ()

    graph: Graph
    #: 1 where every assumption holds.
    assumed: Node

    @property
    @abstractmethod
    def asked(self) -> Node:
        """The node that is 1 where the assumptions hold and what is asked about is the case."""

    def digest(self) -> str:
        """SHA-256 of the question's definition."""
        return digest(self.graph, {"assertion": self.asked, "assumed": self.assumed})


Q = TypeVar("Q", bound=Question)


class QuestionKind(ABC, Generic[Q]):
    """One kind of question: everything that the engine and the store need to know of it."""

    #: The kind's name in records and query files.
    name: str
    #: The verdict where there is such an input, and where there is none.
    found: Kind
    none: Kind
    #: Whether the engine shows first that the assumptions can hold; where an input is likely to be found,
    #: which shows it too, that would be a question more.
    assumptions_first: bool = True

    # ------------------------------------------------------------------ answering
    @abstractmethod
    def replay(self, q: Q, inputs: Inputs) -> Any:
        """Run inputs again, on integers and on the Fraction oracle; a `Replayed`."""

    @abstractmethod
    def shrink(self, q: Q, inputs: Inputs, seconds: float) -> dict[str, int]:
        """Simpler inputs that still show what is asked about; the given ones where there are none."""

    def search(self, q: Q, seed: int) -> dict[str, int] | None:
        """Inputs from seeded vectors; None where none of them shows what is asked about."""
        return None

    def members(self, solvers: Sequence[str] | None) -> Sequence[str] | None:
        """The solvers in the order that suits these questions; None for the measured order."""
        return solvers

    @abstractmethod
    def assumptions(self, q: Q) -> list[str]:
        """What is assumed, one readable line for each; none where nothing is."""

    @abstractmethod
    def found_text(self, q: Q, finder: str) -> str:
        """One sentence for inputs that `finder` found."""

    @abstractmethod
    def none_text(self, q: Q, deciders: str) -> str:
        """One sentence where `deciders` found that there is no such input."""

    # ------------------------------------------------------------------ writing and reading
    @abstractmethod
    def parts(self, q: Q) -> dict[str, Any]:
        """What was asked, in names and texts from which `build` makes the question again."""

    @abstractmethod
    def build(self, parts: Mapping[str, Any]) -> Q:
        """The question of `parts`, from today's definitions.

        Errors: TcformalError for parts that cannot be asked today.
        """

    @abstractmethod
    def witness_data(self, q: Q, inputs: Inputs) -> dict[str, Any]:
        """Inputs as a record holds them: encodings in hex, values exact."""

    @abstractmethod
    def read_witness(self, q: Q, data: Mapping[str, Any]) -> dict[str, int]:
        """Inputs from a record; RecordError where encodings, values or shape do not fit."""

    @abstractmethod
    def results_data(self, q: Q, replayed: Any) -> dict[str, Any]:
        """What inputs do, as a record holds it: encodings in hex, values exact."""

    @abstractmethod
    def commands(self, q: Q, replayed: Any) -> list[str]:
        """The `tcformal eval` commands that show what inputs do, positions and all."""

    @abstractmethod
    def to_json(self, q: Q) -> dict[str, Any]:
        """What was asked, for people's programs."""
