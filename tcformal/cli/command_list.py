"""The commands in groups, with a line, a module and two examples; apart, because help imports none.

Read by the help of the program and of each command; the tests run the examples.  No command is imported.
"""

from __future__ import annotations

from dataclasses import dataclass, field

_OPERANDS = "--a 16384,... --b 1,... --c '-2^-11'"

#: Sections; commands, with their module where it has another name; examples, of which `~` marks the slow.
_TABLE = f"""
Compare and explain
  compare: Why two outputs of one product differ, or what made one.
    ~compare a100.npy h100.npy --a a.npy --b b.npy
    ~compare h100.npy --a a.npy --b b.npy --gpu h100
  explain: Explain a result bit by bit, or where two units part.
    explain a100:fp16 h100:fp16 {_OPERANDS}
    explain a100:fp16 h100:fp16 {_OPERANDS} --svg sum.svg --html sum.html
  explain-mismatch compare: The earlier name of compare for one dot product.
    ~explain-mismatch a100:fp16 {_OPERANDS} --expected 16384 --got 0x467fffff
    ~explain-mismatch a100:fp16 {_OPERANDS} --expected 16384 --got 0x467fffff --json
  eval evaluate: Compute one dot product d = a·b + c on units.
    eval a100:fp16 h100:fp16 {_OPERANDS}
    eval a100:fp16@fraction_bits=25 --a 1.5,0x3c00,... --b 2^-24,1,... --c 1/8
  simulate: Compute a matrix product of two files on a unit.
    simulate a.npy b.npy --on h100:fp16 -o d.npy
    simulate a.npy b.npy --c c.npy --on a100:fp16 -o d.npy

Separate and prove
  separate: Find simple inputs on which two units differ.
    separate a100:fp16 h100:fp16
    ~separate --all-pairs xf32 --jobs 2
  prove: Prove two units equal, or a claim about one.
    prove 'valpey@terms=2,carry_bits=2' 'valpey@terms=2' --certify
    prove h100:fp16 --claim integer-sums
  audit: Check a kept answer anew, also by other people's programs.
    audit 582c # exit 3: no such program is installed
    ~audit d885 -o files # exit 3: no such program is installed
  region: Within which spread of exponents two units agree.
    region a100:fp16 h100:fp16 --assume finite --assume c=0 # exit 1: they differ
    ~region h100:fp16 h100:fp16
  suite: The fewest inputs that separate all designs of a space.
    suite 'valpey@terms=3' --vary carry_bits=1..3
    ~suite v100:fp16 --vary fraction_bits=20..24 --format c -o suite.h
  run: Ask the questions of the papers, or of your own files.
    run --list
    run disagreements/truncation

Errors
  accuracy: The largest error of dot products: a bound, and inputs.
    ~accuracy h100:e4m3 b200:e4m3 --length 1024
    ~accuracy a100:fp16 h100:fp16 --lengths 16,256,4096 --plot growth.svg
  distance accuracy: How far results of two units can be apart.
    ~distance a100:fp16 h100:fp16
    ~distance a100:fp16 h100:fp16 --length 256
  exact accuracy: How many products of integer slices are summed exactly.
    exact h100:fp16
    exact a100:fp16 --json
  monotonicity accuracy: How far a result falls where an operand grows.
    ~monotonicity v100:fp16
    ~monotonicity a100:fp16 --no-prove
  statistics: Errors of random products against exact sums.
    ~statistics a100:fp16 h100:fp16 --lengths 16,64,256 --elements 64
    ~statistics h100:fp16 --lengths 16,256 --elements 64 --bound --plot growth.svg
  compare-programs programs: Is one program's error ever larger than another's?
    ~compare-programs cutlass-3xtf32 triton-3xtf32 --differ # exit 1: they do
    ~compare-programs fma-chain fma-chain --assume c=0
  figures: Draw figures and tables of the literature again.
    ~figures mary-5.1 --points 3 --words 1
    ~figures khattak-gemm --points 1 --words 1

Identify
  identify: Identify a device's unit by its number formats alone.
    ~identify --device 'exec:python3 box.py' --formats fp16,fp16,fp32,fp32 --k 4
    ~identify --device model:v100:fp16 --unit v100:fp16 --vectors 10000
  identify-product: Identify a library's product: its order, and the unit.
    ~identify-product numpy --formats fp32,fp32,fp32 --shape 8,8,40
    ~identify-product numpy --formats fp32,fp32,fp32 --shape 1,16,48 --rows 1..64 # exit 1 where they change

Devices
  probe: Run dot products on hardware, and compare with models.
    probe template > box.py
    probe plan x86/vdpbf16ps -o plan.json --vectors 1000
  doctor: What is installed, what is missing, what it would give.
    ~doctor
    ~doctor --json

Export
  vectors: Test vectors of a unit, results included: csv, hex, C, …
    vectors h100:fp16 -n 1000 --format csv -o vectors.csv
    vectors h100:fp16 -n 20 --kind directed --format c
  export: Write a unit or program as Verilog, C, SMT-LIB, BTOR2, …
    export a100:fp16 --to verilog -o ampere.sv
    export bf16x9 --length 2 --to smtlib -o bf16x9.smt2
  check-rtl: Compare Verilog of a dot product with a unit.
    ~check-rtl dot.v --top dot --against 'valpey@terms=2' -o bench.sv
    ~check-rtl dot.v --top dot --against 'valpey@terms=2'

Records and catalogues
  units catalogue: The catalogued units; one, with its sources.
    units --arch hopper --format e4m3
    units a100:fp16
  formats catalogue: The floating-point formats.
    formats
    formats bf16
  recipes: How libraries put matrix products together.
    recipes
    recipes cublaslt-66@splits=4,output=bf16
  programs: Programs over units; one, with its text and steps.
    programs
    programs kahan
  results: Kept answers: list, show, verify, proof, export, prune.
    results list
    results verify
  report: Write what the records hold as pages of HTML.
    ~report --out site
    ~report --out site --json
  completion: Print what completes commands and units in a shell.
    completion bash
    completion zsh
"""

