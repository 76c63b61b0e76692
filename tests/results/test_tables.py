"""Marks, options and layouts of the tables."""

import io
import re
from dataclasses import replace

import pandas as pd
import pytest
from rich.console import Console

from results.records.frame import from_records
from results.tables.latex import escape, standalone, table_to_latex
from results.tables.model import TableOptions
from results.tables.text import print_table, table_to_csv, table_to_markdown
from results.tables.write import Slice, build_tables
from tests.results.support import make_record, splits

ROC = "roc_auc_curve"


def only_table(records, **options):
    tables = build_tables(from_records(records), TableOptions(**options))
    assert len(tables) == 1
    return tables[0]


@pytest.mark.parametrize(
    ("statuses", "text"),
    [
        (["timeout", "skipped", "skipped"], "NA"),
        (["ok", "ok", "timeout"], "NA"),
        (["memory"] * 3, "mem"),
        (["crashed"] * 3, "crash"),
        (["error"] * 3, "err"),
        (["no_data"] * 3, "no data"),
        (["ok", "error", "ok"], "0.900†§"),
    ],
)
def test_only_a_deadline_gives_na_and_other_failures_are_told_apart(statuses, text):
    records = [
        make_record(split=i, status=status, config={"n_splits": 3})
        for i, status in enumerate(statuses)
    ]
    table = only_table([*records, *splits(3, algorithm="lof", config={"n_splits": 3})])
    entry = table.entries["pima", "iforest", "roc_auc_curve"]
    assert entry.plain == text
    marks = [text] if "0.900" not in text else list(text.removeprefix("0.900"))
    assert all(any(f"{mark}: " in note for note in table.notes) for mark in marks)


def test_a_mean_over_fewer_splits_than_another_is_never_the_best_of_its_line():
    few = [*splits(2, algorithm="lof", roc=0.95), *splits(2, algorithm="lof", dataset="wilt")]
    # As a command line with n_splits=2 leaves them.
    few = [replace(record, config=record.config | {"n_splits": 2}) for record in few]
    table = only_table([*splits(), *splits(dataset="wilt"), *few])
    best = {(line, name): e.bold for (line, name, m), e in table.entries.items() if m == ROC}
    assert table.entries["pima", "lof", ROC].plain == "0.950†§"
    assert [best["pima", name] for name in ("iforest", "lof")] == [True, False]
    assert table.entries["average", "lof", ROC].plain == "0.925§"
    assert [best["average", name] for name in ("iforest", "lof")] == [True, False]
    # With one algorithm left there is nothing to compare.
    assert not any(line.key in ("average_common", "mean_rank") for line in table.lines)
    assert "†: fewer splits than the protocol has; §: " in table.notes[-1]


def test_where_all_have_as_few_splits_they_are_compared_and_marked():
    table = only_table([*splits(2), *splits(2, algorithm="lof", roc=0.95)])
    assert table.entries["pima", "lof", ROC].plain == "0.950†"
    assert table.entries["pima", "lof", ROC].bold
    assert table.entries["mean_rank", "lof", ROC].plain == "1.00"


def test_means_over_as_many_but_other_splits_are_not_compared_and_marked():
    later = [make_record(algorithm="lof", split=split, roc=0.95) for split in range(5, 10)]
    table = only_table([*splits(5), *later, *splits(5, algorithm="orca", roc=0.7)])
    entries = [table.entries["pima", name, ROC] for name in ("iforest", "lof", "orca")]
    assert [entry.plain for entry in entries] == ["0.900†", "0.950†§", "0.700†"]
    assert [entry.bold for entry in entries] == [True, False, False]
    assert "§: other splits than those of most" in table.notes[-1]
    rank = {name: table.entries["mean_rank", name, ROC].plain for name in table.algorithms}
    assert rank == {"iforest": "1.00", "lof": "--", "orca": "2.00"}
    # A seed makes other splits, too; and nothing is amiss where all share one.
    seeded = [*splits(roc=0.95, algorithm="lof", seed=1), *splits(algorithm="orca", roc=0.7)]
    assert only_table([*splits(), *seeded]).entries["pima", "lof", ROC].plain == "0.950§"
    assert only_table(splits(seed=1)).entries["pima", "iforest", ROC].plain == "0.900"


