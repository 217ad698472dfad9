"""Wrong inputs of every command: exit code 2, and one sentence that names the nearest right thing."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

Run = Callable[..., Result]

#: Calls, and what their sentences must hold.
WRONG = """
units hoper | hopper
units H10 | h100
units h100:fp18 | fp16, bf16, tf32, fp64, e5m2, e4m3
units hopper/mma.m16n8k16 | hopper/mma.m16n8k16.f32.bf16.bf16.f32
units hopper/ | hopper/mma.m16n8k16.f32.f16.f16.f32
units HOPPER/WGMMA.M64N8K16.F32.F16.F16 | hopper/wgmma.m64n8k16.f32.f16.f16
units h100/mma.m16n8k16.f32.f16.f16.f32 | hopper/mma.m16n8k16.f32.f16.f16.f32
units --arch hoper | hopper
units --arch h10 --format fp16 | h100
units --format fp61 | fp16
units --operation T-FDPB | T-FDPA
units --evidence mesured | MEASURED
formats e5m | e5m2
formats posit | bf16
eval zen4:amx-bf16 --a 1 --b 1 | vdpbf16ps
eval mi300x:e4m3 --a 1 --b 1 | e4m3fnuz
eval h100:e4m3:bf16 --a 1 --b 1 | fp32, fp16
eval h100:hmma-fp16 --a 1 --b 1 | mma, wgmma
eval tdpbf16 --a 1 --b 1 | x86/tdpbf16ps
eval hopper/mma.m16n8k32.f32.e4m3.e4m3.f32 --a 1 --b 1 | hopper/emulated.mma.m16n8k32.f32.e4m3.e4m3.f32
eval a100@wdith=3 --a 1 --b 1 | fraction_bits
eval a100@fraction_bit=3 --a 1 --b 1 | fraction_bits
eval a100@fraction_bits=many --a 1 --b 1 | an integer for fraction_bits
eval a100@fraction_bits=999 --a 1 --b 1 | from 1 to 256
eval a100@fraction_bits --a 1 --b 1 | name=value
eval a100@summation=fusd --a 1 --b 1 | fused
eval a100@conversion=RNE-FP61 --a 1 --b 1 | RNE-FP16
eval exact@n=4 --a 1 --b 1 | k, products
eval valpey@term=3 --a 1 --b 1 | terms
eval tree@step=(0+1) --a 1 --b 1 | steps
eval tree@steps=(0..3 --a 1 --b 1 | p(q(0+1)+q(2..5)+c)
eval fmaa@k=4 --a 1 --b 1 | fma
eval tfdpa@a_format=fp61 --a 1 --b 1 | fp16
eval a100 --a 1,2 --b 1 | ...
eval a100 --a one --b 1 | 1.5
eval a100 --a 0.1 --b 1 | 819*2^-13
eval a100 --a 65520 --b 1 | 65504
eval b200:fp4 --a 7 --b 1 | the largest is 6
eval a100 --a 1 --b 1 --scale-a 1 | b200:mxf4
eval a100 --a 1 | tcformal eval
eval a100 --a 1 --b 1 --d 3 | --b
explain otomo-yokota --a 1 --b 1 | ootomo-yokota
explain a100 h100 --a 1 --b 1 --svg no/such.svg | no such folder
separate a100 | --all-pairs
separate a100:fp16 h100:bf16 | A is fp16 in ampere/
separate a100 h100 --solvers z4 | z3
separate a100 h100 --assume finte | finite
separate a100 h100 --assume exponents | exponents=-14..15
separate a100 h100 --sead 3 | --seed
separate --all-pairs voltta | volta
separate a100 h100 --jobs 2 | --all-pairs
prove a100 --claim prodct-order | product-order
prove a100 h100 --claim product-order | one unit
region a100 h101 | h100
distance a100 | tcformal distance
accuracy bf16x8 | bf16x9
accuracy h100:e4m4 | e4m3
accuracy h100 --length 0 | from 1
exact t5 | t4
statistics h100 --distribution norml | normal
statistics h100 --lengths 16,x | 16,64,256
figures mary-5.3 | mary-5.2
suite a100 --vary fraction_bit=1..3 | fraction_bits
suite a100 --vary fraction_bits=3..1 | LOW..HIGH
suite --formats fp16,fp16,fp32 --vary products | A, B, C and D
export a100 --to veriog | verilog
export a100 --to c -o no/such/x.h | no such folder
check-rtl none.v --top dot --against a100 | a file of RTL
recipes cublaslt-67 | cublaslt-66
recipes cublaslt-66@split=2 | splits
programs bf16x9@band=3 | bands
programs chained@unit=h10 --length 2 | h100
compare-programs bf16x9 fma-chan | fma-chain
compare d.npy d.npy --a a.npy | --b
compare d.npy wide.npy --a a.npy --b b.npy | [4, 4]
compare none.npy d.npy --a a.npy --b b.npy | no none.npy
compare d.npy whole.npy --a a.npy --b b.npy | a.npy:e4m3
compare one.npz:c d.npy --a a.npy --b b.npy | one of a
compare words.txt d.npy --a a.npy --b b.npy | .npy
compare d.npy d.npy --a a.npy --b b.npy --gpu h10 | h100
compare d.npy d.npy --a a.npy --b b.npy --library cublas9 | cublaslt
identify --device modl:h100 --formats fp16,fp16,fp32,fp32 --k 4 | model:UNIT
identify --device model:h100 | --formats
identify-product nump --formats fp32,fp32,fp32 --shape 8,8,40 | numpy
probe plan a101 -o p.json | a100
probe run none.json --device cpu | a plan
probe run broken.json --device cpu | JSON object
probe keep one.npz --unit x86/tdpbf16p --device x | x86/tdpbf16ps
run disagrements/truncation | disagreements/truncation
results list --verdict seperated | separated
results lst | list
completion bsh | bash
doctr | doctor
vectors h10 | h100
vectors h100 --format cvs | csv
simulate a.npy b.npy --on h10 -o e.npy | h100
simulate a.npy b.npy --on h100:e4m3 -o e.npy | float16
simulate a.npy a.npy --on h100 -o e.npy | [..., K, N]
simulate a.npy b.npy -o e.npy | --on h100:fp16
accuracy h100 --plot x.gif | svg
audit zzzz | the start of a record's id
units --format fp8 | e5m2, e4m3
eval a100@steps=(0..3+c) --a 1 --b 1 | (0..15+c)
run valpey/carry-bits --set term=3 | align_bits
units rtx5o90 | rtx5090
units mi350 | mi250, mi325x
units h100:fp16:fp64 | it has fp32, fp16
units b200:mxfp5 | mxe5m2
units ':fp16' | volta/mma.m8n8k4.f32.f16.f16.f32
formats FP-16x | fp16
eval h100,a100 --a 1 --b 1 | h100, a100
eval h100:fp16 --a 1e400 --b 1 | the largest is 65504
eval h100:fp16 --a 1..3 --b 1 | 1.5
eval h100:fp16 --a 0x3c000 --b 1 | below 0x10000
eval h100:fp16 --a 1 --b 1 --c 1e39 | 16777215*2^104
eval h100:fp16 --a 1,2,3 --b 1,2 | a final ... adds zeros
eval h100:fp16 --a 'nan(0x12345)' --b 1 | nan without a sign
eval b200:mxf4 --a 1,... --b 1,... --scale-a 1,1,1 | 2 values for scale_a
eval mi355x:mxf4 --a 1 --b 1 | of AMD CDNA4 none does
separate arm/fdot arm/bfdot | of Arm FP8 none does
units --arch tpu | of Google TPU none does
eval convert@rounding=RU,to=bf16 --a 1 --b 1 | a known parameter of convert, but got 'to'
accuracy cutlass-sm90-fp8 --length 4096 | is a recipe
prove h100 --claim monotonicity | tcformal monotonicity hopper/
eval a100@conversion=RX-FP32 --a 1 --b 1 | RZ
eval a100@k=0 --a 1 --b 1 | products
eval a100@products=3.5 --a 1 --b 1 | an integer for products
eval a100@fraction_bits=25,fraction_bits=26 --a 1 --b 1 | fraction_bits twice
eval 'tree@steps=' --a 1 --b 1 | name=value
explain a100 h100 b200 --a 1 --b 1 | tcformal explain a100:fp16 h100:fp16
explain a100 --a 1,... --b 1,... --svg x.jpg | .svg
separate h100 h100:fp64 | A is fp16 in hopper/
separate h100 a100 --time-limit -1 | above zero
separate h100 a100 --memory-limit 0 | at least 1
separate h100 a100 --assume exponents=5..-5 | from 5 to
separate h100 a100 --assume spread=-3 | at least 0
separate h100 a100 --solvers '' | kissat
separate --all-pairs h100:fp99 | it has fp16
separate h100 a100 --results a.npy | a.npy/answers.jsonl
prove h100 --claim | '--claim' requires an argument
prove h100 --claim integer_sums | integer-sums
prove h100 a100 v100 | tcformal prove
region h100 | region a100:fp16 h100:fp16
region h100 a100 --coq x.v | --assume
distance h100 ampere/mma.m16n8k32.s32.s8.s8.s32 | floating-point numbers
distance h100 h101 | h100
accuracy h100 --lengths 16..64 | 16,64,256
accuracy h100 --length 99999999999999999999 | from 1 to
statistics h100 --elements 0 | from 1 to
compare-programs bf16x9 bf16x10 | bf16x9
figures mary-5.1 --words 9 | 1, 2, 3
figures nothing | khattak-gemm
suite h100 --vary nothing=1..3 | rounding
suite --check a.npy | a suite in a.npy
export kahan --to c --length 0 | from 1 to
recipes plain@x | FIELD=VALUE
programs kahan@length=3 | word, accumulator
compare d.npy d.npy --a a.npy --b wide.npy | [16, 4]
compare empty.npy d.npy --a a.npy --b b.npy | an array in empty.npy
identify --device model:h100:fp16 --formats fp16,fp16,fp32,fp33 --k 4 | fp32
identify --device cuda:x --formats fp16,fp16,fp32,fp32 --k 4 | the number of a GPU
identify-product numpy --formats fp32,fp32,fp32 --shape 8,8 | M,N,K
identify-product module:function --formats fp32,fp32,fp32 --shape 8,8,8 | exec:PROGRAM
probe plan x86/vdpbf16ps -o no/such.json | no such folder
probe compare none.jsonl | a file of results
probe campaign --device model:h100:fp16 --minutes -1 | above zero
results show zz | the start of a record's id
results verifi | verify
run xie/table-99 | xie/table-9
vectors h100 --kind odd | directed, boundary, random
simulate a.npy b.npy --on h100:fp16 --c wide.npy -o x.npy | [4, 4]
simulate one.npz:z b.npy --on h100:fp16 -o x.npy | one of a
report --results nowhere --out site | a folder of results
suite | a unit, operand formats or an architecture
suite valpey@terms=2 --vectors 0 | from 2 to 10000000
suite valpey@terms=2 --jobs 0 | from 1 to 1024
suite valpey@terms=2 --seed -1 | from 0 to
suite valpey@terms=2 --shrink-time 0 | above zero
suite valpey@terms=2 --format c --prefix 1x | the prefix of C names
suite valpey@terms=2 -o x | --format json, csv or c with --output
separate | --all-pairs
separate --all-pairs tf32 fp16 | at most one text
separate --all-pairs --explain | --explain with two units
separate --all-pairs --jobs 0 | from 1 to 1024
separate --all-pairs --jobs 2 --scheduler x | --jobs or --scheduler
separate --all-pairs --time-limit 0 | above zero
separate --all-pairs tf32 --assume finit | finite
programs none.toml | a program in none.toml
programs --length 2 | with a PROGRAM only
export x86/vdpbf16ps --to c --length 2 | with a program only
compare-programs bf16x9 chained | two programs of equal inputs
compare-programs bf16x9 fma-chain --more-than much | a number such as 3
compare-programs bf16x9 fma-chain --c-exponents 3 | LOW..HIGH
explain bf16x9 bf16x9 --a 1 --b 1 | one program
explain bf16x9 --a 1 --b 1,2 | as many values of b as of a
explain bf16x9 --a 1 --b 1 --scale-a 1 | no --scale-a with a program
statistics v100:fp16 --show heat | growth
statistics v100:fp16 --lengths 1048576 --elements 65536 | length times elements
separate h100 a100 --time-limit inf | at most 1000000000 s
separate h100 a100 --solvers z3,z3 | different solvers
separate h100 a100 --frobnicate | No such option
prove h100 a100 --time-limit soon | not a valid float
divide h100 | distance
eval h100 --json --a 1 | tcformal eval
prove v100 --claim order | product-order
prove v100 v100 --claim all | at most one unit with --claim
prove v100 --claim all --filter x | a unit or --filter
prove v100 --claim all --assume finite | one unit and one claim
prove v100 --claim carry-bits --assume c=0 | claim carry-bits uses (none)
prove v100 --claim negation-symmetry --explain | no --explain
prove --claim all --filter nothing | a unit that all fits
prove v100 v100 --filter x | --filter with --claim only
prove x86/vdpbf16ps --claim carry-bits | without a bound on its bits
simulate gone.npy b.npy --on v100 -o x.npy | there is no gone.npy
simulate a.npy b.npy --on v100 -o d.bin | a file D.npy after -o
simulate a.npy b.npy --on v100 | tcformal simulate a.npy b.npy --on
vectors v100 -n 0 | from 1 to
vectors v100 --seed -1 | from 0 to
vectors v100 --json --format csv | --json alone
vectors v100 -o no/such/folder | no such folder
identify --device model:v100 --formats fp16 | the formats of A, B, C and D
identify --device model:v100 --formats fp16,fp16,fp32,fp32 --k 4 --scale ue8m0 | FORMAT/BLOCK
identify --device model:v100 --formats fp16,fp16,fp32,fp32 --unit v100 | --unit or --formats
identify --device model:v100 --formats fp16,fp16,fp32,fp32 --k 4 --next | hand:NAME
identify --device model:v100 --formats fp16,fp16,fp32,fp32 --vectors -1 | an integer from 0
identify --device model:v100 --formats fp16,fp16,fp32,fp32 --k 0 | for --k
identify --device hand:lab --formats fp16,fp16,fp32,fp32 --k 4 --answer none.jsonl | answers as JSON lines
explain b200:mxe4m3 --a 1,... --b 1,... --scale-a 1,1 | 1 values for scale_a
explain b200:mxe4m3 --a 1,... --b 1,... --scale-b -1 | the format has no sign
export v100 | smtlib, btor2, aiger, verilog, c, json
export v100 --to c --json | --json alone or with --to json
accuracy v100 --lengths '' | 16,64,256
accuracy bf16x9 --plot a.svg | a UNIT only
accuracy v100 --exponents 0..1 | a PROGRAM only
probe campaign --device model:volta --minutes inf | at most 10080
probe campaign --device model:volta --vectors 1000000000000 | from 0 to 1000000000
probe campaign --device model:volta --jobs 0 | from 1 to 1024
probe campaign --device cuda:99999999999999999999 | the number of a GPU
probe campaign --device hip:-1 | the number of a GPU
units amper/mma.m16n8k16.f32.f16.f16.f32 --json | ampere
"""
CALLS = [tuple(line.rsplit(" | ", 1)) for line in WRONG.strip().splitlines()]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some files, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    a, d = np.ones((4, 16), np.float16), np.ones((4, 4), np.float32)
    np.save("a.npy", a)
    np.save("b.npy", a.T)
    np.save("d.npy", d)
    np.save("wide.npy", np.ones((4, 5), np.float32))
    np.save("whole.npy", np.ones((4, 4), np.int64))
    np.savez("one.npz", a=a)
    Path("broken.json").write_text("{")
    Path("words.txt").write_text("words")
    Path("empty.npy").touch()


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("call", "right"), CALLS, ids=[call for call, _ in CALLS])
def test_a_wrong_input_is_one_sentence_that_names_the_right_one(run: Run, call: str, right: str) -> None:
    result = run(*shlex.split(call))
    lines = [line for line in result.stderr.splitlines() if line]
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    assert right in lines[0]
    assert "Traceback" not in lines[0]


@pytest.mark.parametrize("call", ["units h100", "eval h100:fp16 --a 1 --b 1", "eval tree@k=16 --a 1 --b 1"])
def test_the_right_things_are_right(run: Run, call: str) -> None:
    assert run(*shlex.split(call)).exit_code == 0
