"""A just-in-time compiler: LLVM modules, compiled for this processor, cached and loaded as C functions."""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from tcformal.backends.private import private_folder, read_private

#: Bytes of SHA-256 that stand before the machine code in a file.
_SUM = 32
#: The widest integers of which lanes are compiled in seconds.
_WIDEST = 128


@cache
def available() -> bool:
    """Whether LLVM is installed."""
    try:
        import llvmlite.binding  # noqa: F401
    except ImportError:
        return False
    return True


def _machine() -> Any:
    """A new LLVM target machine for this processor; the loader of the code owns it."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    cpu, features = _processor()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=cpu, features=features, opt=3, codemodel="jitdefault", jit=True)


@cache
def _processor() -> tuple[str, str]:
    """The name and feature flags of this processor; none without LLVM."""
    if not available():
        return "", ""
    import llvmlite.binding as llvm

    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def _described() -> str:
    """The description of processor and LLVM that determines compiled code: part of the cache key."""
    import llvmlite
    import llvmlite.binding as llvm

    version = ".".join(str(part) for part in llvm.llvm_version_info)
    return "\n".join((llvmlite.__version__, version, _machine().triple, *_processor()))


@cache
def vector_bits() -> int:
    """The width of the widest integer vector registers that LLVM reports, in bits."""
    on = set(_processor()[1].split(","))
    if {"+avx512f", "+avx512bw", "+avx512vl", "+avx512dq"} <= on:
        return 512
    return 256 if "+avx2" in on else 128


@cache
def x86() -> bool:
    """Whether this is a 64-bit x86 processor."""
    return platform.machine().lower() in ("x86_64", "amd64")


@cache
def floats() -> bool:
    """Whether the processor has fused multiply-adds and binary16 conversions."""
    return {"+fma", "+f16c"} <= set(_processor()[1].split(",")) or not x86()


def cache_folder() -> Path | None:
    """The folder of cached machine code, in the user's cache; None where it is not writable.

    Errors: as `backends.private.private_folder`.
    """
    return private_folder("kernels")


class Module:
    """The functions of one LLVM module, compiled or loaded from the disk cache.

    The key of the cache is the module's text, which holds the whole definition, with LLVM's version and
    the processor; a file that does not hold what was written is compiled again.
    """

    def __init__(self, text: str, functions: Mapping[str, Sequence[Any]]) -> None:
        import llvmlite.binding as llvm

        key = hashlib.sha256("\0".join((_described(), text)).encode()).hexdigest()
        folder = cache_folder()
        path = None if folder is None else folder / key[:40]
        code = None if path is None else _read(path)
        #: Whether the machine code was compiled now.
        self.compiled = code is None
        if code is None:
            code = _compile(text)
            if path is not None:
                _write(path, code)
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        for name, kinds in functions.items():
            address = self._engine.get_function_address(name)
            # Functions called through ctypes run without the interpreter's lock.
            setattr(self, name, ctypes.CFUNCTYPE(None, *kinds)(address))


def _compile(text: str) -> bytes:
    """Compile a module to machine code."""
    machine, module = _optimised(text)
    return bytes(machine.emit_object(module))


def assembly(text: str) -> str:
    """The assembly listing of a module on this processor."""
    machine, module = _optimised(text)
    return str(machine.emit_assembly(module))


def _optimised(text: str) -> tuple[Any, Any]:
    """This processor's target machine, and the optimised module."""
    import llvmlite.binding as llvm

    machine = _machine()
    module = llvm.parse_assembly(text)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    # Lanes of 576 bits, which LLVM makes of its own accord, take it many minutes.
    options.loop_vectorization = all(int(bits) <= _WIDEST for bits in re.findall(r"\bi(\d+)\b", text))
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return machine, module


def _read(path: Path) -> bytes | None:
    """Cached machine code; None if it is missing, incomplete, or writable by others."""
    data = read_private(path)
    if data is None:
        return None
    code = data[_SUM:]
    return code if hashlib.sha256(code).digest() == data[:_SUM] else None


def _write(path: Path, code: bytes) -> None:
    """Cache machine code atomically; an unwritable folder only costs recompilation."""
    # What is left of a write that failed goes with its folder.
    with suppress(OSError), tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        part = Path(scratch) / path.name
        part.touch(mode=0o600)
        part.write_bytes(hashlib.sha256(code).digest() + code)
        os.replace(part, path)
