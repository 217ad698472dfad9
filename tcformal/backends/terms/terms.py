"""Base of all solver terms: the operator vocabulary in SMT-LIB's QF_BV operators.

A back end supplies three functions (a constant, an input, an application of one QF_BV operator); the
translation of each operator to QF_BV is written here, once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from tcformal.errors import WidthError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import Interpreter

T = TypeVar("T")

#: The operators of QF_BV that the vocabulary is said in.
TERM_OPS = frozenset(
    (
        *("not", "and", "or", "xor", "=", "ite", "bvnot", "bvand", "bvor", "bvxor", "bvadd", "bvsub"),
        *("bvneg", "bvmul", "bvshl", "bvlshr", "bvashr", "bvult", "bvule", "bvslt", "bvsle"),
        *("concat", "extract", "zero_extend", "sign_extend"),
    )
)


class SolverTerm(Generic[T]):
    """A solver's bit-vector term; width 1 may also be held as a Bool."""

    __slots__ = ("bits", "truth", "width")

    def __init__(self, width: int, *, bits: T | None = None, truth: T | None = None) -> None:
        self.width = width
        #: The bit-vector, once somebody has asked for it.
        self.bits = bits
        #: The solver's own Bool (width 1 only), once somebody has asked for it.
        self.truth = truth


Handler = Callable[..., SolverTerm[Any]]


def _plain(name: str) -> Handler:
    """The handler of an operator from bit-vectors to a bit-vector."""

    def handler(self: TermInterpreter[T], node: Node, *args: SolverTerm[T]) -> SolverTerm[T]:
        bits = self.apply(name, [self.bits(a) for a in args], node.params, node.width)
        return SolverTerm(node.width, bits=bits)

    return handler


def _logic(name: str) -> Handler:
    """The handler of a bitwise operator; on width 1 it stays a Bool if an operand is one."""
    plain = _plain("bv" + name)

    def handler(self: TermInterpreter[T], node: Node, *args: SolverTerm[T]) -> SolverTerm[T]:
        if node.width == 1 and any(a.truth is not None for a in args):
            return SolverTerm(1, truth=self.apply(name, [self.truth(a) for a in args], (), None))
        return plain(self, node, *args)

    return handler


def _compare(name: str) -> Handler:
    """The handler of a comparison, which gives a Bool."""
    return lambda self, _, x, y: SolverTerm(1, truth=self.apply(name, (self.bits(x), self.bits(y)), (), None))


def _shift(name: str) -> Handler:
    """The handler of a shift, whose amount is converted to x's width; overlong amounts stay overlong."""

    def handler(self: TermInterpreter[T], _: Node, x: SolverTerm[T], amount: SolverTerm[T]) -> SolverTerm[T]:
        width, bits = x.width, self.bits(amount)
        if amount.width < width:
            bits = self.apply("zero_extend", (bits,), (width - amount.width,), width)
        elif amount.width > width:
            above = amount.width - width
            high = self.apply("extract", (bits,), (amount.width - 1, width), above)
            low = self.apply("extract", (bits,), (width - 1, 0), width)
            fits = self.apply("=", (high, self.const_term(0, above)), (), None)
            bits = self.apply("ite", (fits, low, self.const_term((1 << width) - 1, width)), (), width)
        return SolverTerm(width, bits=self.apply(name, (self.bits(x), bits), (), width))

    return handler


