"""Where a command writes, and what it says about it."""

from __future__ import annotations

import io
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console
from rich.text import Text

from results.records.files import write_atomically
from results.records.statuses import MISSING

if TYPE_CHECKING:
    import pandas as pd

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def make_console() -> Console:
    """Return a console for standard output.

    What standard output cannot encode is replaced. Output that goes to a file or a pipe is not cut
    to a terminal's width.
    """
    if sys.stdout is None:  # closed by whoever started the process: ``>&-``
        return Console(file=io.StringIO(), width=200)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    stream: Any = _UntilClosed(sys.stdout)
    # Names of data sets and algorithms are printed as they are: [bold] and :smile: too.
    literal: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}
    console = Console(file=stream, **literal)
    return console if console.is_terminal else Console(file=stream, width=200, **literal)


class _UntilClosed:
    """A stream whose reader may go away (``| head``): the rest is not printed, and no error."""

    def __init__(self, stream: TextIO):
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        return self._try(self._stream.write, text) or 0

    def flush(self) -> None:
        self._try(self._stream.flush)

    def _try(self, act: Any, *arguments: str) -> Any:
        try:
            return act(*arguments)
        except BrokenPipeError:
            # What is left in the stream's buffer goes nowhere when the interpreter ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
        except OSError as error:
            error.filename = error.filename or "standard output"
            raise
        return None


def csv_text(frame: pd.DataFrame) -> str:
    """Return a table as CSV in which no field is a formula.

    A spreadsheet computes fields that begin with ``=``, ``+``, ``-`` or ``@``. Those that are not
    numbers, and not the mark of a missing value, get an apostrophe before them.

    Examples
    --------
    >>> import pandas as pd
    >>> print(csv_text(pd.DataFrame({"dataset": ["=1+1", "pima"], "x": ["-0.5", "--"]})), end="")
    dataset,x
    '=1+1,-0.5
    pima,--
    """
    safe = frame.map(_harmless).set_axis([_harmless(name) for name in frame.columns], axis=1)
    return str(safe.to_csv(index=False, lineterminator="\n"))


def _harmless(text: object) -> object:
    if not isinstance(text, str) or not text.startswith(("=", "+", "-", "@", "\t", "\r")):
        return text
    return text if text == MISSING or _NUMBER.fullmatch(text) else f"'{text}"


@dataclass
class Output:
    """Files written by one command, and remarks to its reader.

    Attributes
    ----------
    folder : Path
        Usually ``output``.
    console : Console
    written : list of Path
    remarks : list of str
    """

    folder: Path
    console: Console
    written: list[Path] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def write(self, name: str | Path, content: str | bytes) -> Path:
        """Write a file below the folder (or at an absolute path) and remember it.

        Raises
        ------
        OSError
            With the name of the file, which holds what it held before.
        """
        path = self.folder / name
        data = content if isinstance(content, bytes) else content.encode("utf-8")
        if path.exists() and not path.is_file():
            path.write_bytes(data)  # a device or a pipe, /dev/stdout for example
        else:
            write_atomically(path.resolve(), data)
        self.written.append(path)
        return path

    def finish(self) -> None:
        """Print the remarks and the files."""
        for remark in dict.fromkeys(self.remarks):
            self.console.print(Text(f"note: {remark}", style="yellow"))
        for path in self.written:
            # Paths are printed whole, so that they can be copied.
            self.console.print(Text(f"wrote {path}"), soft_wrap=True)
