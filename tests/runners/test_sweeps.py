"""Sweeps, globs and grids: which cells they stand for."""

import pytest

from runners import composition
from runners.composition import Composer


def labels(cells):
    return sorted(cell.label for cell in cells)


def test_a_sweep_is_one_grid(composed):
    cells = composed("-m", "dataset=pima,wilt", "algorithm=lof,iforest", "setting=novelty,outlier")
    assert len(cells) == 8
    assert len({cell.key(0) for cell in cells}) == 8


def test_flags_may_stand_anywhere(composed):
    assert len(composed("dataset=pima,wilt", "-m", "algorithm=lof")) == 2
    cells = composed("dataset=pima", "--config-name", "config", "algorithm=lof", "timeout=7")
    assert [(cell.algorithm, cell.config["timeout"]) for cell in cells] == [("lof", 7)]


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


def test_a_grid_sweeps_by_itself_and_takes_overrides(composed):
    cells = composed("grid=paper", "algorithm=iforest,lof", "dataset=pima", "timeout=5")
    assert labels(cells) == ["iforest", "iforest", "lof", "lof"]
    assert {cell.config["timeout"] for cell in cells} == {5}


def test_the_default_grid_needs_only_bundled_data(composed):
    cells = composed("grid=benchmark")
    assert {cell.dataset for cell in cells} == {
        *("pima", "ionosphere", "spambase", "pendigits", "shuttle")
    }


def test_globs_leave_templates_out_until_they_are_filled_in(composed):
    names = {cell.algorithm for cell in composed("-m", "algorithm=glob(pyod*)")}
    assert "pyod_ecod" in names
    assert "pyod" not in names
    filled = composed("-m", "algorithm=glob(pyod*)", "detector=ABOD")
    assert {cell.algorithm for cell in filled} == names | {"pyod"}


def test_globs_match_what_lies_on_the_search_path(composed, own_group, tmp_path):
    (tmp_path / "mine.csv").write_text("a,label\n1,0\n2,1\n")
    own_group("dataset/s_own", f"name: s_own\npath: {tmp_path}/mine.csv\nanomalies: [1]\n")
    search = own_group(
        "dataset/zz_own", f"name: zz_own\npath: {tmp_path}/mine.csv\nanomalies: [1]\n"
    )
    found = {cell.dataset for cell in composed("-m", search, "dataset=glob(s*)")}
    assert found == {"s_own", "shuttle", "smtp", "spambase"}
    assert [cell.dataset for cell in composed("-m", search, "dataset=glob(zz*)")] == ["zz_own"]
    assert len(composed("-m", "dataset=glob([a*,p*],exclude=[ad*])")) == 4


OTHER = "_target_: sklearn.ensemble.IsolationForest\nn_estimators: 3\n"


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        (OTHER, ["algorithm=own,lof", "timeout=5,6"]),
        # An algorithm that changes more than itself is composed cell by cell.
        (
            "# @package _global_\ntimeout: 77\nalgorithm:\n  _target_: tests.faults.detectors.Healthy\n",
            ["algorithm=own,lof"],
        ),
        (
            "_target_: tests.faults.detectors.Healthy\nseed: ${seed}\nname: ${dataset.name}\n",
            ["algorithm=own", "seed=1,2"],
        ),
        (
            "_target_: tests.faults.detectors.Healthy\nname: ${hydra:runtime.choices.dataset}\n",
            ["algorithm=own"],
        ),
        (
            OTHER,
            ["algorithm=own", "algorithm.n_estimators=3,4", "+algorithm.contamination=0.1,0.2"],
        ),
        (OTHER, ["algorithm=own", "data.retries=1,2", "~protocol.cap"]),
        (OTHER, ["grid=modern", "algorithm=own", "setting=novelty"]),
        ("defaults:\n  - iforest\nn_estimators: 7\n", ["algorithm=lof,own"]),
    ],
)
def test_a_sweep_has_the_cells_of_its_single_jobs(
    composed, own_group, text, arguments, monkeypatch
):
    """What composes the parts of a sweep once must give what Hydra gives for each job."""
    search = own_group("algorithm/own", text)
    given = [search, "dataset=pima,wilt", *arguments]
    swept = composed("-m", *given)
    monkeypatch.setattr(Composer, "compose_all", lambda self, jobs: map(self.compose, jobs))
    single = composed("-m", *given)
    assert len(single) >= 2
    assert [cell.config for cell in swept] == [cell.config for cell in single]
    assert [cell.keys for cell in swept] == [cell.keys for cell in single]
    assert [cell.label for cell in swept] == [cell.label for cell in single]