#: Examples of the commands of a group.
_INNER = """
probe devices
probe devices --json
probe plan x86/vdpbf16ps -o plan.json --vectors 1000
probe plan a100:fp16 -o plan.json --vectors 0 --no-stored
probe run plan.json --device model:x86/vdpbf16ps
~probe run plan.json --device 'exec:python3 box.py' # exit 1: it differs
probe keep tiles.npz --unit x86/tdpbf16ps --device 'Intel Xeon with AMX'
probe keep tiles.npz --unit x86/tdpbf16ps --device nobody --results elsewhere
~probe compare results/hardware/model-x86-vdpbf16ps/x86/vdpbf16ps.jsonl
~probe compare results/hardware/model-x86-vdpbf16ps/x86/vdpbf16ps.jsonl --all
~probe campaign --device model:x86/vdpbf16ps --minutes 0.2 --vectors 1000
~probe campaign --device model:x86 --minutes 0.2 --vectors 100 --jobs 1
probe template > box.py
probe template
results list --verdict separated --last 5
results list --json
results show 582c
results show 582c --json
~results proof d885 -o proof
~results proof d885 -o proof --results results
results export --csv -
results export exported.json --json
results verify
results verify 582c
results prune
~results prune --pack
"""


@dataclass(frozen=True, slots=True)
class Listed:
    """A command: its section, what it does in a line, the module of it, and its examples."""

    section: str
    summary: str
    module: str
    examples: list[str] = field(default_factory=list)


def _listed() -> dict[str, Listed]:
    made: dict[str, Listed] = {}
    section, examples = "", [""]
    for line in _TABLE.strip().splitlines():
        if line.startswith("    "):
            examples.append(line.strip())
        elif line.startswith("  "):
            head, _, summary = line.strip().partition(": ")
            name, _, module = head.partition(" ")
            examples = []
            made[name] = Listed(section, summary, module or name.replace("-", "_"), examples)
        elif line:
            section = line
    return made


#: Every command by name, in the order of the help.
COMMANDS = _listed()


def _examples() -> tuple[dict[str, list[str]], set[str]]:
    made = {name: list(x.examples) for name, x in COMMANDS.items()}
    for line in _INNER.strip().splitlines():
        made.setdefault(" ".join(line.lstrip("~").split()[:2]), []).append(line)
    slow = {f"tcformal {x[1:]}" for lines in made.values() for x in lines if x.startswith("~")}
    return {path: [f"tcformal {x.lstrip('~')}" for x in lines] for path, lines in made.items()}, slow


#: Two examples of each command, and of each command of a group; and those that take more than a moment.
EXAMPLES, SLOW_EXAMPLES = _examples()
