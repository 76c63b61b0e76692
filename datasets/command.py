"""What command lines share: how they end when a request is wrong or cannot be carried out."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
from collections.abc import Callable

from datasets.errors import DataError
from datasets.mistakes import MISUSE, in_words

USAGE_ERROR = 2


def carried_out(work: Callable[[], int]) -> int:
    """Do the work of a command line.

    What is wrong with a request, or cannot be read or written, is said in one line on standard
    error. A reader of standard output who leaves (``| head``) ends the command without a word.

    Parameters
    ----------
    work : callable
        Returns the exit status.

    Returns
    -------
    int
        The exit status: that of the work, or 2.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # of what its encoding lacks
    try:
        with contextlib.redirect_stdout(sys.stdout or io.StringIO()):  # closed: ``>&-``
            status = work()
            sys.stdout.flush()
        return status
    except BrokenPipeError:
        discard_output()
        return 128 + signal.SIGPIPE
    except DataError as error:
        said = str(error)
    except MISUSE as error:
        said = in_words(error)
    except OSError as error:
        said = f"{error.filename or _not_named()}: {error.strerror or error}"
    print(said, file=sys.stderr)
    return USAGE_ERROR


def _not_named() -> str:
    """Return what an error of the operating system is about that names no file."""
    try:
        print(flush=True)  # after an error the buffer may be empty
    except OSError:
        discard_output()
        return "standard output"
    return "error"


def discard_output() -> None:
    """Let what is left in the buffer of standard output go nowhere when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
