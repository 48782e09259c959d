"""Strict orders: FCFS, SJF and the others, without backfilling; and what every queue has, its order."""
