"""Papers the catalogue cites more than once."""

from __future__ import annotations

MUALEM_2001 = (
    "A. W. Mu'alem and D. G. Feitelson, \"Utilization, predictability, workloads, and user runtime estimates "
    'in scheduling the IBM SP2 with backfilling", IEEE Transactions on Parallel and Distributed Systems '
    "12(6), 2001, pages 529-543, doi:10.1109/71.932708"
)
FEITELSON_1998 = (
    "D. G. Feitelson and A. Mu'alem Weil, \"Utilization and predictability in scheduling the IBM SP2 with "
    'backfilling", 12th International Parallel Processing Symposium (IPPS/SPDP), 1998, pages 542-546, '
    "doi:10.1109/IPPS.1998.669970"
)
LIFKA_1995 = (
    'D. A. Lifka, "The ANL/IBM SP scheduling system", Job Scheduling Strategies for Parallel Processing, '
    "LNCS 949, 1995, pages 295-303, doi:10.1007/3-540-60153-8_35"
)
TSAFRIR_2007 = (
    'D. Tsafrir, Y. Etsion and D. G. Feitelson, "Backfilling using system-generated predictions rather than '
    'user runtime estimates", IEEE Transactions on Parallel and Distributed Systems 18(6), 2007, '
    "pages 789-803, doi:10.1109/TPDS.2007.70606"
)
LELONG_2017 = (
    'J. Lelong, V. Reis and D. Trystram, "Tuning EASY-backfilling queues", Job Scheduling Strategies for '
    "Parallel Processing, LNCS 10773, 2017, pages 43-61, doi:10.1007/978-3-319-77398-8_3"
)
AIDA_2000 = (
    'K. Aida, "Effect of job size characteristics on job scheduling performance", Job Scheduling Strategies '
    "for Parallel Processing, LNCS 1911, 2000, pages 1-17, doi:10.1007/3-540-39997-6_1"
)
SRINIVASAN_2002 = (
    'S. Srinivasan, R. Kettimuthu, V. Subramani and P. Sadayappan, "Characterization of backfilling '
    'strategies for parallel job scheduling", International Conference on Parallel Processing Workshops, '
    "2002, pages 514-519, doi:10.1109/ICPPW.2002.1039773"
)
TANG_2009 = (
    'W. Tang, Z. Lan, N. Desai and D. Buettner, "Fault-aware, utility-based job scheduling on Blue Gene/P '
    'systems", IEEE International Conference on Cluster Computing, 2009, pages 1-10, '
    "doi:10.1109/CLUSTR.2009.5289206"
)
CARASTAN_SANTOS_2017 = (
    'D. Carastan-Santos and R. Y. de Camargo, "Obtaining dynamic scheduling policies with simulation and '
    'machine learning", International Conference for High Performance Computing, Networking, Storage and '
    "Analysis (SC'17), 2017, article 32, doi:10.1145/3126908.3126955"
)
FAURE_2020 = (
    'A. Faure, G. Lucarelli, O. Richard and D. Trystram, "Online scheduling with redirection for parallel '
    'jobs", IEEE International Parallel and Distributed Processing Symposium Workshops (IPDPSW), 2020, '
    "doi:10.1109/IPDPSW50202.2020.00066"
)
NTAKPE_2016 = (
    "T. N'takpé and F. Suter, \"Prise en compte de tâches non-prioritaires dans l'ordonnancement batch\", "
    "Conférence d'informatique en Parallélisme, Architecture et Système (Compas), 2016, hal-01420693"
)
GONTHIER_2022 = (
    'M. Gonthier, L. Marchal, S. Thibault, E. Larsson and C. Nettelblad, "Locality-aware batch scheduling of '
    'jobs sharing input files", slides, Uppmax meeting, June 14, 2022'
)
GONTHIER_2023 = (
    'M. Gonthier, E. Larsson, L. Marchal, C. Nettelblad and S. Thibault, "Locality-aware batch scheduling of '
    'jobs sharing input files", research report and drafts, 2023'
)
CANIOU_2010 = (
    'Y. Caniou, G. Charrier and F. Desprez, "Evaluation of reallocation heuristics for moldable tasks in '
    'computational dedicated and non dedicated grids", INRIA, technical report RR-7365, 2010'
)
CANIOU_2011 = (
    'Y. Caniou, G. Charrier and F. Desprez, "Evaluation of reallocation heuristics for moldable tasks in '
    'computational grids", 9th Australasian Symposium on Parallel and Distributed Computing (AusPDC), '
    "CRPIT 118, 2011"
)
DOWNEY_1997 = (
    'A. B. Downey, "A model for speedup of parallel programs", University of California at Berkeley, '
    "technical report CSD-97-933, 1997"
)
AGUNG_2021 = (
    'M. Agung, Y. Watanabe, H. Weber, R. Egawa and H. Takizawa, "Preemptive parallel job scheduling for '
    'heterogeneous systems supporting urgent computing", IEEE Access 9, 2021, pages 17557-17571, '
    "doi:10.1109/ACCESS.2021.3053162"
)
