"""The data sets that scikit-learn's own fetchers download."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
from sklearn import config_context

from datasets.errors import SourceFailed
from datasets.tables import from_frame

# The fetcher splits the 4.9 million lines of KDD Cup 1999 into texts of their own: 15 GB, measured.
_KDD_GIGABYTES = 16


def fetch(
    source: Mapping[str, Any], target: str | None, access: Mapping[str, Any], folder: Path
) -> pa.Table:
    """Fetch `covtype`, or a subset of `kddcup99`.

    Parameters
    ----------
    source : mapping
        `fetcher`: covtype or kddcup99, the latter with a `subset`, http or smtp.
    target : str or None
        The name for the label column.
    access : mapping
        `sklearn_url`: a mirror of Figshare's files, or None; scikit-learn checks their sha256.
    folder : Path
        Holds scikit-learn's cache, ten times as large as the part that is used.
    """
    fetcher = str(source["fetcher"])
    if access.get("sklearn_url"):
        _use_mirror(fetcher, str(access["sklearn_url"]))
    options = {"data_home": folder, "n_retries": 0}
    # The fetchers repeat a request that failed, be it with 404, and ask for one repetition at
    # least. Here the caller repeats, so the check of that parameter is left out.
    unchecked = config_context(skip_parameter_validation=True)
    if fetcher == "covtype":
        from sklearn.datasets import fetch_covtype

        with unchecked:
            bunch = fetch_covtype(**options)
        # The wooded areas and soils are 44 columns of zeros and ones.
        frame = pd.DataFrame(bunch.data[:, :10], columns=bunch.feature_names[:10])
        labels = bunch.target
    elif fetcher == "kddcup99":
        _require_memory(_KDD_GIGABYTES)
        from sklearn.datasets import fetch_kddcup99

        with unchecked:
            bunch = fetch_kddcup99(subset=source["subset"], percent10=False, **options)
        frame = pd.DataFrame(np.asarray(bunch.data, dtype=float), columns=bunch.feature_names)
        labels = bunch.target
    else:
        raise SourceFailed(f"fetcher must be covtype or kddcup99; got {fetcher!r}")
    return from_frame(frame.assign(**{target or "class": labels}))


def _use_mirror(fetcher: str, url: str) -> None:
    """Make a fetcher of this process download from a mirror: it has no option for one."""
    module: Any = importlib.import_module(f"sklearn.datasets._{fetcher}")
    file = module.ARCHIVE.url.rsplit("/", 1)[1]
    module.ARCHIVE = module.ARCHIVE._replace(url=f"{url.rstrip('/')}/{file}")


def _require_memory(gigabytes: float) -> None:
    available = psutil.virtual_memory().available / 2**30
    if available < gigabytes:
        raise SourceFailed(
            f"scikit-learn's fetcher needs about {gigabytes} GB of memory, {available:.1f} are free"
        )
