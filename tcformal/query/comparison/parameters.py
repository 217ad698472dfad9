"""The parameters of an error comparison: two programs, and the excess that counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from tcformal.checks import check_choice, check_int
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.oracle import exact_errors as oracle
from tcformal.oracle.interpreter import program_result
from tcformal.oracle.numerals import number_text, parse_magnitude
from tcformal.programs import error
from tcformal.programs.error import HALF, SINGLE
from tcformal.programs.program import Program, known_programs, program, read_program
from tcformal.query.assume import Assumptions
from tcformal.shown import JsonObject
from tcformal.simulation.operands.witness import Witness

#: The formats of the inputs a and b, and the algorithms on them.
FORMS: dict[str, str] = {
    "table5": "halves: Markidis is TC(a·b, c), Ootomo and Yokota is RNE(TC(a·b, 0) + c)",
    "split": "singles, which both algorithms split into halves",
}
ALGORITHMS: dict[str, str] = {"markidis": "Markidis", "ootomo-yokota": "Ootomo and Yokota"}
#: How a split may round: what its text and its authors' script do, and what hardware converts by default.
SPLIT_ROUNDINGS = ("RNE", "RZ")
#: Exponents of a and b in each form: those of VALPEY §6 (Type 1 of Ootomo and Yokota); of halves, their own.
EXPONENTS = {"table5": (-14, 14), "split": (-15, 14)}
#: Exponents of c: from where it reaches the lowest bit of a product, as in Table 5, to the largest product.
C_EXPONENTS = (-24, 30)
#: Beyond every exponent of c: a wider range would only make the exact sums wider.
EXPONENT_LIMIT = 200
#: What an excess is counted in.
MEASURES: dict[str, str] = {"ulp": "ulps of the exact value, which is not zero", "sum": "parts of Σ|a_k·b_k|"}


#: Exact errors of both programs; None for a result that is not finite.
Errors = tuple[Fraction | None, Fraction | None]


def read_excess(text: str) -> Fraction:
    """Parse a least excess error; InputError for anything but a number of at least 0."""
    number = parse_magnitude(text.strip())
    if number is None:
        raise InputError(f"expected a number such as 3, 1/2 or 2^70 for more_than, but got {text!r}")
    return number


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedPrograms(ABC):
    """Abstract parameters of a comparison: two programs on shared inputs.

    Errors: InputError for parameters that do not fit together.
    """

    products: int = 4
    #: Assumptions about a, b and c; their `exponents` bound a and b only.
    assumptions: Assumptions = field(default_factory=Assumptions)
    #: Range of the exponent of a non-zero c.
    c_exponents: tuple[int, int] = C_EXPONENTS
    #: Least excess of the error, in `measure`; None: any excess counts.
    more_than: Fraction | None = None

    def check(self) -> None:
        """Raise InputError for meaningless parameters."""
        for name, value in self.assumptions.of_terms().items():
            raise InputError(f"expected no assumption {name} about two algorithms, but got {name}={value}")
        for bound in self.c_exponents:
            check_int("c_exponents", bound, low=-EXPONENT_LIMIT, high=EXPONENT_LIMIT)
        if self.c_exponents[0] > self.c_exponents[1]:
            raise InputError(f"expected c_exponents as (low, high), but got {self.c_exponents}")

    @property
    @abstractmethod
    def programs(self) -> tuple[Program, Program]:
        """The two programs, in the order of their results."""

    @property
    @abstractmethod
    def labels(self) -> tuple[str, str]:
        """The names of the two results."""

    @property
    def first_is_worse(self) -> bool:
        """Whether the question asks about a larger error of the first program, not the second."""
        return True

    @property
    def exponents(self) -> tuple[int, int]:
        """The range of the exponents of nonzero a and b."""
        return self.assumptions.exponents or EXPONENTS["split"]

    @property
    @abstractmethod
    def claim(self) -> str:
        """The claim that the question may refute, as one sentence."""

    @property
    def refuted(self) -> str:
        """What inputs say that refute the claim."""
        if self.differ:
            return f"the results of {' and '.join(self.labels)} differ"
        return f"not always: {self.claim}"

    @abstractmethod
    def parts(self) -> JsonObject:
        """The parts of a record that identify the question."""

    def data(self) -> JsonObject:
        """The parameters as plain data."""
        return {"programs": [p.name for p in self.programs], "products": self.products}

    @property
    def measure(self) -> str:
        """The measure of `more_than`: one of MEASURES."""
        return "ulp"

    @property
    def differ(self) -> bool:
        """Whether the question asks for different results instead of errors."""
        return False

    @property
    def formats(self) -> dict[str, Format]:
        """The formats of a, b and c."""
        return {letter: self.programs[0].input_format(letter) for letter in "abc"}

    @property
    def result_formats(self) -> tuple[Format, Format]:
        """The formats of the two results."""
        first, second = (p.plan(self.products).fmt for p in self.programs)
        return first, second

    @property
    def ulp_format(self) -> Format:
        """The format whose ulps measure an excess: that of the worse result."""
        return self.result_formats[0 if self.first_is_worse else 1]

    def window(self) -> error.Window:
        """The fixed-point window in which all compared values are exact."""
        plans = [p.plan(self.products) for p in self.programs]
        spans = {"a": self.exponents, "b": self.exponents, "c": self.c_exponents}
        return error.window_of(plans, spans)

    def oracle_results(self, w: Witness) -> tuple[int, int]:
        """The results of both programs on the Fraction oracle."""
        first, second = (program_result(p.plan(self.products), w.a, w.b, w.c) for p in self.programs)
        return first, second

    def exact_errors(
        self, w: Witness, results: Sequence[int]
    ) -> tuple[list[Fraction] | None, Fraction | None, Errors]:
        """The exact products, their exact sum with c, and the errors of both results on fractions."""
        products = oracle.exact_products(self.formats["a"], self.formats["b"], w.a, w.b)
        exact = oracle.exact_sum(products, self.formats["c"], w.c)
        if exact is None:
            return products, None, (None, None)
        of = zip(results, self.result_formats, strict=True)
        first, second = (oracle.error(r, exact, fmt) for r, fmt in of)
        return products, exact, (first, second)

    def texts(self) -> list[str]:
        """The assumptions as readable lines."""
        (low, high), (c_low, c_high) = self.exponents, self.c_exponents
        return [
            *replace(self.assumptions, exponents=None).texts(),
            f"exponents of non-zero a and b in {low}..{high}",
            f"exponent of a non-zero c in {c_low}..{c_high}",
        ]

    def excess_text(self) -> str:
        """A phrase for the least excess."""
        if self.more_than is None:
            return ""
        unit = "ulp" if self.measure == "ulp" else "times Σ|a·b|"
        return f" by more than {number_text(self.more_than)} {unit}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonParameters(ComparedPrograms):
    """The comparison of Markidis with Ootomo and Yokota on one unit.

    Shapes: `products` products in one call; the unit's other products are 0·0.
    Errors: InputError for parameters that do not fit together.
    """

    unit: UnitSpec
    form: str = "table5"
    #: The algorithm whose error is asked to be the larger one.
    worse: str = "ootomo-yokota"
    #: Rounding mode of the split; of no effect on halves.
    split_rounding: str = "RNE"
    #: Whether Ootomo and Yokota keep the product of the remainders.
    keep_last: bool = False

    def __post_init__(self) -> None:
        check_choice("form", self.form, FORMS)
        check_choice("algorithm", self.worse, ALGORITHMS)
        check_choice("split rounding", self.split_rounding, SPLIT_ROUNDINGS)
        spec, o = self.unit, self.unit.operands
        if (o.a, o.b, o.c, o.d) != (HALF, HALF, SINGLE, SINGLE) or spec.scale_format is not None:
            raise InputError(
                f"expected a unit of fp32 = fp16 · fp16 + fp32, but got {spec.name}, which is {o}"
            )
        if not 1 <= self.products <= spec.k:
            raise InputError(
                f"expected 1 to {spec.k} products for one call of {spec.name}, but got {self.products}"
            )
        self.check()
        if self.keep_last and self.form != "split":
            raise InputError(f"expected keep_last with form=split only, but got form={self.form}")

    @property
    def programs(self) -> tuple[Program, Program]:
        unit = self.unit.name
        if self.form == "table5":
            inside = program("chained").with_settings(unit=unit, word="fp16")
            return inside, program("added-outside").with_settings(unit=unit)
        split = {"unit": unit, "rounding": self.split_rounding}
        corrected = program("ootomo-yokota").with_settings(**split, last=self.keep_last)
        return program("markidis").with_settings(**split), corrected

    @property
    def labels(self) -> tuple[str, str]:
        first, second = ALGORITHMS
        return first, second

    @property
    def first_is_worse(self) -> bool:
        return self.worse == "markidis"

    @property
    def factor_format(self) -> Format:
        """The format of a and b."""
        return HALF if self.form == "table5" else SINGLE

    @property
    def exponents(self) -> tuple[int, int]:
        return self.assumptions.exponents or EXPONENTS[self.form]

    def window(self) -> error.Window:
        return error.window(self.factor_format, self.products, self.exponents, self.c_exponents)

    @property
    def claim(self) -> str:
        other = next(name for name in ALGORITHMS if name != self.worse)
        return (
            f"the error of {ALGORITHMS[self.worse]} is never larger than that of {ALGORITHMS[other]}"
            f"{self.excess_text()}"
        )

    def parts(self) -> JsonObject:
        return {
            "kind": "algorithm",
            "unit": self.unit.name,
            "form": self.form,
            "worse": self.worse,
            "products": self.products,
            "split_rounding": self.split_rounding,
            "keep_last": self.keep_last,
            "c_exponents": list(self.c_exponents),
            "more_than": None if self.more_than is None else str(self.more_than),
            "assumptions": self.assumptions.spellings(),
        }

    def data(self) -> JsonObject:
        split = {"split_rounding": self.split_rounding, "keep_last": self.keep_last}
        return {
            "unit": self.unit.name, "form": self.form, "products": self.products,
            **(split if self.form == "split" else {}),
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramPair(ComparedPrograms):
    """Two programs with equal input formats: does the first ever have the larger error, or another result?

    Errors: InputError for programs of unlike inputs, and as ComparedPrograms.
    """

    worse: Program
    other: Program
    products: int = 1
    #: What `more_than` counts.
    counted_in: str = "ulp"
    #: Ask whether the results ever differ.
    results_differ: bool = False

    def __post_init__(self) -> None:
        check_int("products", self.products, low=1)
        check_choice("measure of an excess", self.counted_in, MEASURES)
        self.check()
        mine, theirs = ({x: p.input_format(x).name for x in "abc"} for p in self.programs)
        if mine != theirs:
            texts = [", ".join(f"{k}={v}" for k, v in x.items()) for x in (mine, theirs)]
            raise InputError(
                f"expected two programs of equal inputs, but {self.worse.name} takes {texts[0]} and "
                f"{self.other.name} takes {texts[1]}"
            )
        if self.results_differ:
            if self.more_than is not None:
                raise InputError("expected an excess or a difference of results, but got both")
            if self.result_formats[0] != self.result_formats[1]:
                first, second = self.result_formats
                raise InputError(f"expected results of one format, but got {first} and {second}")
        if self.more_than is not None and self.more_than < 0:
            raise InputError(f"expected an excess of at least 0, but got {self.more_than}")

    @property
    def programs(self) -> tuple[Program, Program]:
        return self.worse, self.other

    @property
    def labels(self) -> tuple[str, str]:
        first, second = self.worse.name, self.other.name
        return (first, second) if first != second else (f"{first} (1)", f"{second} (2)")

    @property
    def measure(self) -> str:
        return self.counted_in

    @property
    def differ(self) -> bool:
        return self.results_differ

    @property
    def claim(self) -> str:
        if self.results_differ:
            return f"the results of {self.worse.name} and {self.other.name} never differ"
        return (
            f"the error of {self.worse.name} is never larger than that of {self.other.name}"
            f"{self.excess_text()}"
        )

    def parts(self) -> JsonObject:
        return {
            "kind": "programs",
            "worse": program_parts(self.worse),
            "other": program_parts(self.other),
            "products": self.products,
            "c_exponents": list(self.c_exponents),
            "more_than": None if self.more_than is None else str(self.more_than),
            "measure": self.counted_in,
            "differ": self.results_differ,
            "assumptions": self.assumptions.spellings(),
        }


def program_parts(p: Program) -> str | JsonObject:
    """A program in a record: its name, or its text if it is not built in."""
    if p.name.partition("@")[0] in known_programs() and program(p.name) == p:
        return p.name
    return {
        "name": p.name, "title": p.title, "source": p.source, "note": p.note, "body": p.body,
        "inputs": dict(p.inputs), "parameters": dict(p.parameters),
    }  # fmt: skip


def program_from(data: str | Mapping[str, Any]) -> Program:
    """Load the program of a record."""
    if isinstance(data, str):
        return program(data)
    return read_program({k: v for k, v in data.items() if k != "name"}, data["name"])
