"""The bibliography: every work that a fact of this project is taken from, by its tag.

A source text cites works as `TAG place; TAG place`, such as "XIE Table 4; KHATTAK recorded outputs".
`docs/SOURCES.md` holds the same list for readers, with the facts taken from each work.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: What a work can be.
KINDS = ("paper", "preprint", "standard", "vendor document", "software")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """One work of the bibliography."""

    #: The name under which texts cite it, in its only spelling.
    tag: str
    #: One of KINDS.
    kind: str
    authors: str
    title: str
    #: Journal, conference, edition or version, with pages; empty where there is none.
    venue: str = ""
    #: None where the document has no date of its own.
    year: int | None = None
    #: DOI, arXiv or document number, or the address of the software; None where none is known.
    identifier: str | None = None

    def citation(self) -> str:
        """The full citation: authors, title, venue, year, identifier."""
        parts = [self.title, self.venue, str(self.year or ""), self.identifier or ""]
        return f"{self.authors}: {', '.join(part for part in parts if part)}."


_ALL = (
    Reference(
        tag="XIE", kind="preprint", authors="P. Xie, S. Xu, Y. Wang, F. Yang, M. Yang",
        title="Bit-Accurate Modeling of GPU Matrix Multiply-Accumulate Units: Demystifying Numerical "
        "Discrepancy and Accuracy", venue="version 2", year=2026, identifier="arXiv:2511.10909",
    ),
    Reference(
        tag="VALPEY", kind="paper", authors="B. Valpey, X. Li, S. Pai, G. Gopalakrishnan",
        title="An SMT Formalization of Mixed-Precision Matrix Multiplication: Modeling Three Generations of "
        "Tensor Cores", venue="NASA Formal Methods", year=2025, identifier="arXiv:2502.15999",
    ),
    Reference(
        tag="FASI", kind="paper", authors="M. Fasi, N. J. Higham, M. Mikaitis, S. Pranesh",
        title="Numerical Behavior of NVIDIA Tensor Cores", venue="PeerJ Computer Science 7, e330",
        year=2021, identifier="doi:10.7717/peerj-cs.330",
    ),
    Reference(
        tag="HAWKEYE", kind="preprint", authors="E. Badash, D. Boneh, I. Komargodski, M. Srivastava",
        title="Hawkeye: Reproducing GPU-Level Non-Determinism", venue="version 1", year=2026,
        identifier="arXiv:2603.20421",
    ),
    Reference(
        tag="MARY", kind="paper", authors="T. Mary, M. Mikaitis",
        title="Error Analysis of Matrix Multiplication with Narrow Range Floating-Point Arithmetic",
        venue="SIAM Journal on Scientific Computing 47(4), B785–B800", year=2025,
        identifier="doi:10.1137/24M1685109",
    ),
    Reference(
        tag="KHATTAK", kind="preprint", authors="F. A. Khattak, M. Mikaitis",
        title="Accurate Models of NVIDIA Tensor Cores",
        venue="recorded outputs in github.com/north-numerical-computing/MATLAB-tensor-core, model_validation",
        year=2025, identifier="arXiv:2512.07004",
    ),
    Reference(
        tag="HICKMANN", kind="paper", authors="B. J. Hickmann, D. Bradford",
        title="Experimental Analysis of Matrix Multiplication Functional Units",
        venue="IEEE 26th Symposium on Computer Arithmetic (ARITH), 116–119", year=2019,
        identifier="doi:10.1109/ARITH.2019.00031",
    ),
    Reference(
        tag="MARKIDIS", kind="paper",
        authors="S. Markidis, S. W. D. Chien, E. Laure, I. B. Peng, J. S. Vetter",
        title="NVIDIA Tensor Core Programmability, Performance & Precision",
        venue="IEEE International Parallel and Distributed Processing Symposium Workshops, 522–531",
        year=2018, identifier="doi:10.1109/IPDPSW.2018.00091",
    ),
    Reference(
        tag="OOTOMO", kind="paper", authors="H. Ootomo, R. Yokota",
        title="Recovering Single Precision Accuracy from Tensor Cores While Surpassing the FP32 Theoretical "
        "Peak Performance",
        venue="International Journal of High Performance Computing Applications 36(4), 475–491",
        year=2022, identifier="doi:10.1177/10943420221090256",
    ),
    Reference(
        tag="BLANCHARD", kind="paper", authors="P. Blanchard, N. J. Higham, F. Lopez, T. Mary, S. Pranesh",
        title="Mixed Precision Block Fused Multiply-Add: Error Analysis and Application to GPU Tensor Cores",
        venue="SIAM Journal on Scientific Computing 42(3), C124–C141",
        year=2020, identifier="doi:10.1137/19M1289546",
    ),
    Reference(
        tag="KAHAN", kind="paper", authors="W. Kahan",
        title="Further Remarks on Reducing Truncation Errors",
        venue="Communications of the ACM 8(1), 40", year=1965, identifier="doi:10.1145/363707.363723",
    ),
    Reference(
        tag="HIGHAM", kind="paper", authors="N. J. Higham",
        title="The Accuracy of Floating Point Summation",
        venue="SIAM Journal on Scientific Computing 14(4), 783–799",
        year=1993, identifier="doi:10.1137/0914050",
    ),
    Reference(
        tag="WETZLER", kind="paper", authors="N. Wetzler, M. J. H. Heule, W. A. Hunt Jr.",
        title="DRAT-trim: Efficient Checking and Trimming Using Expressive Clausal Proofs",
        venue="Theory and Applications of Satisfiability Testing (SAT), 422–429",
        year=2014, identifier="doi:10.1007/978-3-319-09284-3_31",
    ),
    Reference(
        tag="CRUZ-FILIPE", kind="paper",
        authors="L. Cruz-Filipe, M. J. H. Heule, W. A. Hunt Jr., M. Kaufmann, P. Schneider-Kamp",
        title="Efficient Certified RAT Verification",
        venue="Automated Deduction (CADE 26), LNCS 10395, 220–236",
        year=2017, identifier="doi:10.1007/978-3-319-63046-5_14",
    ),
    Reference(
        tag="GOLDBERG-NOVIKOV", kind="paper", authors="E. Goldberg, Y. Novikov",
        title="Verification of Proofs of Unsatisfiability for CNF Formulas",
        venue="Design, Automation and Test in Europe (DATE), 886–891",
        year=2003, identifier="doi:10.1109/DATE.2003.1253718",
    ),
    Reference(
        tag="MOSKEWICZ", kind="paper",
        authors="M. W. Moskewicz, C. F. Madigan, Y. Zhao, L. Zhang, S. Malik",
        title="Chaff: Engineering an Efficient SAT Solver",
        venue="Design Automation Conference (DAC), 530–535",
        year=2001, identifier="doi:10.1145/378239.379017",
    ),
    Reference(
        tag="MMA-Sim 2.1.1", kind="software", authors="The authors of XIE",
        title="MMA-Sim, the Python simulator that accompanies XIE",
        venue="version 2.1.1, newer than the paper", year=2026,
        identifier="https://github.com/microsoft/MMA-Sim",
    ),
    Reference(
        tag="FPy", kind="software", authors="B. Saiki",
        title="FPy, an embedded language for numerical computing, with models of matrix units in "
        "examples/mmasim/models", venue="commit 1a35d183", identifier="https://github.com/bksaiki/fpy",
    ),
    Reference(
        tag="cublas_match", kind="software", authors="Meta",
        title="cublas_match, a map from the heuristic's fields of cuBLASLt to the order in which it adds, in "
        "bitequiv/cublas_match", venue="August 2026",
        identifier="https://github.com/facebookexperimental/triton",
    ),
    Reference(
        tag="CUTLASS", kind="software", authors="NVIDIA",
        title="CUTLASS, templates of matrix products for CUDA",
        venue="commit 7107b055", identifier="https://github.com/NVIDIA/cutlass",
    ),
    Reference(
        tag="STREAM-K", kind="paper", authors="M. Osama, D. Merrill, C. Cecka, M. Garland, J. D. Owens",
        title="Stream-K: Work-Centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on the "
        "GPU", venue="Principles and Practice of Parallel Programming (PPoPP)", year=2023,
        identifier="arXiv:2301.03598",
    ),
    Reference(
        tag="Triton", kind="software", authors="The authors of Triton",
        title="Triton, a language and compiler for GPUs",
        venue="commit 09858fcb", identifier="https://github.com/triton-lang/triton",
    ),
    Reference(
        tag="DeepGEMM", kind="software", authors="DeepSeek", venue="commit 54e22612",
        title="DeepGEMM, matrix products in fp8", identifier="https://github.com/deepseek-ai/DeepGEMM",
    ),
    Reference(
        tag="wmma_extension", kind="software", authors="H. Ootomo",
        title="wmma_extension, with the library of OOTOMO's algorithm (TCEC)",
        venue="commit a9e6b34e", identifier="https://github.com/wmmae/wmma_extension",
    ),
    Reference(
        tag="llvm-aie", kind="software", authors="AMD",
        title="llvm-aie, a compiler for the engines of AMD XDNA",
        venue="commit 179549d3", identifier="https://github.com/Xilinx/llvm-aie",
    ),
    Reference(
        tag="GEMMul8", kind="software", authors="RIKEN R-CCS", venue="commit 71296f99",
        title="GEMMul8, Ozaki scheme II on int8 and fp8 units", identifier="https://github.com/RIKEN-RCCS/GEMMul8",
    ),
    Reference(
        tag="ozIMMU", kind="software", authors="H. Ootomo",
        title="ozIMMU, products of fp64 matrices on integer matrix units (the Ozaki scheme)",
        venue="commit 80bb87a4", identifier="https://github.com/enp1s0/ozIMMU",
    ),
    Reference(
        tag="Spike", kind="software", authors="RISC-V International and others",
        title="Spike, the simulator of RISC-V",
        venue="commit 55b4658d", identifier="https://github.com/riscv-software-src/riscv-isa-sim",
    ),
    Reference(
        tag="Gaudi 3", kind="software", authors="Habana Labs, Intel",
        title="The arithmetic of Gaudi 3's matrix unit, used to verify its RTL",
        venue="commit e6cef1c3", identifier="https://github.com/HabanaAI/Intel_Gaudi3_Software",
    ),
    Reference(
        tag="Gaudi 2", kind="software", authors="Habana Labs, Intel",
        title="The arithmetic of Gaudi 2's matrix unit, used to verify its RTL",
        venue="commit e6cef1c3", identifier="https://github.com/HabanaAI/Intel_Gaudi3_Software",
    ),
    Reference(
        tag="Gaudi 1", kind="software", authors="Habana Labs, Intel",
        title="The arithmetic of Gaudi's matrix unit in Intel's reference of its graph compiler",
        venue="commit e6cef1c3", identifier="https://github.com/HabanaAI/Intel_Gaudi3_Software",
    ),
    Reference(
        tag="ROCm emulator", kind="software", authors="Advanced Micro Devices",
        title="rocjitsu: the dot products of RDNA3 and RDNA4, compared with a Radeon Pro W7900 and an AI Pro "
        "R9700", venue="gfx11_dot2.h of commit 48f67ab9, gfx12_dot.h of 5ac3c9c4; issue #12056",
        identifier="https://github.com/ROCm/rocm-systems",
    ),
    Reference(
        tag="Esperanto emulator", kind="software", authors="Esperanto Technologies; Ainekko",
        title="sw-sysemu, the functional emulator of ET-SoC-1", venue="commit f5e79040 of et-platform",
        identifier="https://github.com/aifoundry-org/et-platform",
    ),
    Reference(
        tag="Hexagon HMX", kind="software", authors="Qualcomm Innovation Center",
        title="Hexagon's matrix extension in Qualcomm's QEMU", identifier="https://github.com/quic/qemu",
        venue="hmx/mpy_hmx.c of commit 3aaad8ca, macros_auto.h of 3d5cf13a, mpy_fp16.c of 0e204dd4",
    ),
    Reference(
        tag="NVDLA", kind="software", authors="NVIDIA", title="NVDLA, open hardware: RTL and C model",
        venue="vmod/nvdla/cmac and cmod/cmac of commit 8e06b1b9", identifier="https://github.com/nvdla/hw",
    ),
    Reference(
        tag="Vortex", kind="software", authors="Georgia Institute of Technology and others",
        title="Vortex, an open GPU: RTL of its tensor core unit", venue="commit f7dce0c7 of a fork",
        identifier="https://github.com/LazyLatte/vortex-raytracing",
    ),
    Reference(
        tag="QEMU", kind="software", authors="F. Bellard and others", title="QEMU, a machine emulator",
        venue="version 7.2, user mode", identifier="https://www.qemu.org",
    ),
    Reference(
        tag="Bochs", kind="software", authors="S. Shwartsman and others", title="Bochs, an emulator of x86",
        venue="commit 783b58fd", identifier="https://github.com/bochs-emu/Bochs",
    ),
    Reference(
        tag="CUDA 13.0 SASS", kind="vendor document", authors="NVIDIA",
        title="Disassembled machine code (SASS) of `mma`", venue="compiler of the CUDA Toolkit 13.0",
    ),
    Reference(
        tag="PTX ISA", kind="vendor document", authors="NVIDIA", title="Parallel Thread Execution ISA",
        venue="CUDA Toolkit documentation",
    ),
    Reference(
        tag="AMD ISA", kind="vendor document", authors="Advanced Micro Devices",
        title='"AMD Instinct MI100", "AMD Instinct MI200" and "AMD Instinct MI300" Instruction Set '
        "Architecture: Reference Guides", venue="that of MI300 (CDNA3) of December 2023",
    ),
    Reference(
        tag="Intel SDM", kind="vendor document", authors="Intel",
        title="Intel 64 and IA-32 Architectures Software Developer's Manual", venue="volumes 1 and 2",
    ),
    Reference(
        tag="Arm ARM", kind="vendor document", authors="Arm",
        title="Arm Architecture Reference Manual for A-profile architecture", identifier="DDI 0487",
    ),
    Reference(
        tag="Power ISA", kind="vendor document", authors="OpenPOWER Foundation",
        title="Power Instruction Set Architecture", venue="version 3.1B",
    ),
    Reference(
        tag="IEEE 754", kind="standard", authors="IEEE",
        title="IEEE Standard for Floating-Point Arithmetic", venue="IEEE Std 754-2019",
        year=2019, identifier="doi:10.1109/IEEESTD.2019.8766229",
    ),
    Reference(
        tag="RVBNA", kind="standard", authors="RISC-V International",
        title="The RISC-V Instruction Set Manual, RISC-V Bulk Normalization Algorithm",
        venue="src/unpriv/rvbna.adoc of commit 1d472b80",
        identifier="https://github.com/riscv/riscv-isa-manual",
    ),
    Reference(
        tag="OCP OFP8", kind="standard", authors="Open Compute Project",
        title="OCP 8-bit Floating Point Specification (OFP8)", venue="revision 1.0", year=2023,
    ),
    Reference(
        tag="OCP MX", kind="standard", authors="Open Compute Project",
        title="OCP Microscaling Formats (MX) Specification", venue="version 1.0", year=2023,
    ),
)  # fmt: skip

#: Every work by its tag.
REFERENCES: dict[str, Reference] = {reference.tag: reference for reference in _ALL}

_TAGS = re.compile(
    r"(?<![\w-])(" + "|".join(map(re.escape, sorted(REFERENCES, key=len, reverse=True))) + r")(?![\w-])"
)


def references(text: str) -> tuple[Reference, ...]:
    """The works that a source text cites, without repetition; empty for a text without tags."""
    return tuple(REFERENCES[tag] for tag in dict.fromkeys(_TAGS.findall(text)))
