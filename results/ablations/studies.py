"""The ablations: which parameters each one varies, and which experiments belong to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Final

import pandas as pd

TARGET: Final = "ocrf.OneClassRF"
#: What every ablation compares with: the defaults that the paper's text states.
REFERENCE: Final[dict[str, Any]] = {
    "n_estimators": 100,
    "max_samples": "auto",
    "max_features_tree": "auto",
    "max_features_node": 5,
    "gamma": 1.0,
    "max_depth": "auto",
    "criterion": "gini",
    "min_samples_split": 2,
    "out_of_bounds": None,
    "contamination": "auto",
    "adversary": "adaptive",
    "scoring": "depth",
    "min_log_density": None,
    "max_log_density": None,
}


@dataclass(frozen=True, eq=False)
class Study:
    """One ablation: all combinations of the values of a few parameters, the others as referenced.

    Attributes
    ----------
    name : str
        ``grid=ablation_<name>`` runs it.
    title, question : str
    values : dict of str to tuple
        The values of each varied parameter, in the order of the tables.
    contrast : str or None
        A parameter to compare the values of, for each combination of the others.
    """

    name: str
    title: str
    question: str
    values: Mapping[str, tuple[Any, ...]]
    contrast: str | None = None

    @property
    def command(self) -> str:
        """What runs the study's experiments."""
        return f"python -m runners grid=ablation_{self.name} output=output/ablations"

    @cached_property
    def levels(self) -> dict[str, str]:
        """Label of each combination, by its canonical text."""
        return {_canonical(level): label for label, level in self._levels}

    @cached_property
    def _levels(self) -> list[tuple[str, dict[str, Any]]]:
        combinations = [
            dict(zip(self.values, values, strict=True)) for values in product(*self.values.values())
        ]
        return [(self.label(level), level) for level in combinations]

    @property
    def reference(self) -> str:
        """Label of the reference."""
        return self.label({name: REFERENCE[name] for name in self.values})

    def describe(self, label: str) -> str:
        """Return a level by the parameters in which it differs from the reference."""
        level = next(level for text, level in self._levels if text == label)
        changed = {name: value for name, value in level.items() if value != REFERENCE[name]}
        return ", ".join(f"{name}={_text(name, value)}" for name, value in changed.items())

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Labels (level, base) that differ in the contrast alone, base being its first value."""
        if self.contrast is None:
            return []
        base, *others = self.values[self.contrast]
        rest = {name: values for name, values in self.values.items() if name != self.contrast}
        result = []
        for combination in product(*rest.values()):
            level = dict(zip(rest, combination, strict=True))
            for other in others:
                labels = [
                    self.label(
                        {name: (level | {self.contrast: value})[name] for name in self.values}
                    )
                    for value in (other, base)
                ]
                result.append((labels[0], labels[1]))
        return result

    def label(self, level: Mapping[str, Any]) -> str:
        """Return a combination as a reader would write it."""
        if len(level) == 1:
            return _text(*next(iter(level.items())))
        return ", ".join(
            f"{_SHORT.get(name, name)} {_text(name, value)}" for name, value in level.items()
        )

    def select(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the study's experiments with a column ``level``."""
        parameters = {text: json.loads(text) for text in frame["config_algorithm"].unique()}
        level_of = {text: self._level(given) for text, given in parameters.items()}
        chosen = frame.assign(level=frame["config_algorithm"].map(level_of)).dropna(subset="level")
        # The same experiment can stand under two names (an override that changes nothing).
        return chosen.drop_duplicates(
            ["protocol", "setting", "dataset", "seed", "split", "level"]
        ).reset_index(drop=True)

    def _level(self, given: Any) -> str | None:
        if not isinstance(given, dict) or given.get("_target_") != TARGET:
            return None
        parameters = REFERENCE | {k: v for k, v in given.items() if k != "_target_"}
        if set(parameters) != set(REFERENCE):
            return None
        others = REFERENCE.keys() - self.values.keys()
        if any(_canonical({k: parameters[k]}) != _canonical({k: REFERENCE[k]}) for k in others):
            return None
        return self.levels.get(_canonical({name: parameters[name] for name in self.values}))


_SHORT: Final = {
    "max_features_node": "node",
    "max_features_tree": "tree",
    "max_depth": "depth",
    "out_of_bounds": "out of bounds",
}


#: Of these an integer is a number of rows or features, and another number a share: 1 is not 1.0.
_COUNTS_OR_SHARES: Final = {"max_samples", "max_features_node", "max_features_tree"}


def _canonical(level: Mapping[str, Any]) -> str:
    def plain(name: str, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [plain(name, item) for item in value]
        as_it_is = isinstance(value, (str, bool)) or value is None or name in _COUNTS_OR_SHARES
        return value if as_it_is else float(value)

    return json.dumps({name: plain(name, value) for name, value in level.items()}, sort_keys=True)


_NONE: Final = {"max_features_node": "all", "max_depth": "unbounded", "out_of_bounds": "off"}


def _text(name: str, value: Any) -> str:
    if value is None:
        return _NONE.get(name, "none")
    if isinstance(value, (list, tuple)):
        return " to ".join(_text(name, item) for item in value)
    if name in _COUNTS_OR_SHARES and isinstance(value, float) and value == 1.0:
        return "all"
    return f"{value:g}" if isinstance(value, float) else str(value)


STUDIES: Final = (
    Study(
        "gamma",
        "Hidden outliers per observation, gamma",
        "Does a gamma below 1 gain? (0.1 to 10: drawn per tree.)",
        {"gamma": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, (0.1, 10.0))},
    ),
    Study(
        "out_of_bounds",
        "The rule for points out of bounds",
        "What does the published runs' rule (lowest score outside the training data's bounding "
        "box) cost, with 5 features or all of them per node, and with a smaller gamma?",
        {
            "gamma": (1.0, 0.1),
            "max_features_node": (5, None),
            "out_of_bounds": (None, "maximal"),
        },
        contrast="out_of_bounds",
    ),
    Study(
        "criterion",
        "Splitting criterion",
        "Does the entropy proxy differ from Gini's?",
        {"criterion": ("gini", "entropy"), "gamma": (1.0, 0.1)},
        contrast="criterion",
    ),
    Study(
        "adversary",
        "Adaptive or naive outliers",
        "Does the adaptive approach beat the naive one, as section 3 argues?",
        {"adversary": ("adaptive", "naive"), "gamma": (0.1, 1.0, 10.0)},
        contrast="adversary",
    ),
    Study(
        "scoring",
        "Scoring function",
        "Are the two densities of the supplementary better than the depth?",
        {"scoring": ("depth", "density", "typical_cell"), "max_depth": ("auto", None)},
        contrast="scoring",
    ),
    Study(
        "features",
        "Features per node and per tree",
        "How many features should be searched at a node, and given to a tree?",
        {"max_features_node": (1, 2, 5, None), "max_features_tree": ("auto", 1.0)},
        contrast="max_features_tree",
    ),
    Study(
        "depth",
        "Depth of the trees",
        "Is the logarithm of the sub-sample's size the right depth?",
        {"max_depth": (2, 4, 6, 8, "auto", None)},
    ),
    Study(
        "subsample",
        "Size of the sub-samples",
        "How many rows does a tree need? (Shares are of the training data; auto: 20 %, at least "
        "100.)",
        {"max_samples": (32, 64, 128, 256, "auto", 0.5, 1.0)},
    ),
)
