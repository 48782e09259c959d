"""``python -m headway``."""

from __future__ import annotations

from headway.cli import main

if __name__ == "__main__":
    main()
