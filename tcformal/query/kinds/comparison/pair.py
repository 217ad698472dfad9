"""Two programs as the parameters of an error comparison."""

from __future__ import annotations

from dataclasses import dataclass

from tcformal.checks import check_choice, check_int
from tcformal.errors import InputError
from tcformal.programs.program import Program
from tcformal.query.kinds.comparison.parameters import EXPONENTS, MEASURES, ComparedPrograms


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
        """The two programs."""
        return self.worse, self.other

    @property
    def labels(self) -> tuple[str, str]:
        """The programs' names."""
        first, second = self.worse.name, self.other.name
        return (first, second) if first != second else (f"{first} (1)", f"{second} (2)")

    @property
    def first_is_worse(self) -> bool:
        """True: the question asks about the first program's error."""
        return True

    @property
    def measure(self) -> str:
        """The measure of `more_than`."""
        return self.counted_in

    @property
    def differ(self) -> bool:
        """Whether the question asks for different results instead of errors."""
        return self.results_differ

    @property
    def exponents(self) -> tuple[int, int]:
        """The range of the exponents of nonzero a and b."""
        return self.assumptions.exponents or EXPONENTS["split"]

    @property
    def claim(self) -> str:
        """The claim that the question may refute, as one sentence."""
        if self.results_differ:
            return f"the results of {self.worse.name} and {self.other.name} never differ"
        return (
            f"the error of {self.worse.name} is never larger than that of {self.other.name}"
            f"{self.excess_text()}"
        )
