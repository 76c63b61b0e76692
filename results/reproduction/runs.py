"""Which runs may stand beside the numbers of a publication."""

from __future__ import annotations

import pandas as pd

from results.published.publication import Publication


def check_runs(frame: pd.DataFrame, publication: Publication) -> list[str]:
    """Refuse experiments none of which was made as the published values were.

    Parameters
    ----------
    frame : DataFrame
        As :attr:`results.records.frame.Experiments.frame`.
    publication : Publication

    Returns
    -------
    remarks : list of str
        The experiments of other protocols and settings, which are left out.

    Raises
    ------
    ValueError
        Names the protocols and settings of the publication, and those of the experiments.
    """
    made_with = {(run.protocol, run.setting) for run in publication.description.settings.values()}
    counts = frame.groupby(["protocol", "setting"], sort=True).size().to_dict()
    if not made_with & counts.keys():
        raise ValueError(
            f"the values of {publication.name} were made with {_named(made_with)}, and the records "
            f"were made with {_named(counts)}: they do not measure the same. Run that protocol, or "
            "name the publication that fits with --published"
        )
    return [
        f"left out: {count} experiments of {_named([run])}, with which {publication.name} was not "
        "made"
        for run, count in counts.items()
        if run not in made_with
    ]


def _named(runs: object) -> str:
    settings: dict[str, list[str]] = {}
    for protocol, setting in sorted(runs):  # type: ignore[call-overload]
        settings.setdefault(protocol, []).append(setting)
    return "; ".join(f"protocol {name} ({', '.join(own)})" for name, own in settings.items())


def not_run(table: pd.DataFrame, publication: Publication) -> list[str]:
    """Say which published values have nothing beside them, and why.

    Parameters
    ----------
    table : DataFrame
        As :func:`results.reproduction.comparison.compare`.
    publication : Publication
    """
    described = publication.description
    absent = [name for name, ours in publication.datasets.items() if ours is None]
    unmatched = [name for name in publication.columns if name not in described.algorithms]
    lines = []
    if absent:
        lines.append(f"Data sets that are not here ({len(absent)}): {', '.join(absent)}.")
    if unmatched:
        lines.append(f"Algorithms that are not here ({len(unmatched)}): {', '.join(unmatched)}.")
    compared = set(table["setting"])
    if settings := [name for name in described.settings if name not in compared]:
        lines.append(f"Settings of which nothing was run: {', '.join(settings)}.")
    for setting, part in table[table["as_run"]].groupby("setting", sort=False):
        here = part[~part["dataset"].isin(absent)]
        missing = here[here["verdict"] == "not run"].drop_duplicates(["dataset", "algorithm"])
        n_algorithms = here["algorithm"].nunique()
        counts = missing["dataset"].value_counts()
        whole = [name for name in dict.fromkeys(missing["dataset"]) if counts[name] == n_algorithms]
        if whole:
            lines.append(
                f"Data sets of which nothing was run ({setting}, {len(whole)}): {', '.join(whole)}."
            )
        rest = missing[~missing["dataset"].isin(whole)]
        for algorithm, own in rest.groupby("algorithm", sort=False):
            lines.append(f"Not run ({setting}, {algorithm}): {', '.join(own['dataset'])}.")
    return lines
