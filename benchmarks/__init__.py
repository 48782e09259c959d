"""How fast Headway is, measured in one run so that the numbers can be compared with each other.

    python -m benchmarks [--quick] [--only SECTION ...] [--json FILE] [--page FILE] [--traces FOLDER]

Rates are jobs per CPU second of the simulation proper (no reading, no audit, no files). Nothing here is a
test: numbers depend on the machine, and none of them fails a build.
"""
