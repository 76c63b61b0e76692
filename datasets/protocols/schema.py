"""The keys of each step of a protocol, and which of them go together.

A step is one key of a protocol (`datasets.protocols.protocol.Protocol`); what it does is in
`datasets.protocols.steps` and `datasets.protocols.given`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator

from datasets.strict import Strict

Share = Annotated[float, Field(gt=0, le=1)]
Count = Annotated[int, Field(ge=1)]
#: A whole number of rows; 1 is the share of all.
Rows = Annotated[int, Field(ge=2)]
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


AnyCut = Annotated[
    Annotated[Cut, Tag("Cut")] | Annotated[Splitter, Tag("Splitter")],
    Discriminator(_kind_of_cut),
]


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
