"""Departures of the protocol: each is measured on the cells both ways have, and on nothing else."""

import pytest

from results.aggregate import make_cells
from results.records.frame import from_records
from results.reproduction.departures import effects, missing
from results.reproduction.departures_output import rows_of, to_csv, to_markdown, write_departures
from tests.results.support import make_record


def found(records):
    frame = from_records(records).frame
    return effects(frame, make_cells(frame))


def only(records, name):
    return [e for e in found(records) if e.departure.name == name]


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("Orca", {"algorithm": "orca"}, {"algorithm": "orca_clean"}),
        ("neighbours of LOF", {"algorithm": "lof"}, {"algorithm": "lof_text"}),
        (
            "training labels for OCRFsampling",
            {"algorithm": "ocrfsampling_supervised"},
            {"algorithm": "ocrfsampling"},
        ),
        (
            "points outside the training box",
            {"algorithm": "oneclassrf"},
            {"algorithm": "oneclassrf", "variant": "out_of_bounds=null"},
        ),
        (
            "features searched per node",
            {"algorithm": "oneclassrf"},
            {"algorithm": "oneclassrf", "variant": "max_features_node=5"},
        ),
        (
            "a leaf of one point",
            {"algorithm": "oneclassrf"},
            {"algorithm": "oneclassrf", "variant": "scoring=published_depth"},
        ),
        (
            "ranges that rescale Orca's test points",
            {"algorithm": "orca"},
            {"algorithm": "orca", "variant": "scaling=train"},
        ),
        (
            "scores that Orca reports",
            {"algorithm": "orca"},
            {"algorithm": "orca", "variant": "report=null"},
        ),
        (
            "Orca, clean protocol",
            {"algorithm": "orca", "protocol": "clean"},
            {"algorithm": "orca_clean", "protocol": "clean"},
        ),
        ("protocol (exact metrics of both)", {"protocol": "paper"}, {"protocol": "clean"}),
        (
            "repeated rows of all data sets, clean protocol",
            {"protocol": "clean"},
            {"protocol": "clean_distinct"},
        ),
        (
            "subset of anomalies",
            {"config": {"protocol": {"name": "paper", "cap": {"drawn": "per_split"}}}},
            {"config": {"protocol": {"name": "paper", "cap": {"drawn": "once"}}}, "key": "e" * 64},
        ),
        (
            "anomalies in novelty detection",
            {"config": {"protocol": {"name": "paper", "cap": {"ratio": 0.1}}}},
            {"config": {"protocol": {"name": "paper", "cap": {"ratio": None}}}, "key": "e" * 64},
        ),
    ],
)
def test_each_departure_is_its_two_means_over_common_data_sets(name, first, second):
    records = [make_record(roc=0.6, pr=0.3, **first), make_record(roc=0.9, pr=0.2, **second)]
    key = {k: v.replace("e", "d") if k == "key" else v for k, v in second.items()}
    records += [
        make_record("wilt", roc=0.5, pr=0.1, **first),
        make_record("wilt", roc=0.6, pr=0.5, **key),
        make_record("adult", roc=0.1, **first),  # only one way: must not count
    ]
    if "key" in second:  # a protocol's option: the usual way keeps the plain name
        records.append(make_record("pima", split=1, roc=0.6, pr=0.3, **first))
    roc, pr = only(records, name)
    assert roc.datasets == ("pima", "wilt")
    assert (roc.first, roc.second) == pytest.approx((0.55, 0.75))
    assert roc.change == pytest.approx(0.2)
    assert (roc.farthest, roc.farthest_change) == ("pima", pytest.approx(0.3))
    assert pr.change == pytest.approx(0.15)
    assert pr.farthest == "wilt"


def test_shuttle_s_duplicates_are_measured_on_shuttle_alone():
    def run(dataset, repeat, roc, split):
        config = {
            "protocol": {"name": "paper", "repeats": repeat},
            "dataset": {"name": dataset, "repeat": repeat},
        }
        return make_record(
            dataset,
            config=config,
            roc=roc,
            split=split,
            key=f"{hash((dataset, repeat, split)) % 16**16:064x}",
        )

    records = [run(d, "published", 0.9, s) for d in ("shuttle", "pima") for s in range(2)]
    records += [run("shuttle", "source", 0.7, 0), run("pima", "source", 0.1, 0)]
    roc, _ = only(records, "repeated rows of shuttle")
    assert roc.datasets == ("shuttle",)
    assert roc.change == pytest.approx(-0.2)


