"""Results are computed from records alone: nothing here imports what made them."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted(path.relative_to(ROOT) for path in (ROOT / "results").rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=str)
def test_results_import_no_other_package_of_the_project(path):
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide where things come from"
            modules = [node.module or ""]
        for module in modules:
            assert module.partition(".")[0] not in (
                "ocrf",
                "baselines",
                "datasets",
                "runners",
                "conf",
            )
