"""Cases: a command that works, with some of its words and options made odd."""

from __future__ import annotations

import random
import shlex
from dataclasses import dataclass, field

import click

from fuzz.odd import FLOATS, INTEGERS, TEXTS, VALUES
from fuzz.place import UNIT, Place
from tcformal.cli import main

UNITS = (
    UNIT,
    "volta/mma.m8n8k4.f32.f16.f16.f32",
    "tfdpa@products=2",
    "valpey@terms=2,carry_bits=3",
    "valpey@terms=2",
    f"{UNIT}@fraction_bits=3",
    "sequential@products=2",
    "tfdpa@products=99999999999",
    "valpey@terms=1000000",
    "tfdpa@products=2,products=3",
    "tfdpa@",
    "tfdpa@products",
    "tfdpa@products=",
    "tfdpa@products=²",
    "x86/",
    "x86",
    "tfdpa@products=2,fraction_bits=999999999999",
    "tfdpa@products=2,fraction_bits=-1",
    "tfdpa@a=fp4",
    "@products=2",
    "valpey@terms=2,carry_bits=99999",
    "tfdpa@products=" + "9" * 5000,
)

#: Words of a command that works and takes a moment.
WORKING: dict[str, list[str]] = {
    "probe devices": [],
    "probe plan": [UNIT, "-o", "out/plan", "--vectors", "3", "--no-directed"],
    "probe run": ["plan-0.jsonl", "--device", f"model:{UNIT}"],
    "probe compare": ["results-0.jsonl"],
    "probe campaign": ["--device", f"model:{UNIT}", "--minutes", "0.0001", "--vectors", "2", "--jobs", "1"],
    "units": [UNIT],
    "doctor": [],
    "completion": ["bash"],
    "recipes": ["cublaslt-66@splits=2"],
    "formats": ["fp16"],
    "eval": [UNIT, "--a", "1,2", "--b", "3,4"],
    "explain": [UNIT, "--a", "1,2", "--b", "3,4"],
    "explain-mismatch": ["tfdpa@products=2", "--a", "1,2", "--b", "3,4", "--expected", "11", "--got", "12"],
    "results list": [],
    "results show": ["0"],
    "results export": ["out/export", "--json"],
    "results proof": ["0", "-o", "out/proof"],
    "results verify": [],
    "results prune": [],
    "probe keep": ["arrays-0.npz", "--unit", "x86/tdpbf16ps", "--device", "nobody's"],
    "separate": ["valpey@terms=2,carry_bits=3", "valpey@terms=2"],
    "prove": ["valpey@terms=2,carry_bits=3", "valpey@terms=2"],
    "region": ["valpey@terms=2,carry_bits=3", "valpey@terms=2"],
    "report": ["--out", "out/report", "--playground", "no-such-package.tgz"],
    "run": ["query-0.toml"],
    "export": ["valpey@terms=2", "--to", "verilog"],
    "check-rtl": ["dot.v", "--top", "dot", "--against", "valpey@terms=2", "--yosys", "no-such-program"],
    "programs": ["ootomo-yokota", "--length", "2"],
    "compare-programs": ["bf16x9@bands=2", "fma-chain", "--assume", "c=0", "--means", "search"],
    "suite": ["tfdpa@products=2", "--vary", "fraction_bits=10..11", "--vectors", "20"],
    "accuracy": ["tfdpa@products=2", "--no-prove"],
    "distance": ["tfdpa@products=2", "tfdpa@products=2"],
    "exact": ["tfdpa@products=2"],
    "monotonicity": ["tfdpa@products=2", "--no-prove"],
    "statistics": ["tfdpa@products=2", "--elements", "4"],
    "figures": ["mary-5.1", "--points", "1", "--words", "1"],
    "identify-product": ["numpy", "--formats", "fp32,fp32,fp32", "--shape", "2,2,3"],
    "identify": ["--device", "hand:somebody", "--formats", "fp16,fp16,fp32,fp32", "--k", "2", "--next"],
}

#: Options that make a command take minutes when all else is well.
_LONG = (
    "--all-pairs", "--all", "--claim", "--with-claims", "--claims", "--prove", "--bound",
    "--points", "--words", "--elements", "--lengths",
)  # fmt: skip

#: What options are called that take a value of a format, a unit, a file, or the name of a results folder.
_VALUE = ("a", "b", "c", "scale_a", "scale_b", "expected", "got")
_UNIT = ("unit", "name", "names", "first", "second", "units", "worse", "other")
_FILE = {
    "path": ("any", "plan", "results", "cases", "arrays"),
    "files": ("witness", "arrays", "results", "any"),
    "checked": ("suite", "any"),
    "answers": ("any",),
    "output": (),
    "file": (),
}


