"""The README's examples of the estimator run as they stand, and print what it says they print."""

import re
from pathlib import Path

import matplotlib as mpl
import pytest

ROOT = Path(__file__).parents[2]

mpl.use("Agg")


@pytest.fixture(name="section")
def read_section():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return text.partition("\n## The estimator\n")[2].partition("\n## ")[0]


def test_the_examples_print_what_the_readme_says(section, capsys, monkeypatch, tmp_path):
    blocks = re.findall(r"^```(python|text)\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    assert [kind for kind, _ in blocks] == ["python", "python", "text", "python"]
    (tmp_path / "datasets").symlink_to(ROOT / "datasets")
    monkeypatch.chdir(tmp_path)
    known = {}
    for kind, block in blocks:
        if kind == "python":
            exec(compile(block, "README.md", "exec"), known)
        else:
            assert capsys.readouterr().out == block
    pictures = [(tmp_path / f"row{row}.png").read_bytes() for row in (715, 4)]
    assert pictures[0] != pictures[1]
    import matplotlib.pyplot as plt

    assert len(plt.get_fignums()) == 2, "one is drawn over the other"
    plt.close("all")
