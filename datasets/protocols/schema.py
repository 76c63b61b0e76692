"""The vocabulary of protocols: the steps from a data set to a split, and what is measured on it.

A protocol is one YAML file in ``conf/protocol``. Its keys are the steps, in the order in which
they are taken; a step that is left out is not taken, or is taken as its default says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator

from datasets.strict import Strict, check

Share = Annotated[float, Field(gt=0, le=1)]
Count = Annotated[int, Field(ge=1)]
#: A whole number of rows; 1 is the share of all.
Rows = Annotated[int, Field(ge=2)]
#: NumPy's legacy generator takes 32 bits.
Seed = Annotated[int, Field(ge=0, lt=2**32)]


Drawn = Literal["per_split", "once"]


class Resize(Strict):
    """Another number of rows, drawn before all other steps.

    Attributes
    ----------
    least : int or None
        A table with fewer rows becomes a bootstrap sample of so many.
    most : int or None
        A table with more rows becomes a sample of so many, without replacement.
    drawn : str
        ``per_split``: every split draws its own sample; ``once``: one for all splits.
    """

    least: Count | None = None
    most: Count | None = None
    drawn: Drawn = "per_split"

    @model_validator(mode="after")
    def _ordered(self) -> Resize:
        if self.least is not None and self.most is not None and self.least > self.most:
            raise ValueError(f"least is {self.least}, more than most, which is {self.most}")
        return self


class Cap(Strict):
    """A largest number of anomalies; the surplus goes at random.

    Attributes
    ----------
    ratio : float or None
        Anomalies per normal point: ``floor(ratio * n_normal)`` stay. None: all.
    drawn : str
        ``per_split``: every split draws its own subset; ``once``: one subset for all splits.
    """

    ratio: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    drawn: Drawn = "per_split"


class Cut(Strict):
    """Which rows are the train part.

    Attributes
    ----------
    kind : str
        ``random``: a random part. ``stratified``: one with the shares of anomalies of the whole.
        ``in_order``: the first rows, as the source has them. ``bootstrap``: a sample with
        replacement. ``none``: all rows.
    train_size : float or int
        Its size: a share (up to 1) or a number of rows (a whole number from 2).
    test_size : float or None
        In place of `train_size`, with ``by: train_test_split``: the share of the test part.
    rounding : str
        Of a share that is not a whole number of rows: ``down``, ``up`` or ``half_even`` (to the
        nearest, a half to the even one).
    of : str
        ``all``: a part of all rows; ``normal``: of the normal ones, so that no anomaly trains.
    by : str
        ``permutation``: the first rows of a random permutation train. ``train_test_split``:
        scikit-learn's function draws the cut, with the legacy generator as its `random_state`.
    """

    kind: Literal["random", "stratified", "in_order", "bootstrap", "none"] = "random"
    train_size: Rows | Share = 0.5
    test_size: Annotated[float, Field(gt=0, lt=1)] | None = None
    rounding: Literal["down", "up", "half_even"] = "down"
    of: Literal["all", "normal"] = "all"
    by: Literal["permutation", "train_test_split"] = "permutation"

    @model_validator(mode="after")
    def _makes_sense(self) -> Cut:
        default = {name: field.default for name, field in Cut.model_fields.items()}
        if self.kind == "none":
            for name in ("train_size", "test_size", "rounding", "of", "by"):
                if getattr(self, name) != default[name]:
                    raise ValueError(f"{name} says nothing with kind: none, which trains on all")
        if self.kind == "stratified" and self.of == "normal":
            raise ValueError("of: normal leaves one class, which cannot be stratified")
        if self.by == "train_test_split" and self.kind not in ("random", "stratified"):
            raise ValueError(
                f"by: train_test_split draws cuts that are random or stratified, not {self.kind}"
            )
        if self.test_size is not None:
            if self.by != "train_test_split":
                raise ValueError("test_size is for by: train_test_split; give train_size")
            for name in ("train_size", "rounding"):
                if getattr(self, name) != default[name]:
                    raise ValueError(f"test_size takes the place of {name}: give one of them")
        return self


class Splitter(Strict):
    """A splitter of one's own, or scikit-learn's: ``_target_`` and its parameters.

    Its ``split(X, y)`` yields (train, test) pairs of row numbers, as scikit-learn's
    cross-validators do; split i is the i-th pair, or the first of the i-th of `Protocol.seeds`
    (`datasets.protocols.given.from_splitter`).
    """

    model_config = ConfigDict(extra="allow")

    target: Annotated[str, Field(alias="_target_", pattern=r"^\w+(\.\w+)+$")]


def _kind_of_cut(value: Any) -> str:
    given = isinstance(value, Mapping) and "_target_" in value
    return "Splitter" if given or isinstance(value, Splitter) else "Cut"


class Scaling(Strict):
    """How columns are scaled.

    Attributes
    ----------
    kind : str
        ``standard`` (mean 0, variance 1), ``minmax`` (to [0, 1]), ``robust`` (median and quartiles)
        or ``none``.
    fitted_on : str
        ``train``: the training part; ``all``: train and test together, which leaks.
    """

    kind: Literal["standard", "minmax", "robust", "none"] = "standard"
    fitted_on: Literal["train", "all"] = "train"


class Generator(Strict):
    """What random numbers come from.

    Attributes
    ----------
    kind : str
        ``seed_sequence``: this project's. Every step has a stream of its own, derived from (seed,
        data set, split), and the rows are put in an order of their own first, so that a split does
        not depend on where the table came from. ``legacy``: one `numpy.random.RandomState` from
        which the steps draw one after the other, on the rows as the source has them; this is what
        other benchmarks were made with. ``replayed``: one legacy generator that runs through all
        data sets, entered where the data set begins (`datasets.protocols.replay`).
    seeded : str
        Of the legacy generator. ``per_split``: anew for every split. ``per_dataset``: once, and
        the splits go on with the same stream.
    stream : str or None
        Of the replayed generator: the algorithm whose stream it is. None: that of the algorithm
        that is run.
    handed_over : bool
        Whether the detector draws from the replayed generator too, as it did when the tables were
        made. Otherwise it has a seed of its own.
    """

    kind: Literal["seed_sequence", "legacy", "replayed"] = "seed_sequence"
    seeded: Literal["per_split", "per_dataset"] = "per_split"
    stream: Annotated[str, Field(min_length=1)] | None = None
    handed_over: bool = False

    @model_validator(mode="after")
    def _makes_sense(self) -> Generator:
        if self.kind != "legacy" and self.seeded != "per_split":
            raise ValueError(f"seeded: {self.seeded} is for kind: legacy")
        if self.kind != "replayed" and (self.stream is not None or self.handed_over):
            raise ValueError("stream and handed_over are for kind: replayed")
        return self


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
        `split`, `part`, which is train or test, and `row`; `dataset` where it is for several).
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
    cut: Annotated[
        Annotated[Cut, Tag("Cut")] | Annotated[Splitter, Tag("Splitter")],
        Discriminator(_kind_of_cut),
    ] = Cut()
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
        legacy = self.generator.kind == "legacy"
        if self.generator.kind == "replayed":
            self._is_as_in_2016()
        whole = isinstance(self.cut, Cut) and self.cut.kind == "none"
        if self.indices is not None:
            for name in ("resize", "cap", "cut", "repeats"):
                if getattr(self, name) != type(self).model_fields[name].default:
                    raise ValueError(f"indices numbers the rows of the source: {name} cannot be")
            if self.test_rows != "rest":
                raise ValueError("indices says which rows are tested: test_rows cannot be")
        if isinstance(self.cut, Cut) and self.cut.by == "train_test_split" and not legacy:
            raise ValueError(
                "cut.by: train_test_split draws from the legacy generator: generator.kind: legacy"
            )
        if self.indices is None and self.test_rows != "all" and self._leaves_no_rest():
            raise ValueError("cut.train_size: 1 leaves no rest: test_rows must be all")
        if whole and self.test_rows != "all":
            raise ValueError("cut.kind: none trains on all rows: test_rows must be all")
        if self.generator.seeded == "per_dataset" and self.seeds is not None:
            raise ValueError("seeds gives every split its own: generator.seeded must be per_split")
        for name, step in (("resize", self.resize), ("cap", self.cap)):
            if step.drawn != "once":
                continue
            if self.seeds is not None:
                raise ValueError(f"{name}.drawn: once needs one root seed: seeds must be left out")
            if legacy and self.generator.seeded == "per_split":
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
        for name in ("seeds", "metrics", "recorded"):
            given = getattr(self, name) or []
            if twice := [item for item in given if given.count(item) > 1]:
                raise ValueError(f"{name} holds {twice[0]} twice")
        return self

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


def protocol_from(mapping: Mapping[str, Any]) -> Protocol:
    """Return the resolved group `protocol` as a checked object.

    Raises
    ------
    datasets.strict.Invalid
        With one line per mistake.
    """
    return check(Protocol, dict(mapping), "protocol")
