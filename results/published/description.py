"""``published.yaml``: what the numbers of a publication are, and what they stand beside here."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Hashable, Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from results.metrics import METRICS
from results.vocabulary import SETTINGS

FILE_NAME = "published.yaml"
#: Values of ours, which are fractions, are multiplied by this to be printed.
FACTORS = {"fraction": 1.0, "percent": 100.0}

#: Of more valid names than this a message names the likely one alone.
_MANY = 20

Name = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Columns(_Strict):
    """Where the values of one metric stand in ``values.csv``, and their spreads if printed."""

    value: Name
    spread: Name | None = None


class Run(_Strict):
    """The setting and the protocol of the runs that may stand beside the printed values.

    Attributes
    ----------
    setting, protocol : str
    splits : int or None
        How many splits a printed value is a mean over. None: as many as the protocol has.
    """

    setting: Annotated[str, AfterValidator(lambda name: _one_of(name, SETTINGS, "setting"))]
    protocol: Name
    splits: Annotated[int, Field(ge=1)] | None = None

    def splits_of(self, cell: Mapping[Hashable, Any]) -> int:
        """Return how many splits a cell must have finished to stand beside a printed value."""
        expected = int(cell["n_expected"])
        return expected if self.splits is None else self.splits * int(cell["n_seeds"])


class Tolerance(_Strict):
    """A difference of at most the larger of two bounds counts as none.

    Attributes
    ----------
    absolute : float
        In units of the printed scale; at least half a unit of the last printed digit.
    spreads : float
        This many spreads.
    spread_of : {"ours", "published", "means"}
        The standard deviation over our splits, or the printed one, each of single splits; or the
        standard error of the difference of both means. Where there is none the absolute bound
        counts alone.
    """

    absolute: float = Field(ge=0, allow_inf_nan=False)
    spreads: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    spread_of: Literal["ours", "published", "means"] = "ours"

    def spread(self, ours: float, published: float, n_ours: int, n_published: int) -> float:
        """Return the spread that counts, NaN for one that is not known.

        Parameters
        ----------
        ours, published : float
            Standard deviations over the splits, NaN for one that is not known.
        n_ours, n_published : int
            How many splits the means are over.
        """
        if self.spread_of != "means":
            return ours if self.spread_of == "ours" else published
        # Splits of the same protocol scatter alike: ours stand for what is not printed.
        theirs = ours if math.isnan(published) else published
        return math.sqrt(ours**2 / n_ours + theirs**2 / n_published) if n_ours else math.nan

    def allowed(self, spread: float) -> float:
        """Return the largest difference, given the spread that counts."""
        # NaN compares as false.
        return self.spreads * spread if self.spreads * spread > self.absolute else self.absolute


def _one_of(name: str, known: Iterable[str], what: str) -> str:
    if name not in known:
        raise ValueError(f"there is no {what} {name!r}{hint(name, known)}")
    return name


def _different(key: str, ours: Mapping[str, str | None]) -> None:
    """Refuse a name of ours that stands beside two printed ones."""
    first: dict[str, str] = {}
    for printed, name in ours.items():
        if name is not None and (other := first.setdefault(name, printed)) != printed:
            raise ValueError(f"{key}: {other!r} and {printed!r} are both {name!r}")


def _known_metrics(value: dict[str, Any]) -> dict[str, Any]:
    for name in value:
        _one_of(name, METRICS, "metric")
    return value


def _columns(value: Any) -> Any:
    return {"value": value} if isinstance(value, str) else value


def _listed(value: Any) -> Any:
    """Write one name as a list of one."""
    return [value] if isinstance(value, str) else value


def _by_setting(value: Any) -> Any:
    """Write the algorithms of a column as a mapping of settings, ``*`` for all of them."""
    return value if isinstance(value, dict | None) else {"*": value}


# An algorithm as its file has it, or with the parameters that differ from it in brackets.
_LABEL = re.compile(r"[^()]+(\([^()=,]+=.*\))?", re.DOTALL)


def _label(name: str) -> str:
    """Refuse what no algorithm is called in tables."""
    if _LABEL.fullmatch(name):
        return name
    raise ValueError(
        f"no algorithm is called {name!r} in tables; write its name, or with parameters "
        "lof(n_neighbors=5)"
    )


Algorithms = Annotated[
    list[Annotated[Name, AfterValidator(_label)]], BeforeValidator(_listed), Field(min_length=1)
]


class Description(_Strict):
    """One publication.

    Attributes
    ----------
    citation, url : str
    scale : {"fraction", "percent"}
    digits : int
        Decimals as printed.
    form : {"long", "wide"}
        Of ``values.csv``: one row per value and algorithm, or one column per algorithm.
    metrics : dict of str to Columns
        By our name: the columns (long form) or the names in the column ``metric`` (wide form).
    settings : dict of str to Run
        By printed name. A table without a column ``setting`` is wholly of the only one.
    datasets : dict of str to (str or None), or "same"
        Our data set by its printed name, None for one that is not here. ``same``: all bear our
        names.
    algorithms : dict of str to (dict of str to list of str)
        By printed name and setting (``*``: all): our algorithms. The first repeats how the column
        was made; the others are listed beside it where they were run. None: a column of which
        none is here.
    tolerance : Tolerance
    tolerances : dict of str to Tolerance
        By printed name of an algorithm, instead of `tolerance`.
    """

    citation: Name
    url: Name | None = None
    scale: Literal["fraction", "percent"]
    digits: int = Field(ge=0, le=10)
    form: Literal["long", "wide"] = "long"
    metrics: Annotated[
        dict[Name, Annotated[Columns, BeforeValidator(_columns)]],
        AfterValidator(_known_metrics),
        Field(min_length=1),
    ]
    settings: dict[Name, Run] = Field(min_length=1)
    datasets: Literal["same"] | dict[Name, Name | None]
    algorithms: dict[
        Name,
        Annotated[
            Annotated[dict[Name, Algorithms], Field(min_length=1)] | None,
            BeforeValidator(_by_setting),
        ],
    ] = Field(min_length=1)
    tolerance: Tolerance
    tolerances: dict[Name, Tolerance] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _agrees(self) -> Description:
        """Refuse what each key allows by itself and the others do not."""
        quantities = list(self.quantities())
        if twice := sorted({name for name in quantities if quantities.count(name) > 1}):
            raise ValueError(f"metrics: {twice[0]!r} is named twice")
        for column, by_setting in self.algorithms.items():
            for setting in by_setting or ():
                if setting != "*" and setting not in self.settings:
                    raise ValueError(
                        f"algorithms.{column}: there is no setting {setting!r}"
                        f"{hint(setting, ['*', *self.settings])}"
                    )
        self._refuse_twice()
        # Numbers are not exact in binary: half a unit is allowed as it is written.
        rounding = 0.5 * 10.0**-self.digits
        for tolerance in (self.tolerance, *self.tolerances.values()):
            if tolerance.absolute < rounding * (1 - 1e-9):
                raise ValueError(
                    f"tolerance: absolute is {tolerance.absolute:g}, and rounding with digits: "
                    f"{self.digits} alone makes a difference of up to {rounding:g}"
                )
            spreads = [columns.spread for columns in self.metrics.values()]
            if tolerance.spread_of == "published" and not any(spreads):
                raise ValueError(
                    "tolerance: spread_of is 'published', and no metric has a column of spreads"
                )
        return self

    def _refuse_twice(self) -> None:
        """Refuse what is beside two printed names: one of the two would be the other's."""
        runs = {name: f"{run.setting}, {run.protocol}" for name, run in self.settings.items()}
        _different("settings", runs)
        if self.datasets != "same":
            _different("datasets", self.datasets)
        for setting in self.settings:
            made_by = {column: self.algorithms_of(column, setting) for column in self.algorithms}
            _different(
                "algorithms", {c: names[0] if names else None for c, names in made_by.items()}
            )

    @property
    def factor(self) -> float:
        """What our values, fractions, are multiplied by to stand beside the printed ones."""
        return FACTORS[self.scale]

    def quantities(self) -> list[str]:
        """Return the names of all values and spreads in ``values.csv``."""
        pairs = [(columns.value, columns.spread) for columns in self.metrics.values()]
        return [name for pair in pairs for name in pair if name is not None]

    def algorithms_of(self, column: str, setting: str) -> list[str]:
        """Return our algorithms beside a printed column, in a printed setting."""
        by_setting = self.algorithms.get(column) or {}
        return by_setting.get(setting, by_setting.get("*", []))

    def tolerance_of(self, column: str) -> Tolerance:
        """Return the tolerance of a printed column."""
        return self.tolerances.get(column, self.tolerance)


def hint(name: str, known: Iterable[str] | Mapping[str, Any]) -> str:
    """Return the valid names as the end of a message, the likely one alone if there are many.

    Examples
    --------
    >>> hint("novelity", ["novelty", "outlier"])
    '; there are: novelty, outlier (did you mean novelty?)'
    """
    names = [str(other) for other in known]
    close = difflib.get_close_matches(name, names, n=1)
    if close and len(names) > _MANY:
        return f"; did you mean {close[0]}?"
    meant = f" (did you mean {close[0]}?)" if close else ""
    return f"; there are: {', '.join(names)}{meant}"
