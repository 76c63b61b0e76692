"""The table of repeated rows holds the shares of the file, the largest first."""

import pytest

from results.reproduction.repeats import FILE, repeated_rows, repeats_block

TEXT = """dataset,setting,splits,normal,anomalies
pima,novelty,10,0.0,0.0
pima,outlier,10,0.0123,0.5
http,novelty,10,0.6611,0.0
http,outlier,10,0.6612,0.9849
"""


def test_shares_are_shown_in_per_cent_and_in_order(tmp_path):
    file = tmp_path / "repeated_rows.csv"
    file.write_text(TEXT)
    lines = repeats_block(file).splitlines()
    assert [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:4]] == [
        ["http", "66.1 %", "66.1 %", "98.5 %"],
        ["pima", "0.0 %", "1.2 %", "50.0 %"],
    ]
    assert lines[-1].startswith("Means over 10 splits")
    assert repeats_block(tmp_path / "absent.csv").startswith("Nothing to show")


def test_the_published_shares_are_of_all_data_sets():
    table = repeated_rows()
    assert len(table) == 2 * 12
    assert table[["normal", "anomalies"]].stack().between(0, 1).all()
    assert FILE.exists()


@pytest.mark.parametrize("column", ["normal", "anomalies"])
def test_outlier_detection_repeats_at_least_as_much(column):
    """Its training part holds the normal rows of novelty detection, and anomalies beside them."""
    shares = repeated_rows()[column].unstack("setting")
    assert (shares["outlier"] >= shares["novelty"]).all()