class TermInterpreter(Interpreter[SolverTerm[T]], partial=True):
    """An interpretation of the DAG as terms of one solver.

    Shapes: a node of width w becomes a bit-vector of width w; `assertion` gives the solver's Bool.
    Errors: a back end whose `KINDS` lack an operator of QF_BV that is needed cannot be created
    (TypeError); WidthError when a truth value is asked of anything wider than one bit.
    """

    #: QF_BV operator -> what the solver calls it.
    KINDS: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        #: The terms of the inputs met, by name: what a model is read from.
        self.inputs: dict[str, T] = {}

    def __init_subclass__(cls, *, partial: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(partial=partial, **kwargs)
        missing = sorted(TERM_OPS - cls.KINDS.keys())
        if missing and not partial:
            lacking = ", ".join(missing)
            raise TypeError(f"expected {cls.__name__} to know every QF_BV operator, but it lacks {lacking}")

    # ------------------------------------------------------------------ what a back end supplies
    @abstractmethod
    def const_term(self, value: int, width: int) -> T:
        """A constant."""

    @abstractmethod
    def input_term(self, name: str, width: int) -> T:
        """A free bit-vector with an input's name."""

    @abstractmethod
    def apply(self, name: str, args: Sequence[T], indices: Sequence[int], width: int | None) -> T:
        """Apply the QF_BV operator `name`; `width` is the result's, None for a Bool."""

    # ------------------------------------------------------------------ the two forms of one bit
    def bits(self, term: SolverTerm[T]) -> T:
        """A term as a bit-vector."""
        if term.bits is None:
            if term.truth is None:
                raise WidthError("expected a term with bits or a truth value, but got one with neither")
            yes, no = self.const_term(1, 1), self.const_term(0, 1)
            term.bits = self.apply("ite", (term.truth, yes, no), (), 1)
        return term.bits

    def truth(self, term: SolverTerm[T]) -> T:
        """A term of width 1 as a Bool."""
        if term.truth is None:
            if term.width != 1:
                raise WidthError(f"expected width 1 for a truth value, but got width {term.width}")
            term.truth = self.apply("=", (self.bits(term), self.const_term(1, 1)), (), None)
        return term.truth

    def assertion(self, node: Node) -> T:
        """The Bool that states that `node` (width 1) is 1."""
        return self.truth(self.run([node])[0])

    # ------------------------------------------------------------------ the vocabulary
    def on_const(self, node: Node) -> SolverTerm[T]:
        return SolverTerm(node.width, bits=self.const_term(node.params[1], node.width))

    def on_input(self, node: Node) -> SolverTerm[T]:
        name = self.graph.input_name(node)
        self.inputs[name] = self.input_term(name, node.width)
        return SolverTerm(node.width, bits=self.inputs[name])

    on_not_, on_and_, on_or_, on_xor = map(_logic, ("not", "and", "or", "xor"))
    on_add_mod, on_sub_mod, on_neg_mod = map(_plain, ("bvadd", "bvsub", "bvneg"))
    on_concat, on_extract = map(_plain, ("concat", "extract"))
    on_zero_extend, on_sign_extend = map(_plain, ("zero_extend", "sign_extend"))
    on_shl_mod, on_lshr, on_ashr = map(_shift, ("bvshl", "bvlshr", "bvashr"))
    on_ult, on_ule, on_slt, on_sle = map(_compare, ("bvult", "bvule", "bvslt", "bvsle"))

    def on_mul_expand(self, node: Node, x: SolverTerm[T], y: SolverTerm[T]) -> SolverTerm[T]:
        """Exact unsigned product of zero-extended factors."""
        grown = [
            self.apply("zero_extend", (self.bits(a),), (node.width - a.width,), node.width) for a in (x, y)
        ]
        return SolverTerm(node.width, bits=self.apply("bvmul", grown, (), node.width))

    def on_eq(self, node: Node, x: SolverTerm[T], y: SolverTerm[T]) -> SolverTerm[T]:
        """Equality; against a constant bit it is the other bit or its complement."""
        for fixed, other in zip(node.args, (y, x), strict=True):
            if fixed.op == "const" and fixed.width == 1:
                if fixed.params[1]:
                    return other
                return SolverTerm(1, truth=self.apply("not", (self.truth(other),), (), None))
        if x.truth is not None or y.truth is not None:
            return SolverTerm(1, truth=self.apply("=", (self.truth(x), self.truth(y)), (), None))
        return SolverTerm(1, truth=self.apply("=", (self.bits(x), self.bits(y)), (), None))

    def on_ite(self, node: Node, cond: SolverTerm[T], yes: SolverTerm[T], no: SolverTerm[T]) -> SolverTerm[T]:
        """Selection; on width 1 it stays a Bool if a branch is one."""
        if node.width == 1 and (yes.truth is not None or no.truth is not None):
            branches = (self.truth(cond), self.truth(yes), self.truth(no))
            return SolverTerm(1, truth=self.apply("ite", branches, (), None))
        args = (self.truth(cond), self.bits(yes), self.bits(no))
        return SolverTerm(node.width, bits=self.apply("ite", args, (), node.width))
