"""cuBLASLt through ctypes: every algorithm that its heuristic names for a product, with its nine fields."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from problems import Problem
from tensors import TYPES, given, scalar, tensor
from tensors import scale as scale_of

#: The fields of an algorithm's configuration, as cublasLtMatmulAlgoConfigAttributes_t names them.
FIELDS = [
    "ID", "TILE_ID", "SPLITK_NUM", "REDUCTION_SCHEME", "CTA_SWIZZLING", "CUSTOM_OPTION", "STAGES_ID",
    "INNER_SHAPE_ID", "CLUSTER_SHAPE_ID",
]  # fmt: skip
_SHORT = ("INNER_SHAPE_ID", "CLUSTER_SHAPE_ID")  # fields of 16 bits
_TYPE = {
    "fp64": "CUDA_R_64F", "fp32": "CUDA_R_32F", "tf32": "CUDA_R_32F", "bf16": "CUDA_R_16BF",
    "fp16": "CUDA_R_16F", "e4m3": "CUDA_R_8F_E4M3", "e5m2": "CUDA_R_8F_E5M2",
}  # fmt: skip
#: What the names of an object's attributes begin with.
_PREFIX = {"MatmulDesc": "MATMUL_DESC", "MatrixLayout": "MATRIX_LAYOUT", "MatmulPreference": "MATMUL_PREF"}
#: Kinds of scales, as cublasLtMatmulMatrixScale_t names them.
_SCALES = {"tensor": "SCALAR", "rows": "OUTER_VEC", "1x128": "VEC128", "128x128": "BLK128x128"}
_WORKSPACE = 64 << 20
_MOST = 16  # algorithms asked for

Call = Callable[[], tuple[int, Any]]


class _Heuristic(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t."""

    _fields_ = (
        ("algo", ctypes.c_uint64 * 8), ("workspace", ctypes.c_size_t), ("state", ctypes.c_int),
        ("waves", ctypes.c_float), ("reserved", ctypes.c_int * 4),
    )  # fmt: skip


def _constants() -> dict[str, int]:
    """The values of cuBLAS's enumerations, as its headers give them."""
    near = [str(x / "include") for x in Path(torch.__file__).parent.parent.glob("nvidia/*")]
    values: dict[str, int] = {}
    for name in ("cublasLt.h", "cublas_api.h", "library_types.h"):
        found = [Path(x) / name for x in ("/usr/local/cuda/include", *near) if (Path(x) / name).exists()]
        if not found:
            raise SystemExit(f"expected the header {name} of cuBLAS, but there is none")
        for key, value in re.findall(r"\b(CUBLAS\w+|CUDA_[RC]_\w+)\s*=\s*(\d+)", found[0].read_text()):
            values.setdefault(key, int(value))
    return values