@pytest.mark.parametrize("filled", ["contamination: 0.1", "n_jobs: 2"])
def test_what_a_grid_adds_to_an_algorithm_counts_in_a_sweep(
    composed, own_group, filled, monkeypatch
):
    """A file is read in Hydra's place only where nothing else fills its group."""
    own_group("algorithm/own", OTHER + "contamination: 0.1\n")
    body = "# @package _global_\nhydra:\n  mode: MULTIRUN\n"
    search = own_group("grid/adds", f"{body}algorithm:\n  {filled}\n")
    given = [search, "grid=adds", "algorithm=own,lof,iforest"]
    swept = composed(*given)
    monkeypatch.setattr(Composer, "compose_all", lambda self, jobs: map(self.compose, jobs))
    single = composed(*given)
    assert [cell.config for cell in swept] == [cell.config for cell in single]
    assert [cell.label for cell in swept] == [cell.label for cell in single]
    name, _, value = filled.partition(": ")
    assert {str(cell.config["algorithm"][name]) for cell in swept} == {value}


def test_a_sweep_is_composed_a_few_times_however_many_cells_it_has(
    composed, own_group, tmp_path, monkeypatch
):
    """A benchmark has dozens of data sets, and Hydra needs a tenth of a second each time."""
    for number in range(57):
        (tmp_path / f"{number}.csv").write_text("a,label\n1,0\n2,0\n3,1\n")
    search = own_group(
        "dataset/many",
        f"name: many\ncollection:\n  path: {tmp_path}/{{member}}.csv\nanomalies: [1]\n",
    )
    compose, done = composition.compose, []

    def counted(*given, **options):
        done.append(given)
        return compose(*given, **options)

    monkeypatch.setattr(composition, "compose", counted)
    given = [search, "grid=dte2024_semi", "dataset=glob(many/*)", "algorithm=lof,iforest,ocsvm"]
    assert len(composed(*given)) == 57 * 3
    # The first cell, and twice without a group that varies.
    assert len(done) == 3


def test_globs_match_the_members_of_a_collection(composed, own_group, tmp_path):
    for name in ("one", "two", "other"):
        (tmp_path / f"{name}.csv").write_text("a,label\n1,0\n2,0\n3,1\n")
    search = own_group(
        "dataset/mine",
        f"name: mine\ncollection:\n  path: {tmp_path}/{{member}}.csv\nanomalies: [1]\n",
    )

    def chosen(value):
        return [
            cell.dataset for cell in composed("-m", search, f"dataset={value}", "algorithm=lof")
        ]

    assert chosen("glob(mine/*)") == ["mine_one", "mine_other", "mine_two"]
    assert chosen("glob([mine/o*,pim*],exclude=[mine/other])") == ["pima", "mine_one"]
    assert chosen("mine/two,odds/cardio,wilt") == ["mine_two", "odds_cardio", "wilt"]
    swept = composed("-m", search, "dataset=glob(mine/*)", "algorithm=lof,iforest", "seed=3")
    single = [
        composed(search, f"dataset=mine/{member}", f"algorithm={algorithm}", "seed=3")[0]
        for member in ("one", "other", "two")
        for algorithm in ("lof", "iforest")
    ]
    assert [cell.keys for cell in swept] == [cell.keys for cell in single]
    assert [cell.config for cell in swept] == [cell.config for cell in single]
    changed = ["dataset=glob(mine/*)", "algorithm=lof", "+dataset.min_distinct=2"]
    assert [c.config["dataset"]["min_distinct"] for c in composed("-m", search, *changed)] == [
        2
    ] * 3
    # A collection is not a data set, and a star does not reach into it.
    assert chosen("glob([m*,o*,ad*])") == ["adult"]


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("dataset=glob([odds/*,pimaa])", "'pimaa' matches no dataset; did you mean pima?"),
        ("dataset=glob([ods/*,pima])", "'ods/*' matches no dataset; did you mean odds/*"),
        ("dataset=glob([p*],exclude=[pinn])", "'pinn' excludes nothing that is included"),
        ("dataset=glob([odds,pima])", "'odds' is a collection"),
        ("dataset=pima,glob(wlit*)", "'wlit*' matches no dataset"),
        ("algorithm=glob([lof,iforst])", "'iforst' matches no algorithm; did you mean iforest"),
    ],
)
def test_an_entry_of_a_glob_that_matches_nothing_is_named(refusal, argument, words):
    assert words in refusal("-m", argument)


