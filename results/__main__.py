"""``python -m results``: see :mod:`results.cli`."""

import sys

from results.cli import main

if __name__ == "__main__":
    sys.exit(main())
