"""``python -m runners.theory``: draw the paper's illustrations of the method."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib as mpl

from datasets.command import carried_out
from results.options import Parser
from runners.theory import gamma_split, level_sets, outlier_density
from runners.theory.illustration import STYLE, Illustration

ILLUSTRATIONS: dict[str, Callable[..., Illustration]] = {
    "outlier_density": outlier_density.illustrate,
    "gamma_split": gamma_split.illustrate,
    "level_sets": level_sets.illustrate,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw and save the illustrations; print what each shows."""
    parser = Parser(
        prog="python -m runners.theory",
        description="Draw the paper's illustrations of the method (PDF, PNG, and captions).",
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"which ones, of {', '.join(ILLUSTRATIONS)} (default: all)",
    )
    parser.add_argument(
        "--output", type=Path, default=Path("output"), help="folder to write to (default: output)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the samples (default: 0)")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in ILLUSTRATIONS]
    if unknown:
        parser.error(f"no illustration {unknown[0]!r}; there are {', '.join(ILLUSTRATIONS)}")
    return carried_out(lambda: _draw(options))


def _draw(options: argparse.Namespace) -> int:
    for name in options.names or ILLUSTRATIONS:
        with mpl.rc_context(STYLE):
            illustration = ILLUSTRATIONS[name](seed=options.seed)
            written = illustration.save(options.output / "figures")
        print(illustration.text())
        for path in written:
            print(f"wrote {path}")
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
