"""A protocol: the steps from a data set to a split, and what is measured on it.

A protocol is one YAML file in ``conf/protocol``. Its keys are the steps, in the order in which
they are taken; a step that is left out is not taken, or is taken as its default says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from datasets.protocols.schema import AnyCut, Cap, Cut, Generator, Resize, Scaling, Splitter
from datasets.strict import Strict, check

#: NumPy's legacy generator takes 32 bits.
Seed = Annotated[int, Field(ge=0, lt=2**32)]


class Protocol(Strict):
    """How splits are made and judged.

    Attributes
    ----------
    name : str
    repeats : str
        ``published``: rows that the published table of a data set holds twice are there twice;
        ``source``: the rows as the source has them; ``drop``: every distinct row once.
    resize : Resize
    cap : Cap
    cut : Cut or Splitter
    indices : str or None
        In place of `cut`: a Parquet file with the row numbers of each split's parts (columns
        `split`, `part`, which is train or test, and `row`, counted from 0 in the source, before
        classes are dropped; `dataset` where it is for several).
        ``{dataset}`` in its name stands for the name of the data set.
    train_anomalies : str
        ``setting``: kept in outlier detection, dropped in novelty detection; or ``kept``,
        ``dropped``.
    test_rows : str
        ``rest``: what was not cut off for training; ``rest_and_anomalies``: and the anomalies that
        do not train; ``all``: every row.
    scaling : Scaling
    generator : Generator
    seeds : list of int or None
        The seed of each split; None: all splits follow from the root seed.
    metrics : list of str
        What tables show.
    recorded : list of str
        What is measured beside it, and beside what is measured under every protocol.
    """

    name: Annotated[str, Field(min_length=1)]
    repeats: Literal["published", "source", "drop"] = "source"
    resize: Resize = Resize()
    cap: Cap = Cap()
    cut: AnyCut = Cut()
    indices: Annotated[str, Field(pattern=r"\.parquet$")] | None = None
    train_anomalies: Literal["setting", "kept", "dropped"] = "setting"
    test_rows: Literal["rest", "rest_and_anomalies", "all"] = "rest"
    scaling: Scaling = Scaling()
    generator: Generator = Generator()
    seeds: Annotated[list[Seed], Field(min_length=1)] | None = None
    metrics: Annotated[list[str], Field(min_length=1)]
    recorded: list[str] = Field(default=[])

    @model_validator(mode="before")
    @classmethod
    def _absent_groups(cls, value: Any) -> Any:
        """Leave out the steps that are null."""
        if not isinstance(value, Mapping):
            return value
        groups = ("resize", "cap", "cut", "scaling", "generator")
        return {k: v for k, v in value.items() if v is not None or k not in groups}

    @model_validator(mode="after")
    def _makes_sense(self) -> Protocol:
        if self.generator.kind == "replayed":
            self._is_as_in_2016()
        if self.indices is not None:
            self._check_indices()
        self._check_cut()
        self._check_draws()
        for name in ("seeds", "metrics", "recorded"):
            given = getattr(self, name) or []
            if twice := [item for item in given if given.count(item) > 1]:
                raise ValueError(f"{name} holds {twice[0]} twice")
        return self

    def _check_indices(self) -> None:
        """Refuse steps that choose other rows than the file of row numbers does."""
        for name in ("resize", "cap", "cut", "repeats"):
            if getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"indices numbers the rows of the source: {name} cannot be")
        if self.test_rows != "rest":
            raise ValueError("indices says which rows are tested: test_rows cannot be")

    def _check_cut(self) -> None:
        """Refuse a cut that the generator cannot draw, or that leaves no row to be tested."""
        legacy = self.generator.kind == "legacy"
        if isinstance(self.cut, Cut) and self.cut.by == "train_test_split" and not legacy:
            raise ValueError(
                "cut.by: train_test_split draws from the legacy generator: generator.kind: legacy"
            )
        if self.test_rows == "all":
            return
        if self.indices is None and self._leaves_no_rest():
            raise ValueError("cut.train_size: 1 leaves no rest: test_rows must be all")
        if isinstance(self.cut, Cut) and self.cut.kind == "none":
            raise ValueError("cut.kind: none trains on all rows: test_rows must be all")

    def _check_draws(self) -> None:
        """Refuse steps and seeds that contradict each other in what is drawn anew for a split."""
        if self.generator.seeded == "per_dataset" and self.seeds is not None:
            raise ValueError("seeds gives every split its own: generator.seeded must be per_split")
        for name, step in (("resize", self.resize), ("cap", self.cap)):
            if step.drawn != "once":
                continue
            if self.seeds is not None:
                raise ValueError(f"{name}.drawn: once needs one root seed: seeds must be left out")
            if self.generator.kind == "legacy" and self.generator.seeded == "per_split":
                raise ValueError(
                    f"{name}.drawn: once needs a legacy generator that is seeded once: "
                    "generator.seeded must be per_dataset"
                )
        resizes = self.resize.least is not None or self.resize.most is not None
        if resizes and self.resize.drawn == "per_split" and self.cap.drawn == "once":
            raise ValueError("cap.drawn: once caps one table for all splits: resize.drawn, too")
        fixed = (self.cut.model_extra or {}) if isinstance(self.cut, Splitter) else {}
        if fixed.get("random_state") is not None and len(self.seeds or ()) > 1:
            raise ValueError(
                f"cut.random_state: {fixed['random_state']} is one cut for all {self.seeds} of "
                "seeds: leave it out, and each of them is the random_state of its split"
            )

    def _is_as_in_2016(self) -> None:
        """Refuse steps that a replayed stream has no place for."""
        steps: dict[str, Any] = {
            "resize": Resize(),
            "cut": Cut(),
            "indices": None,
            "train_anomalies": "setting",
            "test_rows": "rest",
            "seeds": None,
        }
        for name, step in steps.items():
            if getattr(self, name) != step:
                raise ValueError(f"generator.kind: replayed was drawn without {name}: leave it out")
        if self.cap.drawn != "once":
            raise ValueError("generator.kind: replayed has one cap: cap.drawn must be once")

    def _leaves_no_rest(self) -> bool:
        cut = self.cut
        if not isinstance(cut, Cut) or cut.kind not in ("random", "stratified", "in_order"):
            return False
        return cut.train_size == 1

    @property
    def depends_on_row_order(self) -> bool:
        """Whether the splits depend on the order in which the source has the rows."""
        in_order = isinstance(self.cut, Cut) and self.cut.kind == "in_order"
        return self.generator.kind != "seed_sequence" or in_order or self.indices is not None

    @property
    def uses_sklearn(self) -> bool:
        """Whether scikit-learn makes a part of the splits, which then takes a second to import."""
        by_sklearn = isinstance(self.cut, Cut) and self.cut.by == "train_test_split"
        return by_sklearn or self.scaling.kind in ("minmax", "robust")

    def keeps_anomalies(self, anomalies_in_train: bool) -> bool:
        """Return whether anomalies train, given what the setting says.

        Raises
        ------
        ValueError
            If the protocol contradicts the setting.
        """
        leaves_none = isinstance(self.cut, Cut) and self.cut.of == "normal"
        if anomalies_in_train and (leaves_none or self.train_anomalies == "dropped"):
            raise ValueError(
                f"protocol {self.name!r} trains on normal rows alone, which is setting=novelty"
            )
        if not anomalies_in_train and self.train_anomalies == "kept":
            raise ValueError(
                f"protocol {self.name!r} keeps the anomalies in train, which is setting=outlier"
            )
        return anomalies_in_train

    def may_test_what_trains(self, anomalies_in_train: bool) -> bool:
        """Whether the test part can be the train part, row by row.

        That of a file of row numbers, or of a splitter, is not known before it is made.
        """
        if self.indices is not None:
            return True
        on_all = not isinstance(self.cut, Cut) or self.cut.kind == "none"
        return on_all and self.test_rows == "all" and self.keeps_anomalies(anomalies_in_train)

    def identity(self) -> dict[str, Any]:
        """Return what determines the splits, for keys.

        Steps that are as their defaults say are left out: a word that the vocabulary learns later
        does not change the key of an experiment that does not use it.
        """
        neutral = {"metrics", "recorded"}
        return self.model_dump(by_alias=True, exclude_defaults=True, exclude=neutral)

    def described(self) -> dict[str, Any]:
        """Return what the YAML and the overrides say, for records.

        What they leave out stays out: a record reads the same when the vocabulary has grown.
        """
        return self.model_dump(by_alias=True, exclude_unset=True)


_CHECKED: dict[str, Protocol] = {}
"""What `protocol_from` has returned: thousands of experiments have the same protocol."""


def protocol_from(mapping: Mapping[str, Any]) -> Protocol:
    """Return the resolved group `protocol` as a checked object.

    Raises
    ------
    datasets.strict.Invalid
        With one line per mistake.
    """
    # As it is written, with the types of its values: 1 is not true.
    text = repr(dict(mapping))
    if text not in _CHECKED:
        _CHECKED[text] = check(Protocol, dict(mapping), "protocol")
    return _CHECKED[text]
