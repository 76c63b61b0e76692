"""From the command line to cells: sweeps, variants, experiments, mistakes."""

import pytest

from runners import app


def labels(cells):
    return sorted(cell.label for cell in cells)


def test_one_cell_without_m(composed):
    [cell] = composed("dataset=wilt", "algorithm=lof", "setting=outlier", "n_splits=4")
    assert (cell.dataset, cell.algorithm, cell.setting) == ("wilt", "lof", "outlier")
    assert cell.protocol == "paper"
    assert cell.variant == ""
    assert cell.n_splits == 4
    assert cell.config["algorithm"]["n_neighbors"] == 20
    assert "hydra" not in cell.config


def test_a_sweep_is_one_grid(composed):
    cells = composed("-m", "dataset=pima,wilt", "algorithm=lof,iforest", "setting=novelty,outlier")
    assert len(cells) == 8
    assert len({cell.key(0) for cell in cells}) == 8


def test_the_flag_for_a_sweep_may_stand_anywhere(composed):
    assert len(composed("dataset=pima,wilt", "-m", "algorithm=lof")) == 2


def test_swept_parameters_make_variants(composed):
    cells = composed("-m", "algorithm.max_features_node=1,5,null", "algorithm.gamma=1.0,0.5")
    # null and 1.0 are what the YAML says.
    assert labels(cells) == [
        "oneclassrf",
        "oneclassrf(gamma=0.5)",
        "oneclassrf(gamma=0.5,max_features_node=1)",
        "oneclassrf(gamma=0.5,max_features_node=5)",
        "oneclassrf(max_features_node=1)",
        "oneclassrf(max_features_node=5)",
    ]


def test_an_override_that_says_what_the_yaml_says_is_the_same_cell(composed):
    [plain] = composed("algorithm=lof")
    [same] = composed("algorithm=lof", "algorithm.n_neighbors=20")
    assert same == plain
    assert same.label == "lof"


def test_what_a_yaml_takes_from_elsewhere_is_always_shown(composed):
    [cell] = composed("algorithm=pyod", "detector=ECOD")
    assert cell.label == "pyod(detector=ECOD)"


def test_added_parameters_are_variants_too(composed):
    [cell] = composed("algorithm=healthy", "+algorithm.extra=true")
    assert cell.label == "healthy(extra=true)"


def test_every_data_set_but_the_template(composed):
    cells = composed("-m", "dataset=glob(*)", "algorithm=lof")
    names = {cell.dataset for cell in cells}
    assert len(names) == 12
    assert "custom" not in names


@pytest.mark.parametrize(
    ("grid", "protocol", "overrides", "n_cells"),
    [
        ("paper", "paper", [], 12 * 8 * 2),
        ("clean", "clean", ["dataset=pima,http"], 2 * 8 * 2),
    ],
)
def test_the_grids_of_the_paper(composed, grid, protocol, overrides, n_cells):
    cells = composed(f"grid={grid}", *overrides)
    assert len(cells) == len(set(cells)) == n_cells
    assert {cell.protocol for cell in cells} == {protocol}
    assert {cell.config["timeout"] for cell in cells} == {1800}
    assert {cell.variant for cell in cells} == {""}


def test_an_experiment_sweeps_by_itself_and_takes_overrides(composed):
    cells = composed("grid=paper", "algorithm=iforest,lof", "dataset=pima", "timeout=5")
    assert labels(cells) == ["iforest", "iforest", "lof", "lof"]
    assert {cell.config["timeout"] for cell in cells} == {5}


def test_the_default_experiment_needs_only_bundled_data(composed):
    cells = composed("grid=benchmark")
    assert {cell.dataset for cell in cells} == {
        *("pima", "ionosphere", "spambase", "pendigits", "shuttle")
    }


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["dataset=pimaa"], ["Could not find 'dataset/pimaa'", "ionosphere", "wilt"]),
        (["algorithm=iforst"], ["Could not find 'algorithm/iforst'", "iforest"]),
        (["-m", "setting=novelty,outliers"], ["'setting/outliers'", "outlier"]),
        (["algorithm.n_tree=3"], ["algorithm.n_tree", "Valid names in algorithm:", "n_estimators"]),
        (["-m", "algorithm.n_tree=3,4"], ["algorithm.n_tree", "n_estimators"]),
        (["n_split=3"], ["n_split", "Valid names in the configuration:", "n_splits"]),
        (["protocol.standardize=all"], ["Valid names in protocol:", "standardise"]),
        (["timeout=-1"], ["timeout must be a positive number"]),
        (["n_splits=0"], ["n_splits must be a whole number, at least 1"]),
        (["runner.retry=all"], ["runner.retry must be null or failed"]),
        (["runner.backend=spark"], ["runner.backend must be one of threads, dask"]),
        (["runner.n_jobs=0"], ["runner.n_jobs must be a whole number other than 0"]),
        (["runner.progress=loud"], ["runner.progress must be one of"]),
    ],
)
def test_mistakes_are_named_with_what_would_be_valid(tmp_path, capsys, arguments, expected):
    with_output = [*arguments, f"output={tmp_path}"]
    try:
        status = app.main(with_output)
    except SystemExit as left:
        status = left.code
    assert status == app.USAGE_ERROR
    said = capsys.readouterr().err
    for words in expected:
        assert words in said
    assert "Traceback" not in said
    assert "Error executing job" not in said


def test_a_changed_file_makes_new_experiments(composed, tmp_path):
    table = tmp_path / "mine.csv"
    keys = []
    for content in ("a,label\n1,0\n2,1\n", "a,label\n1,0\n3,1\n", "a,label\n1,0\n2,1\n"):
        table.write_text(content)
        [cell] = composed("dataset=custom", f"data.path={table}", "data.anomalies=[1]")
        keys.append(cell.keys)
    assert keys[0] == keys[2]
    assert not set(keys[0]) & set(keys[1])


def test_a_missing_file_is_left_to_the_loading(composed, tmp_path):
    [cell] = composed(
        "dataset=custom", f"data.path={tmp_path / 'nowhere.csv'}", "data.anomalies=[1]"
    )
    assert cell.content is None
