"""Swapping times of the NAS parallel benchmarks, measured on vector engines.

M. Agung, Y. Watanabe, H. Weber, R. Egawa and H. Takizawa, "Preemptive parallel job scheduling for
heterogeneous systems supporting urgent computing", IEEE Access 9, 2021, pages 17557-17571, Table 3. The
times of LU in class A (0.073 s, where 0.020 would fit) and of FT in class C (0.676 s, where 0.48 would fit)
stand as printed; both look like misprints. Without them size against time is a line of 6071 MB/s.
"""

from __future__ import annotations

SWAP_TABLE: tuple[tuple[str, str, float, float], ...] = (
    ("A", "BT", 118.531, 0.022),
    ("A", "CG", 123.727, 0.023),
    ("A", "EP", 76.020, 0.014),
    ("A", "FT", 396.707, 0.073),
    ("A", "IS", 133.559, 0.024),
    ("A", "LU", 110.238, 0.073),
    ("A", "MG", 506.758, 0.093),
    ("A", "SP", 120.523, 0.022),
    ("B", "BT", 248.621, 0.040),
    ("B", "CG", 512.705, 0.082),
    ("B", "EP", 76.020, 0.012),
    ("B", "FT", 1630.167, 0.259),
    ("B", "IS", 331.559, 0.053),
    ("B", "LU", 215.742, 0.034),
    ("B", "MG", 608.109, 0.097),
    ("B", "SP", 256.770, 0.041),
    ("C", "BT", 573.680, 0.106),
    ("C", "CG", 741.656, 0.138),
    ("C", "EP", 76.023, 0.014),
    ("C", "FT", 2602.986, 0.676),
    ("C", "IS", 842.672, 0.156),
    ("C", "LU", 633.914, 0.118),
    ("C", "MG", 1741.941, 0.323),
    ("C", "SP", 797.586, 0.148),
    ("D", "BT", 1223.390, 0.201),
    ("D", "CG", 1071.495, 0.176),
    ("D", "EP", 76.023, 0.013),
    ("D", "FT", 5127.443, 0.844),
    ("D", "IS", 2116.223, 0.348),
    ("D", "LU", 1116.267, 0.184),
    ("D", "MG", 2469.829, 0.406),
    ("D", "SP", 1441.358, 0.237),
)
"""(input class, benchmark, average size in MB, average swapping time in s)."""
