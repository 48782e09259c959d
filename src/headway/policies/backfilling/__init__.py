"""EASY and conservative backfilling: one idea, with reservations for one job, for some, or for all."""