class CublasLt:
    """The library that PyTorch has loaded."""

    def __init__(self) -> None:
        torch.matmul(torch.ones(8, 8, device="cuda"), torch.ones(8, 8, device="cuda"))
        found = sorted(set(re.findall(r"\S*libcublasLt\.so\S*", Path("/proc/self/maps").read_text())))
        self._lib = ctypes.CDLL(found[0] if found else "libcublasLt.so")
        self._lib.cublasLtGetVersion.restype = ctypes.c_size_t
        self.version = int(self._lib.cublasLtGetVersion())
        self._values = _constants()
        self._handle = ctypes.c_void_p()
        self._ask("cublasLtCreate", ctypes.byref(self._handle))
        self._space = torch.empty(_WORKSPACE, dtype=torch.uint8, device="cuda")

    def _ask(self, function: str, *arguments: Any) -> None:
        status = getattr(self._lib, function)(*arguments)
        if status:
            raise RuntimeError(f"{function} gave status {status}")

    def _set(self, owner: str, of: ctypes.c_void_p, attribute: str, value: Any) -> None:
        name = self._values[f"CUBLASLT_{_PREFIX[owner]}_{attribute}"]
        size = ctypes.c_size_t(ctypes.sizeof(value))
        self._ask(f"cublasLt{owner}SetAttribute", of, name, ctypes.byref(value), size)

    def _layout(self, fmt: str, rows: int, columns: int, batch: int, stride: int) -> ctypes.c_void_p:
        """Columns one after the other, and matrices of a batch."""
        made = ctypes.c_void_p()
        shape = (ctypes.c_uint64(rows), ctypes.c_uint64(columns), ctypes.c_int64(rows))
        self._ask("cublasLtMatrixLayoutCreate", ctypes.byref(made), self._values[_TYPE[fmt]], *shape)
        if batch > 1:
            self._set("MatrixLayout", made, "BATCH_COUNT", ctypes.c_int32(batch))
            self._set("MatrixLayout", made, "STRIDED_BATCH_OFFSET", ctypes.c_int64(stride))
        return made

    def algorithms(self, p: Problem) -> Iterator[tuple[list[int | None], Call]]:
        """The fields of each algorithm for a product, and a call that gives its status and D [N, M]."""
        m, n, k, batch = p["m"], p["n"], p["k"], p.get("batch", 1)
        transposed = [x == "T" for x in p.get("trans", "TN")]
        kind = p["compute"].split("_")[0]
        scale = {"16F": "CUDA_R_16F", "64F": "CUDA_R_64F"}.get(kind, "CUDA_R_32F")
        desc, preference, kept = ctypes.c_void_p(), ctypes.c_void_p(), []
        compute = self._values["CUBLAS_COMPUTE_" + p["compute"]]
        self._ask("cublasLtMatmulDescCreate", ctypes.byref(desc), compute, self._values[scale])
        for name, value in zip(("TRANSA", "TRANSB"), transposed, strict=True):
            self._set("MatmulDesc", desc, name, ctypes.c_int32(value))
        if "fast" in p:
            self._set("MatmulDesc", desc, "FAST_ACCUM", ctypes.c_int8(p["fast"]))
        for name, value in p.get("scales", {}).items():
            kept.append(torch.tensor([value], dtype=torch.float32, device="cuda"))
            self._set("MatmulDesc", desc, f"{name}_SCALE_POINTER", ctypes.c_void_p(kept[-1].data_ptr()))
        for which, of in zip("ab", p.get("scaled", ()), strict=False):
            kept.append(scale_of(p, which))
            mode = ctypes.c_int32(self._values[f"CUBLASLT_MATMUL_MATRIX_SCALE_{_SCALES[of]}_32F"])
            self._set("MatmulDesc", desc, f"{which.upper()}_SCALE_MODE", mode)
            pointer = ctypes.c_void_p(kept[-1].data_ptr())
            self._set("MatmulDesc", desc, f"{which.upper()}_SCALE_POINTER", pointer)
        if p.get("bias"):
            kept.append(tensor(p["d"], "b", 64, m)[40].contiguous())
            epilogue = ctypes.c_int32(self._values["CUBLASLT_EPILOGUE_BIAS"])
            self._set("MatmulDesc", desc, "EPILOGUE", epilogue)
            self._set("MatmulDesc", desc, "BIAS_POINTER", ctypes.c_void_p(kept[-1].data_ptr()))

        a, b = given(p, "a"), given(p, "b")
        a, b = a if transposed[0] else a.t().contiguous(), b.t().contiguous() if transposed[1] else b
        d = torch.empty((batch, n, m) if batch > 1 else (n, m), dtype=TYPES[p["d"]], device="cuda")
        c = given(p, "c") if p.get("beta") and batch == 1 else d
        la = self._layout(p["a"], *((k, m) if transposed[0] else (m, k)), batch, m * k)
        lb = self._layout(p["b"], *((n, k) if transposed[1] else (k, n)), batch, n * k)
        ld = self._layout(p["d"], m, n, batch, m * n)
        self._ask("cublasLtMatmulPreferenceCreate", ctypes.byref(preference))
        self._set("MatmulPreference", preference, "MAX_WORKSPACE_BYTES", ctypes.c_size_t(_WORKSPACE))
        found, count = (_Heuristic * _MOST)(), ctypes.c_int()
        shapes = (desc, la, lb, ld, ld)
        asked = (self._handle, *shapes, preference, _MOST, found, ctypes.byref(count))
        self._ask("cublasLtMatmulAlgoGetHeuristic", *asked)
        alpha, beta = scalar(kind, p.get("alpha", 1)), scalar(kind, p.get("beta", 0))

        def run(algo: Any) -> tuple[int, Any]:
            d.zero_()
            status = self._lib.cublasLtMatmul(
                self._handle, desc, ctypes.c_void_p(alpha.ctypes.data), ctypes.c_void_p(a.data_ptr()), la,
                ctypes.c_void_p(b.data_ptr()), lb, ctypes.c_void_p(beta.ctypes.data),
                ctypes.c_void_p(c.data_ptr()), ld, ctypes.c_void_p(d.data_ptr()), ld, ctypes.byref(algo),
                ctypes.c_void_p(self._space.data_ptr()), ctypes.c_size_t(_WORKSPACE),
                ctypes.c_void_p(torch.cuda.current_stream().cuda_stream),
            )  # fmt: skip
            return int(status), d

        for i in range(count.value):
            if not found[i].state:
                yield self._fields(found[i].algo), lambda algo=found[i].algo: run(algo)
        for made in (la, lb, ld):
            self._ask("cublasLtMatrixLayoutDestroy", made)
        self._ask("cublasLtMatmulPreferenceDestroy", preference)
        self._ask("cublasLtMatmulDescDestroy", desc)

    def _fields(self, algo: Any) -> list[int | None]:
        """The configuration of an algorithm; None for a field that it does not have."""
        fields: list[int | None] = []
        for name in FIELDS:
            value, wrote = ctypes.c_uint64(0), ctypes.c_size_t()
            size = ctypes.c_size_t(2 if name in _SHORT else 4)
            attribute = self._values["CUBLASLT_ALGO_CONFIG_" + name]
            get = self._lib.cublasLtMatmulAlgoConfigGetAttribute
            status = get(ctypes.byref(algo), attribute, ctypes.byref(value), size, ctypes.byref(wrote))
            fields.append(None if status else int(value.value))
        return fields
