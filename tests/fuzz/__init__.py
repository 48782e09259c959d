"""Damaged and hostile inputs by the thousand, for every file that Headway reads and every file it writes.

``python -m fuzz`` in the folder of the tests, or ``make fuzz``; a few of each kind run with the tests.
"""