@dataclass(frozen=True, slots=True)
class Case:
    """One call of the program."""

    words: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def wants_json(self) -> bool:
        """Whether the last word surely asks for JSON: behind an option, it might be that one's value."""
        before, last = ("", *self.words)[-2:]
        return last == "--json" and not before.startswith("-") and "--help" not in self.words

    def may_write(self, name: str) -> bool:
        """Whether a file of the folder is one that the words name, or lies in or around such a one."""
        named = [word.removeprefix("./") for word in self.words]
        around = any(f"{name}/".startswith(f"{w}/") or f"{w}/".startswith(f"{name}/") for w in named if w)
        return around or bool({"", "."} & {*named})

    def line(self) -> str:
        """The call as it is pasted into a shell in the folder where it failed."""
        variables = [f"{name}={shlex.quote(text)}" for name, text in self.environment.items()]
        return " ".join([*variables, "tcformal", *map(_quoted, self.words)])


def _quoted(word: str) -> str:
    """A word for a shell; what cannot be pasted, in the shell's escapes."""
    if word.isprintable():
        return shlex.quote(word)
    plain = "".join(f"\\x{byte:02x}" for byte in word.encode("utf-8", "surrogateescape"))
    return f"$'{plain}'"


def commands() -> dict[str, click.Command]:
    """Every command of the program by its words."""
    found: dict[str, click.Command] = {}

    def walk(command: click.Command, words: str) -> None:
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                assert below is not None
                walk(below, f"{words} {name}".strip())
        else:
            found[words] = command

    walk(main, "")
    return found


def make_case(rng: random.Random, place: Place) -> Case:
    """A case; every option of every command comes up, alone and with others."""
    name, command = rng.choice(sorted(commands().items()))
    words = list(WORKING[name])
    options = [p for p in command.params if isinstance(p, click.Option)]
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        if words and rng.random() < 0.3:
            i = rng.randrange(len(words))
            words[i] = _text(rng, place, rng.choice(("names", "path", "a", "")))
        else:
            words += _option(rng, place, rng.choice(options))
    if rng.random() < 0.1 and words:
        del words[rng.randrange(len(words))]
    if any(word in _LONG for word in words):
        words = [word for word in words if word not in _LONG] + [
            rng.choice(("--no-such-option", "--time-limit=nan"))
        ]
    if rng.random() < 0.6 and any("--results" in option.opts for option in options):
        words += ["--results", rng.choice(place.folders)]
    if rng.random() < 0.4 and any("--json" in option.opts for option in options):
        words.append("--json")
    odd = {"COLUMNS": rng.choice(("²", "1", "-5", "99999999999"))} if rng.random() < 0.05 else {}
    return Case((*name.split(), *words), odd)


def _option(rng: random.Random, place: Place, option: click.Option) -> list[str]:
    word = rng.choice([*option.opts, *option.secondary_opts])
    if option.is_flag:
        return [word]
    return [word, _value(rng, place, option)]


def _value(rng: random.Random, place: Place, option: click.Option) -> str:
    if rng.random() < 0.1:
        return rng.choice(TEXTS)
    if isinstance(option.type, click.Choice):
        return rng.choice([*map(str, option.type.choices), "x"])
    if option.type is click.INT:
        return rng.choice(INTEGERS)
    if option.type is click.FLOAT:
        return rng.choice(FLOATS)
    return _text(rng, place, option.name or "")


def _text(rng: random.Random, place: Place, name: str) -> str:
    if name in _VALUE:
        return ",".join(rng.choice(VALUES) for _ in range(rng.choice((1, 2, 2, 2, 3))))
    if name in _UNIT:
        return rng.choice(UNITS)
    if name == "folder":
        return rng.choice([*place.folders, *place.files["any"]])
    if name in ("output", "file"):
        return rng.choice(("out/x", "out", "folder", "out/no/x", "link", "pipe", "/dev/full", "-", ""))
    if name in _FILE:
        kinds = [kind for kind in _FILE[name] if kind in place.files]
        return rng.choice(place.files[rng.choice(kinds)])
    if name == "device_name":
        return rng.choice(
            (
                "cpu",
                "model:",
                "model:x",
                "model:" + UNIT,
                "cuda:0",
                "cuda:²",
                "exec:false",
                "exec:",
                "exec:'",
                "recorded:any",
                "exec:cat",
                "hip:0",
                *TEXTS,
            )
        )
    if name == "assume":
        return rng.choice(
            (
                "finite",
                "c=0",
                "exponents=1..0",
                "exponents=-9999999999..9999999999",
                "c=2^99999999",
                "exponents=x",
                *TEXTS,
            )
        )
    if name == "vary":
        return rng.choice(
            (
                "fraction_bits",
                "fraction_bits=1..99999999999",
                "fraction_bits=3..1",
                "x=1",
                "products=1..3",
                "fraction_bits=" + "1," * 5000,
                *TEXTS,
            )
        )
    if name == "settings":
        return rng.choice(("terms=3", "terms=x", "terms=" + "9" * 5000, "y=1", "=", *TEXTS))
    if name == "solvers":
        return rng.choice(("cadical", "z3,cvc5", "nobody", ",", *TEXTS))
    return rng.choice(TEXTS)
