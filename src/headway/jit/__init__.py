"""How kernels are compiled and kept: the one room that knows numba. Importing it loads nothing."""