def test_globs_and_names_can_be_mixed(composed):
    given = ["dataset=glob([p*,wilt]),glob(wi*),adult", "algorithm=lof"]
    names = [cell.dataset for cell in composed("-m", *given)]
    assert names == ["pendigits", "pima", "wilt", "adult"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hydra:\n  mode: MULTI\n", "hydra.mode: Invalid value 'MULTI', expected one of"),
        ("hydra:\n  sweper: 1\n", "hydra.sweper: unknown key; did you mean sweeper or sweep?"),
        ("hydra:\n  sweeper:\n    paramz: {dataset: pima}\n", "hydra.sweeper.paramz: unknown key"),
    ],
)
def test_what_a_grid_has_wrong_in_hydra_s_keys_is_one_line(refusal, own_group, text, words):
    search = own_group("grid/own", f"# @package _global_\n{text}")
    line = refusal(search, "grid=own")
    assert line.startswith("In 'grid/own': ")
    assert words in line


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hydra: [1, 2]\n", "hydra is [1, 2], and has to be a group of keys"),
        ("hydra: MULTIRUN\n", "hydra is 'MULTIRUN', and has to be"),
        ("hydra:\n  sweeper: [1]\n", "hydra.sweeper is [1], and has to be"),
        ("hydra:\n  sweeper:\n    params: [pima]\n", "hydra.sweeper.params is ['pima'], and has"),
        ("hydra:\n  launcher: 3\n", "hydra.launcher is 3, and has to be"),
        ("dataset: [pima, wilt]\n", "dataset is ['pima', 'wilt'], and has to be"),
        ("runner: 2\n", "runner is 2, and has to be"),
        ("data: here\n", "data is 'here', and has to be"),
        ("- hydra: 1\n", "holds no keys: configuration is written as lines NAME: VALUE"),
    ],
)
def test_a_grid_with_values_in_place_of_keys_is_named(refusal, tmp_path, own_group, text, words):
    header = "#@package _global_" if text.startswith("hydra: [") else "# @package _global_"
    line = refusal(own_group("grid/own", f"{header}\n{text}"), "grid=own")
    assert line.startswith(str(tmp_path / "mine" / "grid" / "own.yaml"))
    assert words in line


def test_a_grid_without_a_sweep_is_refused_rather_than_run_in_part(refusal, composed, own_group):
    sweeper = "hydra: {sweeper: {params: {setting: 'novelty,outlier'}}}\n"
    search = own_group("grid/own", f"# @package _global_\n{sweeper}")
    line = refusal(search, "grid=own", "dataset=pima", "algorithm=lof")
    assert line.startswith("hydra.sweeper.params sweeps over setting, but this run is not a sweep")
    assert len(composed("-m", search, "grid=own", "dataset=pima", "algorithm=lof")) == 2


@pytest.mark.parametrize("header", ["", "# mine\n# @package _global_\n"])
def test_a_grid_without_its_first_line_says_what_that_is(refusal, own_group, header):
    search = own_group("grid/own", f"{header}n_splits: 3\n")
    line = refusal(search, "grid=own", "dataset=pima", "algorithm=lof")
    assert "own.yaml: grid: a grid's file begins with the line `# @package _global_`" in line


