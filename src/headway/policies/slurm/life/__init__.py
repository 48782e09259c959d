"""What happens to jobs: they start and end, make others go, take turns, lose their nodes."""
