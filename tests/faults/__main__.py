"""``python -m tests.faults [NAME ...]``: break things, and print fault, expected, seen."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.faults.scenarios import SCENARIOS


def main() -> int:
    """Run the scenarios; return 0 if all went as expected."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SCENARIOS))
    names = parser.parse_args().names or list(SCENARIOS)
    if unknown := [name for name in names if name not in SCENARIOS]:
        parser.error(f"no fault {unknown[0]!r}; there are {', '.join(SCENARIOS)}")
    table = Table("fault", "expected", "seen", "s", title="Faults")
    bad = 0
    for name in names:
        expected, scenario = SCENARIOS[name]
        began = time.monotonic()
        print(f"{name} ...", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(prefix="faults-") as folder:
            try:
                findings = scenario(Path(folder))
            except PermissionError as error:
                seen, style = f"not tried: {error}", "yellow"
            else:
                bad += bool(findings.problems)
                seen = "; ".join(findings.problems or findings.seen)
                style = "red" if findings.problems else ""
        seconds = f"{time.monotonic() - began:.0f}"
        table.add_row(name, expected, seen, seconds, style=style)
        if style == "red":
            print(f"  {seen}", file=sys.stderr, flush=True)
    Console(width=None if sys.stdout.isatty() else 150).print(table)
    print(f"{len(names) - bad} of {len(names)} as expected")
    return int(bad > 0)


if __name__ == "__main__":
    raise SystemExit(main())
