"""Products on GPUs: one text as CUDA C++ on a host, as OpenCL C on PoCL, and built for real targets."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tcformal import simulate
from tcformal.design.operations import operation
from tcformal.devices import hip
from tcformal.errors import DeviceError, InputError, WidthError
from tcformal.simulation import arrays
from tcformal.simulation import card as devices
from tcformal.simulation import compiled as models
from tcformal.simulation.card import Card
from tcformal.simulation.compiled import dot_call
from tcformal.simulation.compilers import compiler
from tcformal.simulation.kernels.gemm import MatrixWords
from tcformal.simulation.kernels.gpu_gemm import CCode, GpuGemm, GpuText
from tcformal.simulation.kernels.threads import Work
from tcformal.simulation.matrix_unit import Unit, designs, spec_of
from tcformal.simulation.operands.batch import Raw

HOST = Path(__file__).resolve().parents[1] / "gpuhost.h"
QUICK = "volta/mma.m8n8k4.f32.f16.f16.f32"
SCALED = "rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0"
WIDE = "cdna1/v_mfma_f32_32x32x4bf16"
UNCHAINED = next(u for u in designs() if spec_of(u).c_format != spec_of(u).d_format)


class TextCard(Card):
    """A GPU made of this machine: CUDA C++ built by g++, a thread of the system for each thread."""

    def __init__(self, folder: Path) -> None:
        self.name, self.capability, self.library = "a host", (9, 0), "g++"
        self._folder = folder
        self.held = 0

    def driver(self) -> str:
        return "none"

    def empty(self, size: int) -> Any:
        self.held += 1
        return np.full(size, 0xA5, np.uint8)  # memory holds whatever was there

    def put(self, array: Raw) -> Any:
        self.held += 1
        return np.ascontiguousarray(array).reshape(-1).view(np.uint8).copy()

    def get(self, memory: Any, size: int) -> Raw:
        made: Raw = memory[:size].copy()
        return made

    def free(self, memory: Any) -> None:
        self.held -= 1

    def program(self, text: str, what: str) -> Path:
        pointers = {"decode_a": (4, 5), "decode_b": (4, 5), "multiply": (4, 4)}
        calls = []
        for name, (memories, counts) in pointers.items():
            kinds = [f"void *p{i}" for i in range(memories)] + [f"unsigned n{i}" for i in range(counts)]
            # The types of the pointers are the kernel's own.
            given = [f"(T{i})p{i}" for i in range(memories)] + [f"n{i}" for i in range(counts)]
            types = ", ".join(f"class T{i}" for i in range(memories))
            rest = ", ".join([f"T{i}" for i in range(memories)] + ["unsigned"] * counts)
            calls.append(
                f"template <{types}> static void with_{name}(void (*f)({rest}), unsigned b, unsigned t, "
                f"{', '.join(kinds)}) {{ each(f, b, t, {', '.join(given)}); }}\n"
                f'extern "C" void run_{name}(unsigned b, unsigned t, {", ".join(kinds)}) '
                f"{{ with_{name}({name}, b, t, {', '.join(k.split()[-1].lstrip('*') for k in kinds)}); }}"
            )
        source = self._folder / f"{len(list(self._folder.iterdir()))}.cc"
        source.write_text("\n".join([f'#include "{HOST}"', text, *calls]))
        made = source.with_suffix(".so")
        words = [
            "g++",
            "-std=c++17",
            "-O1",
            "-shared",
            "-fPIC",
            "-pthread",
            "-w",
            str(source),
            "-o",
            str(made),
        ]
        subprocess.run(words, check=True, capture_output=True, text=True)
        return made

    def launch(self, path: Path, name: str, blocks: int, threads: int, arguments: Sequence[Any]) -> None:
        words = [
            ctypes.c_void_p(x.ctypes.data) if isinstance(x, np.ndarray) else ctypes.c_uint(int(x))
            for x in arguments
        ]
        getattr(ctypes.CDLL(str(path)), f"run_{name}")(blocks, threads, *words)


@pytest.fixture
def host(tmp_path: Path) -> TextCard:
    """The host as a GPU; skips where there is no C++ compiler."""
    if shutil.which("g++") is None:
        pytest.skip("no C++ compiler (g++) builds the kernels here")
    return TextCard(tmp_path)


def product(name: str, m: int, n: int, k: int, *, finite: bool, seed: int = 1) -> MatrixWords:
    """Operands near one another in size, or any encodings."""
    spec, rng = spec_of(name), np.random.default_rng(seed)

    def words(shape: tuple[int, int], letter: str) -> Raw:
        fmt = spec.scale_format if letter == "scale" else getattr(spec.operands, letter)
        assert fmt is not None
        drawn = rng.integers(0, 1 << fmt.width, shape, dtype=np.uint64)
        if finite:
            top = np.uint64(fmt.largest)
            sign = drawn & ~np.uint64((1 << top.item().bit_length()) - 1)
            drawn = sign | np.minimum(drawn & np.uint64((1 << top.item().bit_length()) - 1), top)
            # Exponents around that of one, where sums round.
            spread = np.uint64(fmt.one // 4)
            body = np.uint64(fmt.one) - spread + drawn % (np.uint64(2) * spread + np.uint64(1))
            drawn = np.where(rng.random(shape) < 0.8, sign | np.minimum(body, top), drawn)
        made: Raw = drawn.astype(f"u{fmt.storage_bits // 8}")
        return made

    scales: list[Raw | None] = [None, None]
    if spec.scale_block is not None:
        count = -(-k // spec.scale_block)
        scales = [words((m, count), "scale"), words((count, n), "scale")]
    return MatrixWords(words((m, k), "a"), words((k, n), "b"), words((m, n), "c"), scales[0], scales[1])


def expected(name: str, x: MatrixWords) -> NDArray[Any]:
    """The same by dot products on integers."""
    spec = spec_of(name)
    with Work(progress=False) as work:
        return np.asarray(arrays.by_dot_products(spec, Unit(spec).dot_bits, x, work))


def check(name: str, card: Card, rows: int = 2) -> set[str]:
    """Compare both kernels of a unit; which were needed."""
    spec, used = spec_of(name), set()
    made = GpuGemm(dot_call(spec), card, rows)
    k = 2 * spec.k + 1 if spec.c_format == spec.d_format else max(1, spec.k - 1)
    for finite in (True, False):
        x = product(name, 3, 130, k, finite=finite)
        placed = made.place(x)
        made.launch(placed)
        assert (made.result(placed) == expected(name, x)).all(), (name, placed.which)
        made.free(placed)
        used.add(placed.which)
    return used


@pytest.mark.slow
@pytest.mark.parametrize("name", [QUICK, UNCHAINED], ids=["chained", "one-step"])
def test_the_text_as_cuda_gives_the_bits_of_the_model(host: TextCard, name: str) -> None:
    assert "any" in check(name, host)
    assert host.held == 0


def test_a_wrong_instruction_is_noticed(host: TextCard, monkeypatch: pytest.MonkeyPatch) -> None:
    real = GpuGemm.text

    def wrong(self: GpuGemm, which: str) -> GpuText:
        made = real(self, which)
        head, _, body = made.text.rpartition("TC_KERNEL void multiply")
        body = body.replace(" >> v", " >> 1u >> v", 1)
        return GpuText(f"{head}TC_KERNEL void multiply{body}", made.words, made.rows)

    monkeypatch.setattr(GpuGemm, "text", wrong)
    with pytest.raises(AssertionError):
        check(QUICK, host)


def test_simulate_takes_a_device(host: TextCard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "named", lambda device: host)
    models.gpu_gemm.cache_clear()
    rng = np.random.default_rng(2)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((2, 3, 9), (9, 5)))
    d = simulate(QUICK, a, b, device="cuda:0")
    models.gpu_gemm.cache_clear()
    assert d.tobytes() == simulate(QUICK, a, b).tobytes()


def test_devices_that_are_not_there() -> None:
    one = np.ones((1, 1), np.float16)
    with pytest.raises(InputError, match=r"expected a device cuda:N or opencl:N, but got 'gpu'"):
        simulate(QUICK, one, one, device="gpu")
    with pytest.raises(DeviceError, match="expected"):
        simulate(QUICK, one, one, device="opencl:9999")


def test_a_gpu_that_fails_is_one_sentence(host: TextCard, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise RuntimeError("out of memory\nmore")

    monkeypatch.setattr(host, "empty", fails)
    with pytest.raises(DeviceError, match=r"^expected a host to multiply, but g\+\+ says: out of memory$"):
        GpuGemm(dot_call(spec_of(QUICK)), host).multiply(product(QUICK, 1, 1, 4, finite=True))


def test_wider_integers_are_refused() -> None:
    with pytest.raises(WidthError, match="at most 128 bits"):
        CCode().kind(192)


def test_the_text_is_built_for_a_real_target(tmp_path: Path) -> None:
    source = tmp_path / "kernels.cu"
    source.write_text(GpuGemm(dot_call(spec_of(QUICK)), TextCard(tmp_path)).text("finite").text)
    assert compiler().compile(source, [], "sm_90", "build the kernels")[:4] == b"\x7fELF"


def test_the_text_is_built_as_hip(tmp_path: Path) -> None:
    if not any(map(shutil.which, hip._CLANGS)):
        pytest.skip("no clang of LLVM 17 or newer builds for AMD's GPUs here")
    source, made = tmp_path / "kernels.hip", tmp_path / "kernels"
    source.write_text(GpuGemm(dot_call(spec_of(QUICK)), TextCard(tmp_path)).text("finite").text)
    words = [hip.compiler()[0], "-x", "hip", "--offload-arch=gfx90a", *hip._OPTIONS, str(source)]
    subprocess.run([*words, "-o", str(made)], check=True, capture_output=True, text=True)
    assert made.read_bytes()[:4] == b"\x7fELF"


@pytest.mark.debian
@pytest.mark.parametrize("name", [QUICK, SCALED, WIDE, UNCHAINED])
def test_the_text_as_opencl_gives_the_bits_of_the_model(name: str) -> None:
    pytest.importorskip("pyopencl")
    assert "any" in check(name, devices.named("opencl:0"))


@pytest.mark.long
def test_every_operation_gives_the_bits_of_the_model(host: TextCard) -> None:
    for name in {operation(spec_of(name)).name: name for name in designs()}.values():
        check(name, host, 1)


@pytest.mark.long
def test_every_design_as_opencl_gives_the_bits_of_the_model() -> None:
    pytest.importorskip("pyopencl")
    for name in designs():
        check(name, devices.named("opencl:0"))
