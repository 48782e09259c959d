"""Scheduling policies, one file each, named as the field names them."""
