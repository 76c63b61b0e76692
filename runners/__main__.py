"""``python -m runners``: run one cell, or with ``-m`` a sweep of cells."""

import gc
import sys

INTERRUPTED = 130  # 128 + SIGINT

if __name__ == "__main__":
    try:
        # Inside: the imports take a second, and a Ctrl-C in it deserves no traceback either.
        gc.disable()  # what is imported stays: going through it takes a tenth of the time
        from runners.app import main

        gc.freeze()
        gc.enable()
        status = main()
    except KeyboardInterrupt:
        print("Ctrl-C: ended before an experiment began", file=sys.stderr)
        status = INTERRUPTED
    raise SystemExit(status)