def test_a_cell_that_was_not_run_is_no_na():
    records = [*splits(), *splits(algorithm="lof"), *splits(dataset="wilt")]
    table = only_table(records)
    assert table.entries["wilt", "lof", "roc_auc_curve"].text == "--"
    assert table.entries["train_time", "lof", ""].text == "--"
    assert any("--: not run, or" in note for note in table.notes)


def test_too_few_splits_are_marked_and_leave_no_mark_when_complete():
    assert only_table(splits(4)).entries["pima", "iforest", "roc_auc_curve"].plain == "0.900†"
    assert only_table(splits(10)).entries["pima", "iforest", "roc_auc_curve"].plain == "0.900"


def test_bold_marks_ties_at_the_printed_precision():
    records = [
        *splits(roc=0.8504),
        *splits(algorithm="lof", roc=0.8499),
        *splits(algorithm="ocsvm", roc=0.84),
    ]
    table = only_table(records)
    bold = [
        label for label in table.algorithms if table.entries["pima", label, "roc_auc_curve"].bold
    ]
    assert bold == ["iforest", "lof"]
    finer = only_table(records, precision=4)
    assert [a for a in finer.algorithms if finer.entries["pima", a, "roc_auc_curve"].bold] == [
        "iforest"
    ]


def test_nothing_is_best_of_one():
    assert not any(entry.bold for entry in only_table(splits()).entries.values())


def test_halves_are_rounded_up_as_by_hand():
    records = [*splits(roc=0.8125), *splits(dataset="wilt", roc=0.25)]
    assert only_table(records).entries["pima", "iforest", "roc_auc_curve"].text == "0.813"


def test_standard_deviation_metrics_and_order_are_options():
    records = [make_record(split=i, roc=0.8 + 0.01 * i) for i in range(10)] + splits(
        algorithm="lof"
    )
    table = only_table(records, std=True, metrics=("roc_auc",), algorithms=("lof", "iforest"))
    assert table.algorithms == ["lof", "iforest"]
    assert table.entries["pima", "iforest", "roc_auc"].plain == "0.845 ± 0.030"
    assert r"0.845 {\scriptsize$\pm$0.030}" in table_to_latex(table)
    assert "multicolumn" not in table_to_latex(table)


@pytest.mark.parametrize("transposed", [False, True])
def test_cells_of_a_csv_are_bare_numbers_and_what_marks_say_is_beside_them(transposed):
    records = [
        *(make_record(split=i, roc=0.8 + 0.01 * i) for i in range(10)),
        *splits(4, algorithm="lof"),
        make_record(algorithm="orca", status="timeout"),
        make_record(algorithm="lsad", status="memory"),
    ]
    table = only_table(records, std=True, metrics=(ROC,), transposed=transposed)
    frame = pd.read_csv(io.StringIO(table_to_csv(table)), index_col=0)
    if not transposed:
        found = {label: frame[f"{label} {ROC}"]["pima"] for label in table.algorithms}
        marks = {label: frame[f"{label} {ROC} mark"]["pima"] for label in ("lof", "orca", "lsad")}
        std = frame[f"iforest {ROC} std"]["pima"]
        assert f"iforest {ROC} mark" not in frame
    else:
        found = frame[f"pima {ROC}"].to_dict()
        marks = frame[f"pima {ROC} mark"].drop("iforest").to_dict()
        std = frame[f"pima {ROC} std"]["iforest"]
    assert (found["iforest"], std, found["lof"]) == (0.845, 0.03, 0.9)
    assert pd.isna([found["orca"], found["lsad"]]).all()
    assert marks == {"lof": "†§", "orca": "timeout", "lsad": "memory"}


def test_unknown_metric_names_the_known_ones():
    with pytest.raises(ValueError, match=r"'auc'.*roc_auc, average_precision"):
        TableOptions(metrics=("auc",))


@pytest.mark.parametrize("precision", [0, 11])
def test_precision_is_bounded(precision):
    with pytest.raises(ValueError, match="precision"):
        TableOptions(precision=precision)


def test_both_roc_metrics_get_different_headings():
    table = only_table(splits(), metrics=("roc_auc", "roc_auc_curve"))
    assert list(table.metric_headings.values()) == ["ROC", "ROC (curve)"]


