"""Records made from the published numbers give the paper's tables back, to the last digit.

The paper's own slips are kept out of the code and named here:

- Its outlier table prints the best ROC value of each row in bold but no PR value; ours prints both.
- Its OCRFsampling column of the outlier table was made with training labels; ours stands under
  ``ocrfsampling_supervised`` and is marked.
- Its outlier table prints the average of OCRFsampling in bold, which is over fewer data sets than
  those that it is compared with; ours prints the best of those over all.
- iForest's PR on adult in Table 2 (.227) is .277 in the authors' own figure; with .277 the average
  would be .315, so the average row was computed with the slip. The table is followed.
"""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from results.published import paper
from results.records.frame import from_records
from results.tables.latex import table_to_latex
from results.tables.model import TableOptions
from results.tables.text import table_to_csv, table_to_markdown
from results.tables.write import build_tables

METRICS = ("roc_auc_curve", "pr_auc_curve")
SETTINGS = ("novelty", "outlier")


@pytest.fixture(scope="module")
def tables(paper_records):
    return dict(
        zip(SETTINGS, build_tables(from_records(paper_records), TableOptions()), strict=True)
    )


def as_run(setting, column):
    rows = paper.columns().query("as_run and setting == @setting and column == @column")
    return rows["algorithm"].item()


def printed(value):
    return "NA" if np.isnan(value) else f"{value:.3f}"


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_cell_has_the_published_digits_or_na(tables, setting):
    table = tables[setting]
    rows = paper.cells().query("setting == @setting")
    assert len(rows) == 96
    for row in rows.to_dict("records"):
        label = as_run(setting, row["column"])
        for metric in METRICS:
            entry = table.entries[row["dataset"], label, metric]
            assert entry.plain == printed(row[metric]), (row["dataset"], label, metric)


@pytest.mark.parametrize("setting", SETTINGS)
def test_averages_have_the_published_digits(tables, setting):
    averages = pd.read_csv(paper.FOLDER / "averages.csv").query("setting == @setting")
    for _, column, *areas in averages.itertuples(index=False):
        for metric, area in zip(METRICS, areas, strict=True):
            entry = tables[setting].entries["average", as_run(setting, column), metric]
            assert entry.text == printed(area), (column, metric)


@pytest.mark.parametrize("setting", SETTINGS)
def test_cumulative_training_times_are_the_published_ones(tables, setting):
    for row in paper.train_times().query("setting == @setting").to_dict("records"):
        expected = "NA" if np.isnan(row["seconds"]) else f"{row['seconds']:.0f}s"
        assert (
            tables[setting].entries["train_time", as_run(setting, row["column"]), ""].text
            == expected
        )


@pytest.mark.parametrize("setting", SETTINGS)
def test_bold_cells_are_the_paper_s(tables, setting):
    table = tables[setting]
    bold = pd.read_csv(Path(__file__).parent / "published_bold.csv", keep_default_na=False)
    bold = bold[bold["setting"] == setting]
    expected = {
        (row["line"], as_run(setting, row["algorithm"]), row["metric"])
        for row in bold.to_dict("records")
    }
    own_lines = {"average_common", "mean_rank", "total_time"}
    ours = {at for at, entry in table.entries.items() if entry.bold and at[0] not in own_lines}
    if setting == "outlier":  # the slips named above
        ours = {at for at in ours if at[2] != "pr_auc_curve"}
        slip, best = (
            ("average", label, "roc_auc_curve") for label in ("ocrfsampling_supervised", "iforest")
        )
        assert slip in expected
        assert table.entries[slip].flag == " (7)"
        expected = expected - {slip} | {best}
    assert ours == expected


def test_best_pr_values_of_the_outlier_table_are_bold_although_the_paper_s_are_not(tables):
    entries = tables["outlier"].entries
    bold = {at[0] for at, entry in entries.items() if entry.bold and at[2] == "pr_auc_curve"}
    assert set(paper.datasets().index) <= bold


def test_columns_come_in_the_paper_s_order_and_label_users_are_marked(tables):
    headings = [tables["novelty"].heading(label) for label in tables["novelty"].algorithms]
    assert headings == list(dict.fromkeys(paper.cells()["column"]))
    assert tables["outlier"].heading("ocrfsampling_supervised") == "OCRFsampling (supervised)‡"
    assert any("‡" in note for note in tables["outlier"].notes)
    assert not tables["novelty"].flags


def test_average_over_common_data_sets_uses_the_five_that_all_finished(tables):
    common = ["arrhythmia", "ionosphere", "pima", "spambase", "wilt"]
    rows = paper.cells()[paper.cells()["dataset"].isin(common)]
    for setting, table in tables.items():
        values = rows[rows["setting"] == setting]
        means = values.groupby("column")["roc_auc_curve"].mean()
        for column, mean in means.items():
            entry = table.entries["average_common", as_run(setting, column), "roc_auc_curve"]
            assert entry.text == f"{mean:.3f}"


def test_mean_ranks_by_hand(tables):
    """wilt, pima, ... ROC ranks of LSAD in Table 2's five complete rows: 2, 1, 5, 3, 3."""
    entry = tables["novelty"].entries["mean_rank", "lsad", "roc_auc_curve"]
    assert entry.text == "2.80"
    assert entry.bold


def test_latex_rows_read_as_the_paper_s(tables):
    latex = table_to_latex(tables["novelty"])
    assert (
        r"wilt & 0.593 & 0.070 & 0.491 & 0.045 & 0.442 & 0.038 & 0.323 & 0.036 & 0.697 & 0.092 & "
        r"0.441 & 0.030 & 0.677 & 0.074 & \textbf{0.896} & \textbf{0.631} \\"
    ) in latex
    assert (
        r"cum. train time: & \multicolumn{2}{c}{\textbf{61s}} & \multicolumn{2}{c}{68s} & "
        r"\multicolumn{2}{c}{NA} & \multicolumn{2}{c}{NA} & \multicolumn{2}{c}{NA} & "
        r"\multicolumn{2}{c}{2232s} & \multicolumn{2}{c}{73s} & \multicolumn{2}{c}{NA} \\"
    ) in latex
    for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\cmidrule{1-17}"):
        assert rule in latex


def test_markdown_and_csv_hold_the_same_numbers(tables):
    table = tables["novelty"]
    assert "**0.896**" in table_to_markdown(table)
    text = table_to_csv(table)
    assert text.startswith("dataset,oneclassrf roc_auc_curve,oneclassrf pr_auc_curve,iforest")
    by_name = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    by_name = by_name.set_index("dataset")
    assert by_name.loc["adult"].iloc[:4].tolist() == ["0.665", "0.278", "0.661", "0.227"]
    column = "ocrfsampling roc_auc_curve"
    assert by_name.loc["adult", [column, f"{column} mark"]].tolist() == ["", "timeout"]
    column = f"{table.algorithms[-1]} pr_auc_curve"
    assert by_name.loc["average", [column, f"{column} mark"]].tolist() == ["0.385", "(5)"]
    assert by_name.loc["train_time_seconds"].iloc[:3].tolist() == ["61", "", "68"]


def test_every_column_of_a_csv_is_numbers_or_marks(tables):
    for table in tables.values():
        frame = pd.read_csv(io.StringIO(table_to_csv(table)), index_col="dataset")
        for name in frame:
            assert name.endswith(" mark") or frame[name].dtype == "float64", name
