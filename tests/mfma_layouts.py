"""Where AMD's matrix instructions hold the elements of their matrices, as AMD's own tool prints it.

Source: AMD Matrix Instruction Calculator 1.3.2 (github.com/ROCm/amd_matrix_instruction_calculator, commit
2ef9189), the lines "Matrix element to register mapping with no modifiers" of `--detail-instruction` for
every instruction of CDNA1, CDNA2 and CDNA3 in the catalogue, and those on integers of RDNA3 and RDNA4 in
wavefronts of 32; its floor(x / y) is x // y here.  An item is an
element of a lane, counted from the low bits of the lane's first register on: four 16-bit elements to two
registers, one 64-bit element to a pair of registers.
"""

from __future__ import annotations

from collections.abc import Callable

#: (block, row, column) -> lane and item.
Place = Callable[[int, int, int], tuple[int, int]]

#: (m, k, blocks) -> A[i][k] of a block; B[k][j] stands where A has i = j.
A: dict[tuple[int, int, int], Place] = {
    (32, 1, 2): lambda block, i, k: (32 * block + i, 0),
    (32, 2, 1): lambda block, i, k: (32 * k + i, 0),
    (16, 1, 4): lambda block, i, k: (16 * block + i, 0),
    (16, 4, 1): lambda block, i, k: (16 * k + i, 0),
    (4, 1, 16): lambda block, i, k: (4 * block + i, 0),
    (4, 4, 4): lambda block, i, k: (4 * block + 16 * k + i, 0),
    (32, 2, 2): lambda block, i, k: (32 * block + i, k),
    (32, 4, 1): lambda block, i, k: (32 * (k // 2) + i, k % 2),
    (16, 2, 4): lambda block, i, k: (16 * block + i, k),
    (16, 8, 1): lambda block, i, k: (16 * (k // 2) + i, k % 2),
    (4, 2, 16): lambda block, i, k: (4 * block + i, k),
    (32, 4, 2): lambda block, i, k: (32 * block + i, 2 * (k // 2) + k % 2),
    (32, 8, 1): lambda block, i, k: (32 * (k // 4) + i, 2 * (k // 2 % 2) + k % 2),
    (16, 4, 4): lambda block, i, k: (16 * block + i, 2 * (k // 2) + k % 2),
    (16, 16, 1): lambda block, i, k: (16 * (k // 4) + i, 2 * (k // 2 % 2) + k % 2),
    (4, 4, 16): lambda block, i, k: (4 * block + i, 2 * (k // 2) + k % 2),
    (32, 16, 1): lambda block, i, k: (32 * (k // 8) + i, 4 * (k // 4 % 2) + k % 4),
    (16, 32, 1): lambda block, i, k: (16 * (k // 8) + i, 4 * (k // 4 % 2) + k % 4),
}
#: RDNA, (architecture, k); on RDNA3 the other sixteen lanes hold the same.
A_RDNA: dict[tuple[str, int], Place] = {
    ("rdna3", 16): lambda block, i, k: (i, k),
    ("rdna4", 16): lambda block, i, k: (16 * (k // 8) + i, k % 8),
    ("rdna4", 32): lambda block, i, k: (16 * (k // 16) + i, k % 16),
}
D_RDNA: dict[str, Place] = {
    "rdna3": lambda block, i, j: (16 * i % 32 + j, i // 2),
    "rdna4": lambda block, i, j: (16 * (i // 8) + j, i % 8),
}
#: B[k][j] of sparse instructions, (n, k of B): `--detail-instruction` of CDNA3 and RDNA4.
B_SPARSE: dict[tuple[int, int], Place] = {
    (16, 32): lambda block, j, k: (16 * (k // 8) + j, k % 8),
    (32, 16): lambda block, j, k: (32 * (k // 8) + j, k % 8),
    (16, 64): lambda block, j, k: (16 * (k // 16) + j, k % 16),
    (32, 32): lambda block, j, k: (32 * (k // 16) + j, k % 16),
}
B_SPARSE_RDNA4: dict[int, Place] = {
    32: lambda block, j, k: (16 * (k // 16) + j, k % 16),
    64: lambda block, j, k: (16 * (k // 32) + j, k % 32),
}
#: (m, blocks, format of the result; that of int32 stands as fp32) -> C[i][j] and D[i][j] of a block.
D: dict[tuple[int, int, str], Place] = {
    (32, 1, "fp32"): lambda block, i, j: (32 * (i // 4) % 64 + j, 4 * (i // 8) + i % 4),
    (32, 2, "fp32"): lambda block, i, j: (32 * (i // 4) % 64 + j, 16 * block + 4 * (i // 8) + i % 4),
    (16, 1, "fp32"): lambda block, i, j: (16 * (i // 4) + j, i % 4),
    (16, 4, "fp32"): lambda block, i, j: (16 * (i // 4) + j, 4 * block + i % 4),
    (4, 16, "fp32"): lambda block, i, j: (4 * block + j, i),
    (16, 1, "fp64"): lambda block, i, j: (16 * (i % 4) + j, i // 4),
    (4, 4, "fp64"): lambda block, i, j: (16 * (i % 4) + 4 * block + j, 0),
}

#: Lanes of D[i][j] of the four blocks of v_mfma_f64_4x4x4, as `--register-layout --D-matrix` prints them for
#: CDNA2 (v_mfma_f64_4x4x4f64) and for CDNA3 (v_mfma_f64_4x4x4_4b_f64); those of C are the same.
D_F64_4X4X4 = [
    [[0, 1, 2, 3], [16, 17, 18, 19], [32, 33, 34, 35], [48, 49, 50, 51]],
    [[4, 5, 6, 7], [20, 21, 22, 23], [36, 37, 38, 39], [52, 53, 54, 55]],
    [[8, 9, 10, 11], [24, 25, 26, 27], [40, 41, 42, 43], [56, 57, 58, 59]],
    [[12, 13, 14, 15], [28, 29, 30, 31], [44, 45, 46, 47], [60, 61, 62, 63]],
]
