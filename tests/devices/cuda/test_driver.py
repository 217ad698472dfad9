"""A driver that is older than the compiler: noticed by versions, and by the small kernel that is launched."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from hostcard import HostCard
from tcformal.devices import cuda, listing
from tcformal.devices.cuda import CudaDevice
from tcformal.errors import DeviceError
from tcformal.simulation import card as cards
from tcformal.simulation import compilers
from tcformal.simulation.compilers import CUDA_12, Compiler, check_driver
from tcformal.simulation.matrix_unit import unit

AMPERE = "ampere/mma.m16n8k8.f32.bf16.bf16.f32"


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    """What was found of this machine is asked for again."""
    yield
    compilers.compiler.cache_clear()
    compilers.supported.cache_clear()


def release_of(version: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver's library that answers one call, in place of the machine's."""
    if shutil.which("gcc") is None:
        pytest.skip("no C compiler (gcc) builds the library here")
    path = folder / f"libcuda-{version}.so"
    source = f"int cuDriverGetVersion(int *v) {{ *v = {abs(version)}; return {int(version < 0)}; }}\n"
    subprocess.run(["gcc", "-shared", "-x", "c", "-", "-o", str(path)], input=source, text=True, check=True)
    monkeypatch.setattr(compilers, "_NAMES", (str(folder / "none.so"), str(path)))
    compilers.supported.cache_clear()
    compilers.compiler.cache_clear()


@pytest.mark.parametrize(
    ("version", "release"), [(12040, (12, 4)), (13000, (13, 0)), (11080, (11, 8)), (-12040, None)]
)
def test_the_drivers_release(
    version: int, release: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release_of(version, tmp_path, monkeypatch)
    assert compilers.supported() == release


def test_no_driver_has_no_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilers, "_NAMES", ("libnot-there.so",))
    compilers.supported.cache_clear()
    assert compilers.supported() is None
    check_driver("NVRTC 13.5", (13, 5))


def test_an_older_driver_rejects() -> None:
    """Both releases and the packages for the older one are named; within a major release all is well."""
    with pytest.raises(DeviceError) as caught:
        check_driver("NVRTC 13.5", (13, 5), (12, 4))
    text = str(caught.value)
    assert text.startswith(
        "expected a driver for CUDA 13, the release of NVRTC 13.5, but this one supports CUDA 12.4"
    )
    assert CUDA_12 in text
    with pytest.raises(DeviceError, match=r"supports CUDA 11\.8 .* update the driver, which is too old"):
        check_driver("nvcc 12.9", (12, 9), (11, 8))
    check_driver("NVRTC 12.9", (12, 9), (12, 4))
    check_driver("NVRTC 12.4", (12, 4), (13, 0))


class Fake(Compiler):
    """A compiler of some release."""

    def compile(self, source: Path, include: Sequence[Path], target: str, what: str) -> bytes:
        raise AssertionError("nothing is to be built")


class Newer(Fake):
    version, release, targets = "NVRTC 13.5", (13, 5), frozenset({"sm_80"})


class Older(Fake):
    version, release, targets = "nvcc 12.4.131", (12, 4), frozenset({"sm_80"})


def test_the_compiler_is_one_that_the_driver_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two the one that suits it; where none does, no kernel is built."""
    monkeypatch.setattr(compilers, "KINDS", (Newer, Older))
    release_of(12040, tmp_path, monkeypatch)
    assert compilers.compiler().version == Older.version
    release_of(13000, tmp_path, monkeypatch)
    assert compilers.compiler().version == Newer.version
    monkeypatch.setattr(compilers, "KINDS", (Newer,))
    release_of(12040, tmp_path, monkeypatch)
    with pytest.raises(DeviceError, match="expected a driver for CUDA 13"):
        CudaDevice("0", HostCard(AMPERE)).identify(unit(AMPERE).spec, 8)
    assert "expected a driver for CUDA 13" in cuda.build(AMPERE)


def test_what_a_library_says_comes_with_the_drivers_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> int:
        raise RuntimeError("CUDA_ERROR_NOT_FOUND")

    monkeypatch.setattr(cards.CoreCard, "count", fails)
    release_of(12040, tmp_path, monkeypatch)
    with pytest.raises(
        DeviceError, match=r"cuda-core says: CUDA_ERROR_NOT_FOUND; the driver supports CUDA 12\.4$"
    ):
        cards.count()


@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        ("", ""),
        ("CUDA_ERROR_INVALID_IMAGE", "expected Simulated A100 to run a kernel, but a simulation says: CUDA"),
    ],
)
def test_a_kernel_is_launched_on_each_gpu(broken: str, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What works names its instruction, what fails its reason; an unknown GPU is left alone."""
    try:
        cuda.disassembler()
        compilers.compiler()
    except DeviceError as error:
        pytest.skip(str(error))
    first = CudaDevice("0", HostCard(AMPERE)).units()[0]

    @contextmanager
    def opened(name: str) -> Iterator[CudaDevice]:
        yield CudaDevice("0", HostCard(first, broken=broken))

    monkeypatch.setattr(listing, "opened", opened)
    gpus = [
        cuda.ListedGpu("cuda:0", "Simulated A100 (sm_80)", "ampere"),
        cuda.ListedGpu("cuda:1", "old (sm_61)", None),
    ]
    monkeypatch.setattr(cuda, "gpus", lambda: iter(gpus))
    _, works, unknown = listing.devices()[0]
    assert works.fault.startswith(fault)
    assert bool(works.fault) == bool(fault)
    assert works.ran.startswith("" if fault else "HMMA")
    assert (unknown.ran, unknown.fault) == ("", "")
