"""Policies that put each job inside one node, where its input file may already be."""
