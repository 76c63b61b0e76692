"""Replayed splits: the stream from its start, positions stored, rows in order, what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from datasets import DataError, Dataset, load, make_split
from datasets.configuration import compose
from datasets.protocols import anticipate, mersenne, protocol_from, replay, with_stream
from datasets.protocols.replay import FOLDER, N_SPLITS, Draw, Position, Stream, load_stream

STREAMS = sorted(path.stem for path in FOLDER.glob("*.yaml"))
ORDER = [
    "http",
    "smtp",
    "shuttle",
    "forestcover",
    "ionosphere",
    "spambase",
    "annthyroid",
    "arrhythmia",
    "pendigits",
    "pima",
    "wilt",
    "adult",
]
#: R could not do the large ones.
LIST_OF_RFC = ["ionosphere", "spambase", "arrhythmia", "pima", "wilt"]
SETTINGS = {
    "novelty": {"name": "novelty", "anomalies_in_train": False},
    "outlier": {"name": "outlier", "anomalies_in_train": True},
}
PROTOCOL = {
    "name": "replayed",
    "cap": {"ratio": 0.1, "drawn": "once"},
    "scaling": {"kind": "none"},
    "generator": {"kind": "replayed", "stream": "made", "handed_over": True},
    "metrics": ["roc_auc_2016"],
}


def stream_named(name):
    algorithm, _, setting = name.rpartition("_")
    return load_stream(algorithm, setting)


def made(name, n_normal, n_anomalies, seed):
    """A data set whose only column numbers its rows."""
    y = np.zeros(n_normal + n_anomalies, dtype=np.int8)
    y[np.random.default_rng(seed).permutation(len(y))[:n_anomalies]] = 1
    return Dataset(name, np.arange(len(y), dtype=float)[:, np.newaxis], y, ("row",), "made")


def copied(generator):
    copy = np.random.RandomState()
    copy.set_state(generator.get_state())
    return copy


def from_the_start(tables, setting, fit_draws):
    """All splits of all tables as one plain program would make them, with one generator."""
    rng = np.random.RandomState(1)
    for table in tables:
        X, y = table.X, table.y
        begin = copied(rng)
        normal, anomalies = np.flatnonzero(y == 0), np.flatnonzero(y == 1)
        limit = len(normal) // 10
        rows = np.arange(len(y))
        if len(anomalies) > limit:
            rows = np.concatenate([normal, anomalies[rng.permutation(len(anomalies))[:limit]]])
        rows = rows[rng.permutation(len(rows))]
        for split in range(N_SPLITS):
            rows = rows[rng.permutation(len(rows))]
            train, test = rows[: len(rows) // 2], rows[len(rows) // 2 :]
            if setting == "novelty":
                train = train[y[train] == 0]
            before = copied(rng)
            fit_draws(rng, len(train))
            yield table, split, X[train, 0], X[test, 0], copied(begin), before


@pytest.mark.parametrize("setting", SETTINGS)
def test_splits_are_those_of_one_program_run_from_the_start(setting, monkeypatch):
    tables = [made("one", 200, 50, 1), made("two", 120, 12, 2), made("three", 61, 30, 3)]
    draws = [Draw(kind="uniforms", size="n_train"), Draw(kind="permutation", size="n_train")]
    draws.append(Draw(kind="integers", size=7))

    def fit_draws(rng, n_train):
        rng.uniform(size=n_train)
        rng.permutation(n_train)
        rng.randint(2**31 - 1, size=7)

    words = np.random.RandomState(1).randint(2**32, size=60_000, dtype=np.uint32)
    positions = {}
    expected = []
    for table, split, train, test, begin, before in from_the_start(tables, setting, fit_draws):
        expected.append((table, split, train, test, before))
        following = begin.randint(2**32, size=4, dtype=np.uint32)
        windows = np.lib.stride_tricks.sliding_window_view(words, 4)
        place = int(np.flatnonzero((windows == following).all(axis=1))[0])
        positions[table.name] = Position(words=place, origin="derived")
    stream = Stream(seed=1, draws=draws, positions=positions, stops={})
    monkeypatch.setattr("datasets.protocols.replay.load_stream", lambda name, setting: stream)
    for table, number, train, test, before in expected:
        split = make_split(
            table, setting=SETTINGS[setting], protocol=PROTOCOL, seed=0, split=number
        )
        np.testing.assert_array_equal(split.X_train[:, 0], train)
        np.testing.assert_array_equal(split.X_test[:, 0], test)
        np.testing.assert_array_equal(
            split.stream.randint(2**31, size=8), before.randint(2**31, size=8)
        )


@pytest.mark.parametrize("name", STREAMS)
def test_positions_rise_through_the_data_sets_in_their_order(name):
    stream = stream_named(name)
    words = [position.words for position in stream.positions.values()]
    assert list(stream.positions) == (LIST_OF_RFC if name.startswith("rfc") else ORDER)
    assert words[0] == 0
    assert (np.diff(words) > 0).all()


def test_what_was_found_by_search_is_two_positions_the_stops_and_the_list_of_rfc():
    found = {
        (name, dataset)
        for name in STREAMS
        for dataset, position in stream_named(name).positions.items()
        if position.origin != "derived" and not name.startswith("rfc")
    }
    assert found == {("lsad_novelty", "forestcover"), ("iforest_2016_novelty", "forestcover")}
    stopped = {name.rpartition("_")[0] for name in STREAMS if stream_named(name).stops}
    assert stopped == {"lof", "ocsvm", "ocrfsampling"}


@pytest.mark.mirror
@pytest.mark.parametrize("name", STREAMS)
def test_positions_follow_from_the_data_sets_before(name, data_home):
    """Shuffles, labels and draws alone lead from each data set to where the next one begins."""
    algorithm, _, setting = name.rpartition("_")
    stream = load_stream(algorithm, setting)
    protocol = with_stream(_replayed("protocol=replayed"), algorithm, setting)
    for dataset, following in itertools.pairwise(stream.positions):
        if dataset == "shuttle" and stream.positions[following].origin != "derived":
            continue  # the rows of the data set before do not stand as they did
        table = _table(dataset, str(data_home))
        generator = stream.at(dataset)
        _, order = replay.begin(table.y, protocol, generator)
        stop = stream.stops.get(dataset)
        for _ in range(stop.after if stop else N_SPLITS):
            order = order[replay.shuffled(generator, len(order))]
            train, _ = replay.cut(order, protocol)
            n_train = len(train)
            if setting == "novelty":
                n_train = int(np.count_nonzero(table.y[train] == 0))
            replay.draw(stream.draws, generator, n_train)
        np.testing.assert_array_equal(
            generator.randint(2**31, size=8), stream.at(following).randint(2**31, size=8)
        )


@pytest.mark.parametrize("words", [0, 1, 5, 623, 624, 625, 1248, 100_000])
@pytest.mark.parametrize("before", [0, 1, 623, 624, 700])
def test_skipping_drops_as_many_words_as_making_them(before, words):
    skipped, made = np.random.RandomState(3), np.random.RandomState(3)
    for generator in (skipped, made):
        generator.tomaxint(size=before // 2)  # two words each
    mersenne.skip(skipped, words)
    for _ in range(words):
        made.randint(2**32, dtype=np.uint32)
    np.testing.assert_array_equal(skipped.randint(2**31, size=700), made.randint(2**31, size=700))


def test_bundled_pendigits_has_another_order_and_is_refused():
    groups = compose(["dataset=pendigits", "protocol=replayed", "data.source=bundled"])
    protocol = with_stream(protocol_from(groups["protocol"]), "lof", "novelty").described()
    table = load(groups["dataset"], groups["data"])
    with pytest.raises(DataError, match="bundled served the rows of 'pendigits' in another order"):
        make_split(table, setting=SETTINGS["novelty"], protocol=protocol, seed=0, split=0)


@pytest.mark.parametrize("name", ["pima", "ionosphere", "spambase"])
def test_bundled_copies_have_the_order(name):
    groups = compose([f"dataset={name}", "data.source=bundled"])
    load(groups["dataset"], groups["data"]).require_order()


def test_what_cannot_be_replayed_is_refused():
    with pytest.raises(ValueError, match=r"no stream of 'knn' in setting 'novelty'.*lof"):
        with_stream(_replayed("protocol=replayed"), "knn", "novelty")
    table = made("nowhere", 50, 5, 0)
    lof = PROTOCOL | {"generator": {"kind": "replayed", "stream": "lof"}}
    with pytest.raises(ValueError, match="stream of 'lof' has no data set 'nowhere'"):
        make_split(table, setting=SETTINGS["novelty"], protocol=lof, seed=0, split=0)
    stopped = made("http", 50, 5, 0)
    with pytest.raises(ValueError, match=r"struck in experiment 6 of 'lof' on 'http'.*NA"):
        make_split(stopped, setting=SETTINGS["novelty"], protocol=lof, seed=0, split=0)
    small = load(*(compose(["dataset=pima"])[group] for group in ("dataset", "data")))
    with pytest.raises(ValueError, match="10 splits of a data set; there is none 10"):
        make_split(small, setting=SETTINGS["novelty"], protocol=lof, seed=0, split=10)


@pytest.mark.parametrize(
    ("key", "step"),
    [
        ("resize", {"most": 100}),
        ("cut", {"train_size": 0.7}),
        ("train_anomalies", "dropped"),
        ("test_rows", "all"),
        ("seeds", [1, 2]),
        ("cap", {"ratio": 0.1}),
    ],
)
def test_steps_that_the_stream_has_no_place_for_are_refused(key, step):
    with pytest.raises(ValueError, match=f"generator.kind: replayed.*{key}"):
        protocol_from(PROTOCOL | {key: step})


@pytest.mark.parametrize("generator", [{"stream": "lof"}, {"handed_over": True}])
def test_no_other_protocol_hands_a_stream_over(generator):
    with pytest.raises(ValueError, match="stream and handed_over are for kind: replayed"):
        protocol_from({"name": "other", "metrics": ["roc_auc"], "generator": generator})


def test_a_detector_of_another_algorithm_has_its_own_seed_on_the_same_splits():
    table = load(
        *(compose(["dataset=ionosphere", "data.source=bundled"])[g] for g in ("dataset", "data"))
    )
    own = with_stream(_replayed("protocol=replayed"), "ocsvm", "novelty").described()
    lent = _replayed("protocol=replayed_splits", "protocol.generator.stream=ocsvm")
    assert lent.name == "replayed_splits_ocsvm"
    splits = [
        make_split(table, setting=SETTINGS["novelty"], protocol=protocol, seed=seed, split=1)
        for protocol, seed in ((own, 0), (lent.described(), 0), (lent.described(), 1))
    ]
    assert isinstance(splits[0].stream, np.random.RandomState)
    assert splits[1].stream is splits[2].stream is None
    assert splits[1].random_state != splits[2].random_state
    for split in splits[1:]:
        np.testing.assert_array_equal(split.X_train, splits[0].X_train)
        np.testing.assert_array_equal(split.X_test, splits[0].X_test)


_TABLES: dict[str, Dataset] = {}


def _table(name, home):
    if name not in _TABLES:
        groups = compose(
            [f"dataset={name}", "protocol=paper", f"data.home={home}", "data.source=home"]
        )
        _TABLES[name] = load(groups["dataset"], groups["data"])
    return _TABLES[name]


def _replayed(*overrides):
    return protocol_from(compose(list(overrides))["protocol"])


@pytest.mark.parametrize("setting", SETTINGS)
def test_splits_are_the_same_in_any_order_and_whatever_draws_from_their_streams(setting):
    groups = compose(["dataset=ionosphere", "data.source=bundled"])
    protocol = with_stream(_replayed("protocol=replayed"), "lsad", setting).described()
    made = {}
    for numbers in ([0], [3], [7], [7, 3, 0], [0, 3, 7]):
        table = load(groups["dataset"], groups["data"])
        for number in numbers:
            if number == 3:
                anticipate(table, setting=SETTINGS[setting], protocol=protocol, split=number)
            split = make_split(
                table, setting=SETTINGS[setting], protocol=protocol, seed=0, split=number
            )
            drawn = split.stream.uniform(size=9)
            for mine, first in zip(
                (split.X_train, split.X_test, split.y_test, drawn),
                made.setdefault(number, (split.X_train, split.X_test, split.y_test, drawn)),
                strict=True,
            ):
                np.testing.assert_array_equal(mine, first)
