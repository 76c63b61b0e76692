"""A store of records: other writers come, go and are killed, and file systems have their limits."""

import os
import shutil

import pytest

from results.records.store import RecordStore
from tests.results.support import make_record


@pytest.mark.parametrize("keep", ["old", "new"])
def test_of_two_files_with_one_key_the_later_one_counts(tmp_path, keep):
    """A writer that is killed between writing under a new label and removing the old file."""
    key = "a" * 64
    store = RecordStore(tmp_path / "store")
    folders = {}
    for moment, (name, roc, variant) in enumerate([("old", 0.1, ""), ("new", 0.9, "x=1")]):
        path = RecordStore(tmp_path / name).put(make_record(roc=roc, variant=variant, key=key))
        os.utime(path, (moment, moment))
        folders[name] = store.path / "pima" / path.parent.name
        shutil.copytree(path.parent, folders[name])
    assert len(store) == 1
    assert store.get(key).metrics["roc_auc"] == 0.9
    shutil.rmtree(folders["new" if keep == "old" else "old"])
    assert len(store) == len(RecordStore(store.path)) == 1
    assert store.get(key).metrics["roc_auc"] == (0.1 if keep == "old" else 0.9)


def test_a_folder_that_is_removed_is_forgotten(tmp_path):
    store = RecordStore(tmp_path)
    store.put(make_record())
    wilt = store.put(make_record("wilt"))
    assert len(store) == 2
    shutil.rmtree(wilt.parent.parent)
    assert [record.dataset for record in store] == ["pima"]
    assert store.locate([make_record("wilt").key]) == {}


def test_what_cannot_be_read_at_all_counts_as_missing(tmp_path):
    store = RecordStore(tmp_path)
    store.put(make_record())
    folder = store.put(make_record("wilt"))
    folder.unlink()
    folder.mkdir()
    assert [record.dataset for record in store] == ["pima"]
    assert store.get(make_record("wilt").key) is None
    assert [path for path, _ in store.unreadable] == [folder]


@pytest.mark.parametrize("letter", ["x", "\N{GREEK SMALL LETTER ALPHA}", "\u6f22", "\U0001f332"])
def test_long_names_are_cut_to_what_file_systems_take(tmp_path, letter):
    names = dict.fromkeys(
        ("dataset", "algorithm", "variant", "setting", "protocol"), (letter + "-") * 200
    )
    store = RecordStore(tmp_path)
    path = store.put(make_record(seed=2**32 - 1, split=10**5, **names))
    assert max(len(part.encode()) for part in path.relative_to(tmp_path).parts) <= 255
    assert [record.dataset for record in store] == [names["dataset"]]
