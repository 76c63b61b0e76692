"""Ablations from made-up records whose effects are known."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from omegaconf import OmegaConf
from sklearn.utils import get_tags

from ocrf import OneClassRF
from results.ablations.choice import choices, choices_markdown, choose
from results.ablations.document import skeleton, summary_markdown, write_ablations
from results.ablations.effects import effects, summarise
from results.ablations.studies import REFERENCE, STUDIES, TARGET
from results.cli import main
from results.output import Output, make_console
from results.records.frame import from_records
from results.records.store import RecordStore
from tests.results.support import make_record, write_fast

mpl.use("agg")

CONF = Path(__file__).parents[2] / "conf"
BY_NAME = {study.name: study for study in STUDIES}
DATASETS = ("pima", "wilt", "adult", "smtp", "shuttle", "http")


def experiment(dataset="pima", split=0, setting="novelty", value=0.5, **parameters):
    algorithm = {"_target_": TARGET} | REFERENCE | parameters
    return make_record(
        dataset,
        "oneclassrf_text",
        variant=",".join(f"{k}={v}" for k, v in parameters.items()),
        protocol="clean",
        setting=setting,
        split=split,
        roc=value,
        pr=value,
        config={"algorithm": algorithm},
    )


def gammas(seed=0, gain=0.05, noise=0.2):
    """Records in which gamma = 0.1 gains, under noise that is shared by the levels of a split."""
    rng = np.random.default_rng(seed)
    for dataset, split, setting in product(DATASETS, range(3), ("novelty", "outlier")):
        level = 0.4 + noise * rng.random()
        yield experiment(dataset, split, setting, level)
        yield experiment(dataset, split, setting, level + gain + 0.01 * rng.random(), gamma=0.1)
        yield experiment(dataset, split, setting, level - gain - 0.01 * rng.random(), gamma=10.0)


def test_the_reference_is_the_estimators_defaults():
    defaults = OneClassRF().get_params()
    assert {k: defaults[k] for k in REFERENCE} == REFERENCE
    assert set(defaults) - set(REFERENCE) == {"n_jobs", "random_state", "warm_start"}
    assert not get_tags(OneClassRF()).target_tags.required


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_studies_are_what_their_experiment_runs(study):
    """conf/grid/ablation_*.yaml sweeps the combinations that the tables show."""
    swept = OmegaConf.load(CONF / "grid" / f"ablation_{study.name}.yaml")
    params = OmegaConf.to_container(swept.hydra.sweeper.params)
    algorithms = str(params.pop("algorithm", "oneclassrf_text")).split(",")
    parameters = {name.removeprefix("algorithm."): text for name, text in params.items()}
    run = set()
    for algorithm in algorithms:
        own = OmegaConf.to_container(OmegaConf.load(CONF / "algorithm" / f"{algorithm}.yaml"))
        choices = [OmegaConf.create(f"v: [{text}]").v for text in parameters.values()]
        for values in product(*[OmegaConf.to_container(choice) for choice in choices]):
            record = experiment(
                **{k: v for k, v in own.items() if k != "_target_"}
                | dict(zip(parameters, values, strict=True))
            )
            selected = study.select(from_records([record]).frame)
            assert len(selected) == 1, (algorithm, values)
            run.add(selected["level"].item())
    assert run == set(study.levels.values())


def test_only_experiments_that_vary_nothing_else_belong_to_a_study():
    study = BY_NAME["gamma"]
    records = [
        experiment(),
        experiment(gamma=0.1),
        experiment(gamma=1, split=1),
        experiment(gamma=[0.1, 10.0]),
        experiment(gamma=0.5),
        experiment(gamma=0.1, max_samples=64),
        experiment(gamma=0.3, unknown=1),
        make_record("pima", "iforest", protocol="clean", config={"algorithm": {"_target_": "x.Y"}}),
    ]
    chosen = study.select(from_records(records).frame)
    assert sorted(chosen["level"]) == ["0.1", "0.1 to 10", "1", "1"]


def test_one_feature_is_not_all_features():
    """To Python 1 equals 1.0; as numbers of features or rows they are a count and a share."""
    study = BY_NAME["features"]
    records = [
        experiment(**{name: value}, split=split)
        for name in ("max_features_tree", "max_features_node")
        for split, value in enumerate((1, 1.0))
    ]
    chosen = study.select(from_records(records).frame)
    assert sorted(chosen["level"]) == ["node 1, tree auto", "node 5, tree all"]
    alone = BY_NAME["subsample"].select(from_records([experiment(max_samples=1)]).frame)
    assert alone.empty
    # Of other parameters they are one value.
    assert len(study.select(from_records([experiment(gamma=1)]).frame)) == 1


@pytest.mark.parametrize("seed", [0, 1])
def test_paired_differences_see_through_shared_noise(seed):
    found = effects(from_records(gammas(seed)).frame, BY_NAME["gamma"])
    assert [part.setting for part in found] == ["novelty", "outlier"]
    for part in found:
        summary = part.summary.query("metric == 'average_precision'").set_index("level")
        assert 0.05 < summary.loc["0.1", "difference"] < 0.06
        assert -0.06 < summary.loc["10", "difference"] < -0.05
        assert summary.loc["0.1", "low"] > 0.04
        assert summary.loc["0.1", "wins_ties_losses"] == "6/0/0"
        # Six wins of six: 2 / 2**6, then Holm over the two levels.
        assert summary.loc["0.1", "p"] == pytest.approx(1 / 32)
        assert summary.loc["0.1", "p_holm"] == pytest.approx(1 / 16)
        assert (part.errors["roc_auc"]["0.1"] < 0.01).all()
        assert (part.n_splits == 3).all()


def test_means_are_over_the_splits_that_all_levels_finished():
    records = [
        experiment(split=0, value=0.2),
        experiment(split=1, value=0.8),
        experiment(split=1, value=0.9, gamma=0.1),
        experiment("wilt", value=0.5),
        experiment("wilt", value=0.6, gamma=0.1),
        experiment("adult", value=0.3),
    ]
    (part,) = effects(from_records(records).frame, BY_NAME["gamma"])
    means = part.means["roc_auc"]
    assert means.loc["pima"].tolist() == [0.9, 0.8]
    assert part.n_splits.to_dict() == {"adult": 1, "pima": 1, "wilt": 1}
    assert np.isnan(means.loc["adult", "0.1"])
    row = part.summary.query("metric == 'roc_auc'").set_index("level").loc["0.1"]
    assert (row["n_datasets"], row["difference"]) == (2, pytest.approx(0.1))


def test_times_of_other_code_are_not_compared():
    records = []
    for record in gammas():
        config = record.config["algorithm"]
        commit = "b" * 40 if config["gamma"] == 10.0 else "a" * 40
        seconds = 3.0 if config["gamma"] == 0.1 else 2.0
        provenance = record.provenance | {"commit": commit}
        records.append(replace(record, provenance=provenance, fit_cpu_seconds=seconds))
    part = effects(from_records(records).frame, BY_NAME["gamma"])[0]
    assert part.seconds["1"] == 1.0
    assert part.seconds["0.1"] == pytest.approx(1.5)
    assert np.isnan(part.seconds["10"])
    rows = summary_markdown(part).splitlines()
    assert [row.split("|")[-2].strip() for row in rows[-3:]] == ["x 1.50", "x 1.00", "--"]


def test_failed_experiments_do_not_count():
    failed = make_record(
        "pima",
        "oneclassrf_text",
        protocol="clean",
        status="timeout",
        config={"algorithm": {"_target_": TARGET} | REFERENCE | {"gamma": 0.1}},
    )
    frame = from_records([experiment(), experiment(gamma=10.0), failed]).frame
    (part,) = effects(frame, BY_NAME["gamma"])
    assert list(part.means["roc_auc"].columns) == ["1", "10"]


def test_summaries_of_equal_levels_have_no_effect():
    means = pd.DataFrame({"a": [0.1, 0.2, 0.3], "b": [0.1, 0.2, 0.3]})
    row = summarise(means, "a", "roc_auc").set_index("level").loc["b"]
    assert (row["difference"], row["p"], row["wins_ties_losses"]) == (0.0, 1.0, "0/3/0")


def test_contrasts_pair_levels_that_differ_in_one_parameter():
    pairs = BY_NAME["out_of_bounds"].pairs
    assert len(pairs) == 4
    assert (
        "gamma 0.1, node all, out of bounds maximal",
        "gamma 0.1, node all, out of bounds off",
    ) in pairs
    assert BY_NAME["gamma"].pairs == []


def test_choosing_leaves_the_judged_data_set_out():
    """One data set alone makes `lucky` best; judged on it, the choice made without it fails."""
    gains = pd.DataFrame(
        {
            "lucky": [9.0, -1.0, -1.0, -1.0],
            "steady": [1.0, 1.0, 1.0, 1.0],
            "gap": [9.0, 9.0, 9.0, np.nan],
        },
        index=["a", "b", "c", "d"],
    )
    choice = choose(gains, "novelty", "roc_auc")
    assert choice.best == "lucky"
    assert choice.held_out.to_dict() == {"a": 1.0, "b": -1.0, "c": -1.0, "d": -1.0}
    assert choice.chosen == {"lucky": 3, "steady": 1}
    assert choose(gains.iloc[:2], "novelty", "roc_auc") is None


def test_candidates_are_named_by_what_they_change():
    assert BY_NAME["gamma"].describe("0.1 to 10") == "gamma=0.1 to 10"
    level = "gamma 1, node all, out of bounds maximal"
    assert (
        BY_NAME["out_of_bounds"].describe(level) == "max_features_node=all, out_of_bounds=maximal"
    )


@pytest.mark.parametrize("seed", [0])
def test_the_best_setting_is_found(seed):
    results = {study: effects(from_records(gammas(seed)).frame, study) for study in STUDIES}
    made = choices(results)
    assert {choice.best for choice in made} == {"gamma=0.1"}
    assert [choice.purpose for choice in made] == ["novelty", "outlier", "both settings"] * 2
    assert all(choice.held_out.between(0.05, 0.06).all() for choice in made)
    assert "gamma=0.1 (6)" in choices_markdown(made)


def make_document(folder, records, file=None):
    output = Output(folder, make_console())
    write_ablations(from_records(records), output, file)
    return output


def without_figures(monkeypatch):
    monkeypatch.setattr("results.ablations.document.draw", lambda effects: None)
    monkeypatch.setattr(
        "results.ablations.document.render", lambda figure, kind: b"drawn elsewhere"
    )


def test_files_are_written_and_sentences_kept(tmp_path):
    records = list(gammas()) + [
        experiment(dataset, split, out_of_bounds="maximal", value=0.1 + 0.01 * split)
        for dataset in DATASETS
        for split in range(3)
    ]
    file = tmp_path / "ABLATIONS.md"
    file.write_text(skeleton().replace("# Ablations", "# Ablations\n\nMy sentence.", 1))
    output = make_document(tmp_path / "out", records, file)
    text = file.read_text()
    assert "My sentence." in text
    assert "| +0.05" in text
    assert "out_of_bounds alone" in text
    assert "Not run: `python -m runners grid=ablation_depth" in text
    assert "not run: grid=ablation_depth" in output.remarks
    for suffix in ("pdf", "png"):
        assert (tmp_path / "out" / "figures" / f"ablation_gamma.{suffix}").stat().st_size > 5000
    table = pd.read_csv(tmp_path / "out" / "tables" / "ablation_gamma.csv")
    assert {"study", "setting", "dataset", "metric", "level", "difference", "p_holm"} <= set(table)
    own = table.query("dataset == 'pima' and level == '0.1' and setting == 'novelty'")
    assert own["difference"].between(0.05, 0.06).all()


def test_reruns_and_the_order_of_records_change_nothing(tmp_path, monkeypatch):
    without_figures(monkeypatch)
    records = list(gammas())
    make_document(tmp_path / "a", records, tmp_path / "a.md")
    for name, order in (("a", records), ("b", records[::-1])):
        make_document(tmp_path / name, order, tmp_path / f"{name}.md")
    assert (tmp_path / "a.md").read_text() == (tmp_path / "b.md").read_text()


def test_the_command_leaves_the_published_document_alone(tmp_path, capsys, monkeypatch):
    without_figures(monkeypatch)
    write_fast(tmp_path / "records", gammas())
    assert len(list(RecordStore(tmp_path / "records"))) > 100
    assert main(["ablations", "--output", str(tmp_path)]) == 0
    text = (tmp_path / "ABLATIONS.md").read_text()
    assert "## Hidden outliers per observation" in text
    assert "nothing can be recommended" not in text, "said of other experiments"
    out = capsys.readouterr().out
    assert "ablation_gamma.png" in out
    # The levels of gamma are among those of other studies.
    assert "ablation_criterion" not in out.replace("not run: grid=ablation_criterion", "")


def test_records_without_ablations_are_refused(tmp_path, capsys):
    write_fast(tmp_path / "records", [make_record()])
    assert main(["ablations", "--output", str(tmp_path)]) == 2
    assert "hold no ablation" in capsys.readouterr().err
