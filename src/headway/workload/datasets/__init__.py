"""Public logs by name: what they contain, their traps, where to get them, and the local copies of them."""
