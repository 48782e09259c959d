"""Batsim's protocol from both sides: schedulers of others on our engine, and our policies behind Batsim."""