def test_a_primary_configuration_that_would_not_be_read_is_refused(refusal, own_group, tmp_path):
    search = own_group("algorithm/own", "_target_: sklearn.svm.OneClassSVM\n")
    (tmp_path / "mine" / "config.yaml").write_text("seed: 5\n")
    line = refusal(search, "algorithm=own", "dataset=pima")
    assert line.startswith(f"{tmp_path / 'mine' / 'config.yaml'} would not be read")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("010", "own.yaml, line 3: YAML reads 010 as 8"),
        ("[1, 01]", "own.yaml, line 3: YAML reads 01 as 1"),
        ("{a: {b: 1:30}}", "own.yaml, line 3: YAML reads 1:30 as 90"),
        ("0:30.5", "own.yaml, line 3: YAML reads 0:30.5 as 30.5"),
        ("0:30", "max_samples"),
        ("20:30.5", "own.yaml, line 3: YAML reads 20:30.5 as 1230.5"),
        ('"010"', "max_samples"),
    ],
)
def test_numbers_that_yaml_reads_otherwise_than_they_look_are_named(
    refusal, own_group, value, words
):
    text = f"# 010\n_target_: sklearn.ensemble.IsolationForest\nmax_samples: {value}\n"
    assert words in refusal(own_group("algorithm/own", text), "algorithm=own", "dataset=pima")


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ("dataset: 3", "the options of dataset are names"),
        ("dataset: [pima, wilt]", "-m dataset=pima,wilt runs several"),
        ("dataset: glob(zz*)", "'zz*' matches no dataset"),
        ("dataset: pima,wlit", "did you mean 'wilt'?"),
        ("algorithm.gama: 1,2", "algorithm has no 'gama'"),
        ("grid: paper,clean", "one grid at a time"),
    ],
)
def test_what_a_grid_sweeps_is_read_as_the_command_line_is(refusal, own_group, params, words):
    text = (
        f"# @package _global_\nhydra:\n  mode: MULTIRUN\n  sweeper:\n    params:\n      {params}\n"
    )
    assert words in refusal(own_group("grid/own", text), "grid=own")


@pytest.mark.parametrize("plugin", ["sweeper", "launcher"])
def test_a_plugin_that_does_not_exist_is_refused(refusal, own_group, plugin):
    text = f"# @package _global_\nhydra:\n  mode: MULTIRUN\n  {plugin}:\n    _target_: a.B\n"
    assert "Invalid plugin 'a.B'" in refusal(own_group("grid/own", text), "grid=own")
    assert f"Could not find 'hydra/{plugin}/no'" in refusal("-m", f"hydra/{plugin}=no")


def test_the_sweeper_of_hydra_gives_the_same_cells(composed):
    given = ["-m", "dataset=pima,wilt", "algorithm=lof", "setting=novelty,outlier"]
    ours = [cell.keys for cell in composed(*given)]
    assert [cell.keys for cell in composed("hydra/sweeper=basic", *given)] == ours


@pytest.mark.parametrize("grids", ["paper,clean", "glob(p*)"])
def test_a_grid_is_not_swept(refusal, grids):
    assert "one grid at a time" in refusal("-m", f"grid={grids}")


def test_a_grid_of_several_algorithms_names_the_one_that_lacks_a_parameter(refusal):
    algorithms = ("-m", "algorithm=oneclassrf,iforest")
    said = refusal(*algorithms, "algorithm.max_depth=4,8,auto")
    assert said.startswith("algorithm=iforest: algorithm.max_depth: unknown key. Valid names in ")
    assert "A grid gives algorithm.max_depth to each of its algorithms: run those" in said
    assert '(conf/README.md, "A grid")' in said
    # Nothing else has it where there is one algorithm.
    assert "A grid gives" not in refusal("-m", "algorithm=iforest", "algorithm.max_depth=4,8")


def test_a_glob_that_matches_only_templates_is_refused(refusal):
    assert "dataset=custom: a template" in refusal("-m", "dataset=glob(c*)")
