"""Redirection: a running job that holds up many newcomers starts again in a group of its own."""
