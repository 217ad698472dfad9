"""What the help of every command ends with: examples that run, and the exit codes."""

from __future__ import annotations

import click

#: What the exit code of every command means.
EXIT_CODES = (
    "Exit codes: 0 answered as asked; 1 answered otherwise; 2 bad input; 3 no answer; "
    "128 + n ended by signal n."
)

_AMPERE, _HOPPER = (f"{arch}/mma.m16n8k16.f32.f16.f16.f32" for arch in ("ampere", "hopper"))
_OPERANDS = "--a 16384,... --b 1,... --c '-2^-11'"

#: Examples by command, in the order in which they can be tried in one folder.
EXAMPLES: dict[str, tuple[str, ...]] = {
    "units": ("tcformal units --arch hopper --format e4m3", f"tcformal units {_AMPERE}"),
    "formats": ("tcformal formats", "tcformal formats bf16 --json"),
    "recipes": ("tcformal recipes", "tcformal recipes cublaslt-66@splits=4,output=bf16"),
    "eval": (
        f"tcformal eval {_AMPERE} {_HOPPER} {_OPERANDS}",
        f"tcformal eval {_AMPERE}@fraction_bits=25 --a 1.5,0x3c00,... --b 2^-24,1,... --c 1/8",
    ),
    "explain": (
        f"tcformal explain {_AMPERE} {_HOPPER} {_OPERANDS}",
        "tcformal explain ootomo-yokota --a 1.25,3 --b 0x3f800001,1 --no-calls",
        f"tcformal explain {_AMPERE} {_HOPPER} {_OPERANDS} --svg sum.svg --html sum.html",
    ),
    "explain-mismatch": (
        f"tcformal explain-mismatch {_AMPERE} {_OPERANDS} --expected 16384 --got 0x467fffff",
    ),
    "compare": (
        "tcformal compare a100.npy h100.npy --a a.npy --b b.npy",
        "tcformal compare layer.npz:out --a layer.npz:x --b weights.safetensors:w --gpu h100",
    ),
    "separate": (
        f"tcformal separate {_AMPERE} {_HOPPER} --explain",
        f"tcformal separate {_AMPERE} {_AMPERE}@fraction_bits=25 --assume finite --assume c=0",
        "tcformal separate --all-pairs volta --jobs 2",
    ),
    "prove": (
        "tcformal prove 'valpey@terms=2,carry_bits=2' 'valpey@terms=2' --certify",
        "tcformal prove 'valpey@terms=3' --claim product-order",
        "tcformal prove cdna3/v_mfma_f32_32x32x8_f16 --claim negation-symmetry --assume c=0",
    ),
    "accuracy": (
        "tcformal accuracy volta/mma.m8n8k4.f32.f16.f16.f32",
        f"tcformal accuracy {_HOPPER} --length 4096",
        f"tcformal accuracy {_HOPPER} --length 4096 --promote 128 --no-prove",
    ),
    "exact": (f"tcformal exact {_HOPPER}",),
    "monotonicity": ("tcformal monotonicity volta/mma.m8n8k4.f32.f16.f16.f32",),
    "distance": (f"tcformal distance {_AMPERE} {_HOPPER}",),
    "statistics": (
        f"tcformal statistics {_AMPERE} {_HOPPER} --lengths 16,64,256 --elements 64",
        "tcformal statistics 'tfdpa@a_format=e2m1,b_format=e2m1,products=2' --bias --distribution encodings",
        f"tcformal statistics {_HOPPER} --lengths 16,256,4096 --bound --plot growth.svg",
        "tcformal statistics deepgemm-fp8 fma-chain --lengths 256,1024 --elements 64 --sweep",
    ),
    "figures": (
        "tcformal figures mary-5.1 --points 3 --words 1",
        "tcformal figures mary-5.2 --points 24 --unit hopper/wgmma.m64n8k32.f32.e4m3.e4m3 --plot mary.pdf",
    ),
    "region": (
        f"tcformal region {_AMPERE} {_HOPPER}",
        f"tcformal region {_AMPERE} {_HOPPER} --assume finite --assume c=0",
    ),
    "report": ("tcformal report --out site", "tcformal report --playground pyodide-314.0.7.tgz"),
    "run": (
        "tcformal run --list",
        "tcformal run disagreements/truncation",
        "tcformal run valpey/carry-bits --only 5",
    ),
    "suite": (
        "tcformal suite 'valpey@terms=3' --vary carry_bits=1..3",
        f"tcformal suite {_AMPERE}",
        f"tcformal suite {_HOPPER} --vary fraction_bits=10..40",
        f"tcformal suite {_AMPERE} --vary conversion --vary alignment_rounding",
        "tcformal suite --formats fp16,fp16,fp32,fp32 --format c -o suite.h",
        "tcformal suite 'valpey@terms=3' --vary carry_bits=1..3 --format json -o s.json",
        "tcformal suite --check s.json",
    ),
    "completion": ("tcformal completion bash", "tcformal completion zsh"),
    "doctor": ("tcformal doctor", "tcformal doctor --json"),
    "programs": (
        "tcformal programs",
        "tcformal programs bf16x9@bands=3 --length 2",
    ),
    "compare-programs": (
        "tcformal compare-programs bf16x9 fma-chain --assume c=0",
        "tcformal compare-programs cutlass-3xtf32 triton-3xtf32 --differ",
        "tcformal compare-programs chained deepgemm-fp8 --length 512 --assume c=0",
    ),
    "export": (
        f"tcformal export {_AMPERE} --to verilog -o ampere.sv",
        "tcformal export 'valpey@terms=5,carry_bits=3' --to smtlib",
        f"tcformal export {_HOPPER} --to c -o hopper.h",
        "tcformal export bf16x9 --length 2 --to smtlib -o bf16x9.smt2",
    ),
    "check-rtl": (
        f"tcformal check-rtl dot.v --top dot --against {_AMPERE} -o bench.sv",
        "tcformal check-rtl dot.v --top dot --against 'valpey@terms=3' --map 'a[0]=x[15:0]' --map 'a[1]=y' "
        "--map d=result --tie rst_n=1 --latency 3",
    ),
    "results": ("tcformal results list", "tcformal results verify"),
    "results list": ("tcformal results list --verdict separated --last 5",),
    "results show": ("tcformal results show 4c2f",),
    "results proof": ("tcformal results proof 4c2f -o carry-bits",),
    "results export": ("tcformal results export --csv -",),
    "results verify": (
        "tcformal results verify", "tcformal results verify --claims",
    ),
    "results prune": ("tcformal results prune", "tcformal results prune --pack"),
    "identify": (
        f"tcformal identify --device model:{_AMPERE} --formats fp16,fp16,fp32,fp32 --k 16 --vectors 10000",
        f"tcformal identify --device model:{_AMPERE} --unit {_AMPERE} --vectors 10000 --plot growth.svg",
    ),
    "identify-product": ("tcformal identify-product numpy --formats fp32,fp32,fp32 --shape 8,8,40",),
    "probe": ("tcformal probe devices", "tcformal probe plan x86/vdpbf16ps -o plan.json --vectors 1000"),
    "probe devices": ("tcformal probe devices",),
    "probe plan": (
        "tcformal probe plan x86/vdpbf16ps -o plan.json --vectors 1000 --no-stored",
        f"tcformal probe plan {_AMPERE} -o ampere.json",
    ),
    "probe run": (
        "tcformal probe run plan.json --device model:x86/vdpbf16ps",
        "tcformal probe run plan.json --device cpu",
    ),
    "probe keep": (
        "tcformal probe keep tiles.npz --unit x86/tdpbf16ps --device 'Intel Xeon with AMX'",
    ),
    "probe compare": ("tcformal probe compare results/hardware/cpu/x86/vdpbf16ps.jsonl --explain",),
    "probe campaign": ("tcformal probe campaign --device cuda:0 --minutes 8",),
}  # fmt: skip


def with_examples(command: click.Command, path: str) -> click.Command:
    """A command whose help, and that of its own commands, ends with its examples and the exit codes."""
    lines = "".join(f"  {line}\n" for line in EXAMPLES.get(path, ()))
    command.epilog = f"\b\nExamples:\n{lines}\n{EXIT_CODES}" if lines else EXIT_CODES
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            with_examples(inner, f"{path} {name}")
    return command
