"""The commands end to end, on a store made from the published numbers."""

import argparse
import csv
import json

import pytest
from omegaconf import OmegaConf

from datasets.collections import CONF
from results.cli import main
from results.options import metrics_option
from results.records.store import RecordStore
from tests.results.support import key_of, make_record, write_fast


@pytest.fixture
def run(scattered_store, tmp_path, capsys):
    """Run a command on the store, writing to an empty folder; return status and output."""

    def command(*arguments):
        status = main(
            [*arguments, "--output", str(tmp_path), "--records", str(scattered_store / "records")]
        )
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    command.folder = tmp_path
    return command


def test_tables_writes_and_names_every_file(run):
    status, out, _ = run("tables")
    assert status == 0
    for name in ("table1_datasets", "table2_novelty", "tableS1_outlier"):
        for suffix in ("tex", "md", "csv"):
            path = run.folder / "tables" / f"{name}.{suffix}"
            assert path.stat().st_size > 0
            assert f"wrote {path}" in out.replace("\n", "")
    assert (
        "incomplete (paper, rfc, novelty: 3 of 10 splits): arrhythmia, ionosphere"
        in out.replace("\n", " ")
    )


def test_export_has_one_row_per_experiment(run, tmp_path):
    status, _, _ = run("export", str(tmp_path / "sub" / "e.csv"), "--setting", "novelty")
    assert status == 0
    with open(tmp_path / "sub" / "e.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 96 * 3
    assert list(rows[0])[:13] == [
        "dataset",
        "algorithm",
        "setting",
        "protocol",
        "split",
        "status",
        "roc_auc",
        "average_precision",
        "roc_auc_curve",
        "pr_auc_curve",
        "fit_seconds",
        "score_seconds",
        "peak_memory_mb",
    ]
    na = [row for row in rows if row["status"] == "timeout"]
    assert len(na) == 15
    assert {row["roc_auc"] for row in na} == {""}


def test_compare_prints_published_ours_and_spread(run):
    status, out, _ = run("compare", "--cells", "--algorithm", "rfc", "--setting", "novelty")
    assert status == 0
    assert "0.896" in out
    assert "reproduced" in out
    assert (run.folder / "tables" / "comparison_goix2016.csv").exists()


def test_status_shows_marks_and_reasons(run):
    status, out, _ = run("status", "--setting", "novelty")
    assert status == 0
    assert "fit exceeded 1800 s" in out
    assert "3/10†" in out


def test_provenance_warns_of_mixed_versions_and_dirty_commits(tmp_path, capsys):
    records = [
        make_record(),
        make_record("wilt", provenance={"versions": {"numpy": "2.3"}, "git": {"dirty": True}}),
    ]
    write_fast(tmp_path / "records", records)
    assert main(["provenance", "--output", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "mixed versions.numpy: 2.3 (1), 2.4 (1)" in out
    assert "1 experiments were run with uncommitted changes" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tables", "--dataset", "nowhere"], "no record has dataset 'nowhere'; there are: adult"),
        (["tables", "--precision", "0"], "precision must be from 1 to 10"),
    ],
)
def test_a_request_that_makes_no_sense_gets_one_clear_line(run, arguments, message):
    status, _, err = run(*arguments)
    assert status == 2
    assert message in err
    assert err.count("\n") == 1


def test_an_unknown_metric_is_refused_with_the_known_ones(run, capsys):
    with pytest.raises(SystemExit, match="2"):
        run("tables", "--metrics", "auc")
    assert "unknown metric 'auc'; there are: roc_auc, average_precision" in capsys.readouterr().err
    parser = argparse.ArgumentParser()
    metrics_option(parser)
    # Once, however often it is named: a table cannot tell two columns of one name apart.
    assert parser.parse_args(["--metrics", "roc_auc,roc_auc"]).metrics == ("roc_auc",)


@pytest.mark.parametrize("option", ["--dataset", "--seed", "--metrics"])
def test_an_option_without_a_name_chooses_nothing_rather_than_everything(capsys, option):
    with pytest.raises(SystemExit, match="2"):
        main(["tables", option, " ,"])
    assert f"argument {option}: names nothing" in capsys.readouterr().err


def test_an_empty_store_says_how_to_fill_it(tmp_path, capsys):
    assert main(["tables", "--output", str(tmp_path)]) == 2
    assert "python -m runners" in capsys.readouterr().err


def test_an_unreadable_record_is_named_and_the_rest_is_used(tmp_path, capsys):
    write_fast(tmp_path / "records", [make_record()])
    bad = tmp_path / "records" / "pima" / "iforest" / "broken-0123456789abcdef.json"
    bad.write_text("{")
    assert main(["tables", "--output", str(tmp_path)]) == 0
    out = capsys.readouterr().out.replace("\n", "")
    assert "left out, unreadable" in out
    assert "broken-0123456789abcdef.json" in out


def test_an_option_is_not_abbreviated(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["tables", "--record", "nowhere"])
    assert ended.value.code == 2
    assert "--record" in capsys.readouterr().err


@pytest.fixture
def filed_protocol():
    """The protocol `clean` as its file has it, and with another cap."""
    written = OmegaConf.to_container(OmegaConf.load(CONF / "protocol" / "clean.yaml"))
    return written, written | {"cap": {**written["cap"], "ratio": None}}


def under(protocol, dataset, seed=0):
    return [
        make_record(
            dataset,
            protocol="clean",
            seed=seed,
            split=split,
            key=key_of(dataset, split, seed, json.dumps(protocol)),
            config={"protocol": protocol},
        )
        for split in range(2)
    ]


def test_a_protocol_that_was_overridden_everywhere_is_said(tmp_path, capsys, filed_protocol):
    filed, changed = filed_protocol
    write_fast(tmp_path / "records", under(changed, "pima"))
    for command in ("tables", "status", "statistics"):
        assert main([command, "--output", str(tmp_path)]) == 0
        out = " ".join(capsys.readouterr().out.split())
        assert "protocol clean was run with cap.ratio=null, and clean.yaml has cap.ratio=0.1" in out
    # Beside the protocol as its file has it, that one has the name, however few cells it is.
    write_fast(tmp_path / "records", under(filed, "wilt") + under(changed, "shuttle"))
    assert main(["tables", "--output", str(tmp_path)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "listed apart as clean(cap.ratio=null)" in out
    assert "and clean.yaml has" not in out
    asked = ["--records", str(tmp_path / "records"), "--protocol", "clean", "--yes"]
    assert main(["forget", *asked]) == 0
    assert {record.dataset for record in RecordStore(tmp_path / "records")} == {"pima", "shuttle"}


def test_a_column_of_two_configurations_says_so_in_its_files(tmp_path):
    records = [
        make_record(dataset, "mine", key=key_of(dataset), config={"algorithm": {"k": k}})
        for dataset, k in (("pima", 2), ("wilt", 50))
    ]
    write_fast(tmp_path / "records", records)
    assert main(["tables", "--output", str(tmp_path)]) == 0
    words = "algorithm mine (paper) was run with different options: k=2 on pima; k=50 on wilt"
    for suffix in ("md", "tex"):
        text = (tmp_path / "tables" / f"table2_novelty.{suffix}").read_text(encoding="utf-8")
        assert words in text.replace("\n", " ")