def test_area_of_curves_against_exact_metrics():
    record = make_record(
        metrics={
            "roc_auc": 0.7,
            "average_precision": 0.13,
            "roc_auc_curve": 0.69,
            "pr_auc_curve": 0.49,
        }
    )
    roc, pr = only([record], "area")
    assert roc.change == pytest.approx(0.01)
    assert pr.change == pytest.approx(-0.36)


def test_options_of_the_protocol_are_told_apart_when_both_vary():
    def protocol(subset="per_split", repeated="published"):
        options = {"cap": {"drawn": subset}, "repeats": repeated}
        return {"protocol": {"name": "paper", **options}}

    usual = [
        make_record("shuttle", split=split, roc=0.5, config=protocol(), key=f"{split}" * 64)
        for split in range(3)
    ]
    fixed = make_record("shuttle", roc=0.6, config=protocol("once"), key="a" * 64)
    single = make_record("shuttle", roc=0.8, config=protocol(repeated="source"), key="b" * 64)
    both = make_record("shuttle", roc=0.9, config=protocol("once", "source"), key="c" * 64)
    records = [*usual, fixed, single, both]
    assert only(records, "subset of anomalies")[0].change == pytest.approx(0.1)
    assert only(records, "repeated rows of shuttle")[0].change == pytest.approx(0.3)


def test_what_cannot_be_measured_is_named(recorder):
    records = [make_record("pima", "orca"), make_record("wilt", "orca_clean", status="timeout")]
    names = missing(found(records))
    assert "Orca: as run against clean" in names
    assert len(names) == 16
    write_departures(from_records(records), recorder.output)
    assert "not measured: Orca: as run against clean" in recorder.output.remarks


def test_the_table_says_how_many_data_sets_and_signs_changes():
    records = [make_record("pima", "orca", roc=0.5), make_record("pima", "orca_clean", roc=0.7)]
    rows = rows_of(only(records, "Orca"))
    assert rows[0][:8] == [
        "Orca: as run / clean",
        "Orca",
        "novelty",
        "1",
        "0.500",
        "0.700",
        "+0.200",
        "pima +0.200",
    ]
    assert "pima +0.200" in to_markdown(rows)
    assert to_csv(rows).splitlines()[0].endswith("pr_first,pr_second,pr_change,pr_largest")


def test_no_column_calls_our_own_values_published():
    records = [
        make_record(roc=0.6),
        make_record(algorithm="oneclassrf", roc=0.5),
        make_record(algorithm="oneclassrf", variant="scoring=published_depth", roc=0.7),
    ]
    # This departure names the text's way first and what was run second.
    rows = rows_of(only(records, "a leaf of one point"))
    assert rows[0][0] == "a leaf of one point: c(1) = 0 (the text) / c(1) = 1 (as run)"
    text = to_markdown(rows)
    heading = next(line for line in text.splitlines() if line.startswith("| departure"))
    assert [name.strip() for name in heading.split("|")[5:7]] == ["ROC first", "ROC second"]
    assert rows[0][4:6] == ["0.500", "0.700"]
    assert "published" not in heading
    assert "other" not in heading


def test_only_splits_that_both_ways_have_are_compared():
    records = [make_record(algorithm="orca", split=s, roc=0.1 * s) for s in range(3)]
    records += [make_record(algorithm="orca_clean", split=s, roc=0.1 * s + 0.05) for s in (1, 2, 3)]
    roc, _ = only(records, "Orca")
    assert (roc.first, roc.change) == pytest.approx((0.15, 0.05))


def test_a_cell_that_is_na_is_not_compared():
    records = [
        make_record(algorithm="orca", split=s, status="ok" if s else "timeout") for s in range(2)
    ]
    assert not only([*records, make_record(algorithm="orca_clean", split=1)], "Orca")
