"""Where a command writes, and what it says about it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.text import Text


def safe(text: str) -> str:
    """Return `text` as part of a file name that LaTeX can include.

    Examples
    --------
    >>> safe("paper(anomaly_subset=fixed)")
    'paper_anomaly_subset=fixed'
    """
    return re.sub(r"[^\w=.-]+", "_", text).strip("_")


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
        """Write a file below the folder (or at an absolute path) and remember it."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content, encoding="utf-8")
        self.written.append(path)
        return path

    def finish(self) -> None:
        """Print the remarks and the files."""
        for remark in dict.fromkeys(self.remarks):
            self.console.print(Text(f"note: {remark}", style="yellow"))
        for path in self.written:
            # Paths are printed whole, so that they can be copied.
            self.console.print(Text(f"wrote {path}"), soft_wrap=True)
