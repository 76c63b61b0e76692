"""Made-up published numbers: a folder of them, and publications of a few columns."""

import yaml

from results.published.description import Description
from results.published.publication import Publication
from results.published.values import read_values

DESCRIPTION = {
    "citation": "Nobody (2020): A benchmark",
    "scale": "percent",
    "digits": 1,
    "metrics": {
        "roc_auc": {"value": "AUC", "spread": "sd"},
        "average_precision": "AP",
    },
    "settings": {"semi": {"setting": "novelty", "protocol": "clean"}},
    "datasets": {"Pima Indians": "pima", "Wilt": "wilt", "Elsewhere": None},
    "algorithms": {"k-NN": "pyod_knn", "IF": ["iforest", "iforest(max_samples=64)"]},
    "tolerance": {"absolute": 0.1},
}
LONG = """dataset,algorithm,AUC,sd,AP
Pima Indians,k-NN,70.1,0.5,50
Pima Indians,IF,68.0,,40.2
Wilt,k-NN,NA,NA,
Wilt,IF,45.5,1.5,4.4
Elsewhere,k-NN,99.9,0,99
"""
WIDE = """setting,dataset,metric,k-NN,IF
semi,Pima Indians,AUC,70.1,68.0
semi,Pima Indians,sd,0.5,
semi,Pima Indians,AP,50,40.2
semi,Wilt,AUC,NA,45.5
semi,Wilt,sd,NA,1.5
semi,Wilt,AP,,4.4
semi,Elsewhere,AUC,99.9,
semi,Elsewhere,sd,0,
semi,Elsewhere,AP,99,
"""


def write(folder, description=DESCRIPTION, values=LONG, reasons=None):
    folder.mkdir(parents=True, exist_ok=True)
    text = (
        description
        if isinstance(description, str)
        else yaml.safe_dump(description, sort_keys=False)
    )
    (folder / "published.yaml").write_text(text, encoding="utf-8")
    (folder / "values.csv").write_text(values, encoding="utf-8")
    if reasons is not None:
        (folder / "reasons.csv").write_text(reasons, encoding="utf-8")
    return folder


def changed(**keys):
    return {name: value for name, value in (DESCRIPTION | keys).items() if value is not None}


#: Columns of a publication that `publisher` makes.
PRINTED = ["A", "B", "C", "D"]


def publisher(folder):
    """Return a maker of publications of values (data sets x printed columns, in per cent)."""

    def make(block, **changes):
        described = {
            "citation": "Nobody (2020)",
            "scale": "percent",
            "digits": 1,
            "form": "wide",
            "metrics": {"roc_auc": "AUC"},
            "settings": {"semi": {"setting": "novelty", "protocol": "clean", "splits": 1}},
            "datasets": "same",
            "algorithms": {"A": "lof"},
            "tolerance": {"absolute": 0.1},
        } | changes
        described["algorithms"] = dict.fromkeys(PRINTED) | described["algorithms"]
        if described["datasets"] != "same":
            described["datasets"] = dict.fromkeys(block) | described["datasets"]
        description = Description.model_validate(described)
        lines = [["dataset", *PRINTED], *([name, *row] for name, row in block.items())]
        path = folder / "values.csv"
        path.write_text("".join(f"{','.join(line)}\n" for line in lines))
        return Publication("nobody", folder, description, read_values(path, description), [])

    return make
