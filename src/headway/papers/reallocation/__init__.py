"""Caniou, Charrier, Desprez, "Evaluation of Reallocation Heuristics for Moldable Tasks", AusPDC 2011.

Seven scenarios (six months of three Grid'5000 sites, and six months of Bordeaux with CTC and
SDSC), dedicated and not, clusters of different and of equal speed, four couples of heuristic and algorithm,
ten seeds, each against a reference of its own; its figures and claims with ours beside them; then what it
does not ask: molding itself, the period, the number of clusters, estimates, other local policies.
"""
