"""A trained agent as a policy: a small network that chooses among the first jobs of the queue."""
