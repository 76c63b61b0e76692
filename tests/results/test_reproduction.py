"""REPRODUCTION.md: generated blocks change, hand-written sentences never do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.aggregate import make_cells
from results.cli import main
from results.published import paper
from results.published.reasons import FILE_NAME as REASONS
from results.records.frame import from_records
from results.reproduction.blocks import make_blocks
from results.reproduction.comparison import compare, explain
from results.reproduction.document import (
    FILE_NAME,
    marked,
    skeleton,
    update,
    write_reproduction,
)
from results.reproduction.ranks import rankings
from tests.results.support import make_record, published_records, write_fast

HEADER = "setting,dataset,algorithm,metric,reason\n"


def reasons_file(tmp_path, text):
    path = tmp_path / "reasons.csv"
    path.write_text(HEADER + text, encoding="utf-8")
    return path


sentences = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40).filter(
    lambda t: "<!--" not in t
)


@given(st.lists(sentences, min_size=4, max_size=4), sentences, sentences)
def test_text_outside_the_blocks_is_kept_to_the_letter(parts, old, new):
    names = ["summary", "clean", "differs"]
    before = parts[0] + "".join(marked(n, old) + p for n, p in zip(names, parts[1:], strict=True))
    after, problems = update(before, dict.fromkeys(names, new))
    assert after == parts[0] + "".join(
        marked(n, new) + p for n, p in zip(names, parts[1:], strict=True)
    )
    assert not problems
    assert update(after, dict.fromkeys(names, new))[0] == after


def test_backslashes_and_group_references_in_numbers_are_no_patterns():
    text, _ = update(marked("a", "x"), {"a": r"\1 \g<0> \n"})
    assert text == marked("a", r"\1 \g<0> \n")


def test_unknown_and_absent_blocks_are_named_and_left():
    text, problems = update(marked("other", "keep"), {"summary": "new"})
    assert text == marked("other", "keep")
    assert problems == ["unknown block 'other' left as it is", "the file has no block 'summary'"]


def test_a_text_with_one_of_the_blocks_means_to_have_one():
    text, problems = update(marked("table2", "old"), {"table2": "new", "summary": "new"})
    assert text == marked("table2", "new")
    assert not problems


def test_a_block_without_an_end_is_refused_before_anything_is_replaced():
    with pytest.raises(ValueError, match="'summary' has no line <!-- end: summary -->"):
        update("<!-- generated: summary -->\nnumbers\nmy sentences", {"summary": "new"})


def test_the_skeleton_has_every_block(paper_records):
    blocks, _ = make_blocks(from_records(paper_records[:50]), [])
    text, problems = update(skeleton(), blocks)
    assert not problems
    assert "162 of" not in text


def test_a_rerun_with_other_numbers_keeps_sentences_and_reasons(paper_records, recorder, tmp_path):
    file = tmp_path / "REPRODUCTION.md"
    reasons = reasons_file(tmp_path, 'novelty,wilt,rfc,roc_auc_curve,"R draws, differently."\n')
    write_reproduction(from_records(paper_records), recorder.output, file, reasons)
    assert any("not needed any more: novelty, wilt, rfc" in r for r in recorder.output.remarks)
    text = file.read_text()
    assert "162 of 162" in text
    file.write_text(text.replace("## What differs\n", "## What differs\n\nMy own sentence.\n"))
    changed = [
        r
        for r in paper_records
        if (r.dataset, r.algorithm, r.setting) != ("wilt", "rfc", "novelty")
    ]
    changed += [make_record("wilt", "rfc", split=s, roc=0.5, pr=0.631) for s in range(10)]
    write_reproduction(from_records(changed), recorder.output, file, reasons)
    text = file.read_text()
    assert "My own sentence." in text
    assert "161 of 162" in text
    assert "\n- wilt, RFC (ROC 0.500 ± 0.000 over the splits): R draws, differently.\n" in text
    assert "**0.500 (0.896)**" in text
    assert "\nbold: differs; NA: not finished within the time limit.\n" in text


def test_what_is_said_to_be_unexplained_does_not_count_as_explained(tmp_path, recorder):
    reasons = reasons_file(
        tmp_path,
        "novelty,wilt,rfc,*,Unexplained. No width that was tried helps.\nnovelty,wilt,lof,*,Known.\n",
    )
    records = [
        make_record("wilt", name, split=s, roc=0.1, pr=pr)
        for name, pr in (("rfc", 0.631), ("lof", 0.092))
        for s in range(10)
    ]
    file = tmp_path / "REPRODUCTION.md"
    write_reproduction(from_records(records), recorder.output, file, reasons)
    assert "explained below: 1, unexplained: 1." in file.read_text()


def test_each_cell_takes_its_most_specific_reason(tmp_path):
    path = reasons_file(
        tmp_path,
        "novelty,*,iforest,*,general\nnovelty,pima,iforest,roc_auc_curve,special\nnovelty,wilt,lof,*,unused\n",
    )
    records = [
        make_record(dataset, roc=0.1, pr=pr, split=split)
        for dataset, pr in (("pima", 0.183), ("wilt", 0.045))
        for split in range(10)
    ]
    table = compare(make_cells(from_records(records).frame))
    explained, unused = explain(table, paper.publication().reasons_in(path))
    by_cell = {(row["dataset"], row["metric"]): reason for row, reason in explained}
    assert by_cell["pima", "roc_auc_curve"] == "special"
    assert by_cell["wilt", "roc_auc_curve"] == "general"
    assert [reason.reason for reason in unused] == ["unused"]
    assert explain(table, [])[0][0][1] == "unexplained"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("novelty,wilt,rfc,auc,x\n", "line 2: metric 'auc' is none of roc_auc_curve"),
        ("both,wilt,rfc,*,x\n", "line 2: setting 'both'"),
        ("novelty,wilt,rfc,*, \n", "line 2: the reason is empty"),
        ("novelty,wilt,rfc,*,a,b\n", "line 2: 6 fields, and the header has 5"),
        ("novelty,wilt,rfc,*,ok\nnovelty,wilt,rfc\n", "line 3: 3 fields, and the header has 5"),
    ],
)
def test_a_wrong_line_of_reasons_is_named(tmp_path, line, message):
    with pytest.raises(ValueError, match=message):
        paper.publication().reasons_in(reasons_file(tmp_path, line))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "line 1: the columns must be"),
        (b"setting,dataset,algorithm,reason\nnovelty,wilt,rfc,x\n", "line 1: the columns must be"),
        (HEADER.encode() + "novelty,wilt,rfc,*,Näheres\n".encode("latin-1"), "is not UTF-8"),
    ],
)
def test_a_file_that_holds_no_reasons_is_named(tmp_path, content, message):
    path = tmp_path / "mine.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"mine\.csv.*{message}"):
        paper.publication().reasons_in(path)
    with pytest.raises(FileNotFoundError, match=r"no file .*absent\.csv"):
        paper.publication().reasons_in(tmp_path / "absent.csv")


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path):
    path = tmp_path / "reasons.csv"
    path.write_text(HEADER + "novelty,wilt,rfc,*,why\n", encoding="utf-8-sig")
    assert [reason.reason for reason in paper.publication().reasons_in(path)] == ["why"]
    path.write_text(HEADER, encoding="utf-8")
    assert paper.publication().reasons_in(path) == []


def test_the_document_is_written_below_the_output_and_nowhere_else(tmp_path, paper_records):
    write_fast(tmp_path / "records", paper_records[:5])
    committed = (paper.FOLDER.parents[1] / FILE_NAME).read_bytes()
    assert main(["reproduction", "--output", str(tmp_path)]) == 0
    assert (paper.FOLDER.parents[1] / FILE_NAME).read_bytes() == committed
    written = (tmp_path / FILE_NAME).read_text()
    assert "## What differs" in written
    assert main(["reproduction", "--output", str(tmp_path), "--file", str(tmp_path / "my.md")]) == 0
    assert (tmp_path / "my.md").read_text() == written


def test_the_project_s_own_reasons_are_valid():
    assert (paper.FOLDER / REASONS).exists()
    assert paper.publication().reasons


def test_rankings_compare_both_protocols_on_common_data_sets():
    records = [r for r in published_records(1) if r.algorithm in ("oneclassrf", "iforest")]
    clean = [
        make_record(
            r.dataset,
            r.algorithm,
            setting=r.setting,
            protocol="clean",
            roc=0.9 if r.algorithm == "iforest" else 0.1,
        )
        for r in records
        if r.dataset != "http"
    ]
    text = rankings(make_cells(from_records([*records, *clean]).frame))
    assert "http" not in text
    row = next(line for line in text.splitlines() if "iForest" in line)
    assert row.split("|")[3].strip() == "1.00"


def test_large_differences_under_a_wide_spread_are_listed_with_their_reason(tmp_path):
    records = [
        make_record("arrhythmia", "ocsvm", split=s, roc=0.85 + 0.1 * (-1) ** s, pr=0.639)
        for s in range(10)
    ]
    reasons = paper.publication().reasons_in(
        reasons_file(tmp_path, "*,arrhythmia,ocsvm,*,one subset\n")
    )
    blocks, remarks = make_blocks(from_records(records), reasons)
    assert "| arrhythmia |     OCSVM | novelty |    ROC |" in blocks["wide"]
    assert blocks["wide"].endswith("|      1 |\n\n1. one subset")
    assert "arrhythmia" not in blocks["differs"]
    assert not remarks


def scattered(dataset, algorithm, roc):
    """Ten splits of a mean ROC area so far apart that two standard errors cover a lot."""
    published_pr = {"ocsvm": 0.639, "lof": 0.473, "lsad": 0.514, "orca": 0.466}
    return [
        make_record(
            dataset, algorithm, split=s, roc=roc + 0.1 * (-1) ** s, pr=published_pr[algorithm]
        )
        for s in range(10)
    ]


def test_a_reason_is_printed_however_small_the_difference_that_it_explains(tmp_path):
    records = [*scattered("arrhythmia", "lof", 0.72), *scattered("arrhythmia", "orca", 0.68)]
    reasons = paper.publication().reasons_in(
        reasons_file(tmp_path, "*,arrhythmia,lof,*,a slip in the paper\n")
    )
    blocks, _ = make_blocks(from_records(records), reasons)
    assert "a slip in the paper" in blocks["wide"]  # .041 from the published .761
    assert "Orca" not in blocks["wide"]  # .040 from the published .720, and nobody knows why


def test_the_summary_counts_what_only_the_spread_covers_and_nobody_explains(tmp_path):
    records = [
        *scattered("arrhythmia", "ocsvm", 0.85),  # .922
        *scattered("arrhythmia", "lof", 0.70),  # .761
        *scattered("arrhythmia", "lsad", 0.70),  # .778
        *scattered("arrhythmia", "orca", 0.69),  # .720: no large difference
    ]
    text = "*,*,ocsvm,*,Unexplained. No width helps.\n*,*,lof,*,Known.\n"
    blocks, _ = make_blocks(
        from_records(records), paper.publication().reasons_in(reasons_file(tmp_path, text))
    )
    assert blocks["summary"].splitlines()[-1] == (
        "- 3 more differ by over 0.05 and are covered only by the spread; unexplained: 2."
    )


def test_reasons_stand_below_the_table_once_each(tmp_path):
    why = "x" * 300
    reasons = paper.publication().reasons_in(reasons_file(tmp_path, f"*,wilt,rfc,*,{why}\n"))
    records = [make_record("wilt", "rfc", split=s, roc=0.1, pr=0.1) for s in range(10)]
    records += [make_record("wilt", "lof", split=s, roc=0.1, pr=0.092) for s in range(10)]
    lines = make_blocks(from_records(records), reasons)[0]["differs"].splitlines()
    assert [line.split("|")[-2].strip() for line in lines if line.startswith("| wilt")] == [
        "1",
        "none",
        "1",
    ]
    assert lines[-1] == f"1. {why}"
    assert max(map(len, lines[:-1])) < 120
