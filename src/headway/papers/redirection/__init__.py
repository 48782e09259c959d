"""Faure, Lucarelli, Richard, Trystram, "Online Scheduling with Redirection for Parallel Jobs", IPDPSW 2020.

The paper's campaign (weeks, exact estimates, tau = 60 s, thetas, alphas, one baseline per alpha), its two
figures, the readings it leaves open, its claims with our numbers beside them, and what lies beyond it.
"""
