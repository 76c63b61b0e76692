"""Arrays in .npz, .mat and HDF5 files."""

from __future__ import annotations

import numpy as np
import pytest

from datasets import DataError
from tests.datasets.support import own

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 0, 1, 0, 0, 1])


def save(path, **arrays):
    import h5py
    import scipy.io

    if path.suffix == ".npz":
        np.savez(path, **arrays)
    elif "hdf5" in path.stem:
        with h5py.File(path, "w", userblock_size=512) as file:
            for name, array in arrays.items():
                file[name] = np.asarray(array).T
    else:
        scipy.io.savemat(path, arrays)
    return path


FORMATS = ["my.npz", "my.mat", "my-hdf5.mat"]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("shape", [(6,), (6, 1)])
def test_arrays(name, shape, tmp_path):
    dataset = own(save(tmp_path / name, X=X, y=Y.reshape(shape)))
    np.testing.assert_array_equal(dataset.X, X)
    np.testing.assert_array_equal(dataset.y, Y)
    assert dataset.feature_names == ("V1", "V2")


@pytest.mark.parametrize("name", FORMATS)
def test_arrays_that_do_not_fit_are_named(name, tmp_path):
    with pytest.raises(DataError, match=r"has no array 'y'; it has 'X', 'z'"):
        own(save(tmp_path / name, X=X, z=Y))
    assert own(save(tmp_path / name, X=X, z=Y), target="z").n_anomalies == 2
    with pytest.raises(DataError, match=r"6 rows in X and 5 labels in y"):
        own(save(tmp_path / name, X=X, y=Y[:5]))


def test_text_labels_and_matrices_of_other_shapes(tmp_path):
    labels = np.where(Y == 1, "bad", "good")
    assert own(save(tmp_path / "a.npz", X=X, y=labels), anomalies=["bad"]).n_anomalies == 2
    with pytest.raises(DataError, match=r"has the shape \(2, 3, 2\)"):
        own(save(tmp_path / "a.npz", X=X.reshape(2, 3, 2), y=Y[:2]))


def test_nothing_in_an_npz_is_unpickled(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.array([{"a": 1}], dtype=object), y=Y[:1])
    with pytest.raises(DataError, match=r"Object arrays cannot be loaded"):
        own(tmp_path / "a.npz")


@pytest.mark.parametrize("suffix", ["npz", "mat"])
@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 half", b"\x89HDF\r\n\x1a\n", b"text" * 99])
def test_damaged_arrays_are_named(suffix, content, tmp_path):
    (tmp_path / f"my.{suffix}").write_bytes(content)
    with pytest.raises(DataError, match=rf"my\.{suffix} cannot be read"):
        own(tmp_path / f"my.{suffix}")
