"""Urgent jobs first (UJF, UJFB): they start at once; regular ones are suspended or killed for them."""
