"""``python -m runners``: run one cell, or with ``-m`` a sweep of cells."""

from runners.app import main

if __name__ == "__main__":
    raise SystemExit(main())
