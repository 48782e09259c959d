"""N'takpé, Suter, "Prise en compte de tâches non-prioritaires dans l'ordonnancement batch", Compas 2016.

Its two tables (conservative backfilling, DBF with deadlines of 24 h and of 72 h), the readings it leaves
open, its claims with our numbers beside them; then the share of flexible tasks and the length of the
deadline, which it names as future work, who pays and who gains.
"""
