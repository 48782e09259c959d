"""Deadline-based backfilling (DBF): jobs with a deadline make room for the others while they can."""
