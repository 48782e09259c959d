"""What backfill plans with: plans on nodes, and the search for the earliest start."""