def test_transposed_has_algorithms_as_rows():
    records = [
        *splits(),
        *splits(algorithm="lof", roc=0.95),
        *splits(dataset="wilt"),
        *splits(algorithm="lof", dataset="wilt"),
    ]
    table = only_table(records, transposed=True)
    assert re.search(r"^LOF & \\textbf\{0.950\} & ", table_to_latex(table), re.MULTILINE)
    lines = table_to_csv(table).splitlines()
    assert lines[0].endswith(",train_time_seconds,total_time_seconds")
    assert lines[0].startswith("algorithm,pima roc_auc_curve,pima pr_auc_curve,wilt")
    assert [line.split(",")[0] for line in lines[1:]] == ["iforest", "lof"]
    assert "| LOF" in table_to_markdown(table)


def test_protocol_names_the_metrics_that_its_table_shows():
    clean = {"protocol": {"name": "clean", "metrics": ["roc_auc", "average_precision"]}}
    records = [*splits(), *splits(protocol="clean", config=clean)]
    paper, clean_table = build_tables(from_records(records), TableOptions())
    assert (paper.name, paper.metrics) == ("table2_novelty", ("roc_auc_curve", "pr_auc_curve"))
    assert clean_table.name == "table2_novelty_clean"
    assert clean_table.metrics == ("roc_auc", "average_precision")


def test_variants_are_columns_of_their_own_with_their_names_escaped():
    records = [*splits(), *splits(variant="max_samples=64,x=50%")]
    table = only_table(records)
    assert table.algorithms == ["iforest", "iforest(max_samples=64,x=50%)"]
    assert r"iForest (max\_samples=64,x=50\%)" in table_to_latex(table)


def test_data_sets_whose_names_repeat_a_heading_do_not_confuse_the_latex():
    records = [
        *splits(dataset="average"),
        *splits(dataset="a_b"),
        *splits(dataset="a_b", algorithm="lof"),
    ]
    latex = table_to_latex(only_table(records))
    assert r"a\_b & " in latex
    assert latex.count("average") >= 2


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_terminal_tables_are_split_rather_than_cut(paper_records, width):
    novelty = build_tables(from_records(paper_records), TableOptions())[0]
    out = io.StringIO()
    print_table(Console(file=out, width=width), novelty)
    text = out.getvalue()
    assert "…" not in text
    for name in ("OneClassRF", "OCRFsampling", "RFC", "0.896", "2232s", "2.80"):
        assert name in text
    assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("character", list("&%$#_{}~^\\<>±≠≤†‡"))
def test_special_characters_are_escaped(character):
    assert escape(f"a{character}b") != f"a{character}b"


def test_table_names_are_file_names():
    config = {"protocol": {"name": "paper", "cap": {"drawn": "once"}}}
    records = [*splits(), *splits(3, config=config, key="e" * 64)][:11]
    names = [t.name for t in build_tables(from_records(records), TableOptions())]
    assert names == ["table2_novelty", "table2_novelty_paper_cap.drawn=once"]


@pytest.mark.parametrize(
    ("limits", "note"),
    [
        ([30.0], "NA: fitting or scoring exceeded 30 s"),
        (
            [30, 1800.0],
            "NA: fitting or scoring exceeded the time limit, not the same for all: 30 s, ",
        ),
        ([None], "NA: fitting or scoring exceeded the time limit; †"),
    ],
)
def test_the_note_says_which_time_limit_na_stands_for(limits, note):
    records = [make_record("adult", limits={"timeout": 7})]  # finished: its limit does not count
    for split, limit in enumerate(limits):
        own = {} if limit is None else {"timeout": limit}
        records.append(make_record(split=split, status="timeout", limits=own))
    (table,) = build_tables(from_records(records), TableOptions())
    assert any(note in text for text in table.notes)


def test_the_document_numbers_its_tables_as_the_paper_does():
    names = ["table1_datasets", "tableS1_outlier", "table2_novelty_clean", "table_semi"]
    numbers = re.findall(r"\\renewcommand{\\thetable}{(.*)}\n\\input{(.*).tex}", standalone(names))
    assert numbers == list(zip(["1", "S1", "2", r"\arabic{table}"], names, strict=True))


@pytest.mark.parametrize("name", ["novelty(a=[1, 2])", "../novelty", "a/b", "\u00e9{x}"])
def test_names_told_apart_make_names_of_files(name):
    for told in (
        Slice("paper", name, pd.DataFrame(), ()),
        Slice(name, "novelty", pd.DataFrame(), ()),
    ):
        assert re.fullmatch(r"[\w=.+-]+", told.name)
        assert ".." not in told.name
