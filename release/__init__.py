"""Making a release: build the wheel and the sdist, look inside, and try them where nothing else is installed.

python -m release [--python PYTHON ...] [--dist FOLDER]
"""
