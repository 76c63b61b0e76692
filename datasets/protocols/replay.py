"""Replayed splits: one legacy stream that runs through all data sets, entered at a stored position.

The tables of 2016 were made with one generator per algorithm and setting, seeded once. Each data
set takes from it for the cap on its anomalies, for a shuffle of its table and, ten times, for a
further shuffle of the shuffled table; then the fit takes what the algorithm draws. So every split
depends on all that was drawn before. The files in ``datasets/protocols/replay`` hold, for each
algorithm and setting, how many words of the stream were consumed before each data set, and where
each of their numbers comes from.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from datasets.dataset import Dataset
from datasets.protocols.protocol import Protocol
from datasets.protocols.steps import Rows, floor_of, part_size
from datasets.strict import Strict, check

FOLDER = Path(__file__).resolve().parent / "replay"
#: One more than the largest integer that a fit drew as a seed.
SEED_BOUND = 2**31 - 1
N_SPLITS = 10

Origin = Annotated[str, Field(pattern=r"^(read|derived|found: .+)$")]


class Position(Strict):
    """Where a data set begins in a stream.

    Attributes
    ----------
    words : int
        32-bit words that were consumed before it.
    origin : str
        ``derived`` from the data sets before it, or ``found:`` on which published values.
    """

    words: Annotated[int, Field(ge=0)]
    origin: Origin


class Stop(Strict):
    """A data set whose experiments were stopped by the limit of 1800 s.

    Attributes
    ----------
    after : int
        Experiments that had taken from the stream by then.
    origin : str
    """

    after: Annotated[int, Field(ge=1, lt=N_SPLITS)]
    origin: Origin


class Draw(Strict):
    """What a fit takes from the stream.

    Attributes
    ----------
    kind : str
        ``integers`` below 2^31 - 1, ``uniforms`` in [0, 1), or a ``permutation``.
    size : int or str
        How many; ``n_train`` for the number of training rows.
    """

    kind: Literal["integers", "uniforms", "permutation"]
    size: Annotated[int, Field(ge=1)] | Literal["n_train"]


class Stream(Strict):
    """The stream of one algorithm in one setting: a file of the folder ``replay``.

    Attributes
    ----------
    seed : int
    draws : list of Draw
        In the order in which a fit takes them, after the shuffle of its split.
    positions : mapping of str to Position
        The data sets in their order.
    stops : mapping of str to Stop
    """

    seed: Annotated[int, Field(ge=0, lt=2**32)]
    draws: list[Draw]
    positions: dict[str, Position]
    stops: dict[str, Stop]

    @model_validator(mode="after")
    def _stops_are_data_sets(self) -> Stream:
        if unknown := sorted(set(self.stops) - set(self.positions)):
            raise ValueError(f"stops names {unknown[0]!r}, which has no position")
        return self

    def at(self, dataset: str) -> np.random.RandomState:
        """Return the generator as the first step of a data set finds it."""
        generator = np.random.RandomState(self.seed)
        from datasets.protocols.mersenne import skip  # with numba, which no other protocol needs

        skip(generator, self.positions[dataset].words)
        return generator


class ReplayedSplit(NamedTuple):
    """One split in row numbers, and the stream behind it.

    Attributes
    ----------
    rows, train, test : ndarray
        All rows after the cap, those cut off for training (anomalies included), and the others.
    stream : RandomState
        The generator as the fit of this split finds it.
    scaled : dict
        The whole table, scaled as all these rows are, by kind of scaling, for whoever computes it:
        all splits share the dict.
    """

    rows: Rows
    train: Rows
    test: Rows
    stream: np.random.RandomState
    scaled: dict[str, Any]


class _Place(NamedTuple):
    """The split that was last made of a data set, from which the later ones follow."""

    of: tuple[Any, ...]
    split: int
    rows: Rows
    order: Rows
    generator: np.random.RandomState
    scaled: dict[str, Any]


_PLACES: WeakKeyDictionary[Dataset, _Place] = WeakKeyDictionary()


@cache
def load_stream(name: str, setting: str) -> Stream:
    """Return the stream of an algorithm in a setting.

    Raises
    ------
    ValueError
        If there is none, with those there are.
    """
    path = FOLDER / f"{name}_{setting}.yaml"
    if not path.is_file():
        known = sorted({p.stem.rpartition("_")[0] for p in FOLDER.glob(f"*_{setting}.yaml")})
        raise ValueError(
            f"no stream of {name!r} in setting {setting!r} can be replayed; there are those of "
            f"{', '.join(known) or 'no algorithm'}"
        )
    from omegaconf import OmegaConf

    content: Any = OmegaConf.to_container(OmegaConf.load(path))
    return check(Stream, content, path.name)


def with_stream(protocol: Protocol, algorithm: str, setting: str) -> Protocol:
    """Return a replaying protocol with the name of its stream: by default the algorithm's own.

    Raises
    ------
    ValueError
        If there is no such stream.
    """
    name = protocol.generator.stream or algorithm
    load_stream(name, setting)
    generator = protocol.generator.model_copy(update={"stream": name})
    return protocol.model_copy(update={"generator": generator})


def stopped(protocol: Protocol, dataset: str, setting: str) -> str | None:
    """Say why a data set cannot be replayed though the stream passes it; None if it can.

    Where the limit of 1800 s struck, some experiments took from the stream, and the tables of 2016
    have no value.
    """
    if protocol.generator.stream is None:
        return None
    stop = load_stream(protocol.generator.stream, setting).stops.get(dataset)
    if stop is None:
        return None
    return (
        f"the limit of 1800 s struck in experiment {stop.after} of {protocol.generator.stream!r} "
        f"on {dataset!r}: the tables say NA, and there is nothing to replay"
    )


def replay(
    dataset: Dataset, protocol: Protocol, setting: Mapping[str, Any], split: int
) -> ReplayedSplit:
    """Replay one split of a data set.

    Raises
    ------
    ValueError
        If the stream has no such data set or split, or its experiments were stopped.
    """
    assert protocol.generator.stream is not None  # the schema sees to it
    stream = load_stream(protocol.generator.stream, str(setting["name"]))
    if dataset.name not in stream.positions:
        raise ValueError(
            f"the stream of {protocol.generator.stream!r} has no data set {dataset.name!r}; it has "
            f"{', '.join(stream.positions)}"
        )
    if reason := stopped(protocol, dataset.name, str(setting["name"])):
        raise ValueError(reason)
    if split >= N_SPLITS:
        raise ValueError(f"the stream has {N_SPLITS} splits of a data set; there is none {split}")
    keep = bool(setting["anomalies_in_train"])
    of = (stream, keep, protocol.cap, protocol.cut)
    place = _PLACES.get(dataset)
    if place is None or place.of != of or place.split > split:
        generator = stream.at(dataset.name)
        rows, order = begin(dataset.y, protocol, generator)
        order = order[shuffled(generator, len(order))]
        place = _Place(of, 0, rows, order, generator, {})
    while place.split < split:
        generator = _copy(place.generator)
        train, _ = cut(place.order, protocol)
        draw(stream.draws, generator, int(np.count_nonzero(keep | (dataset.y[train] == 0))))
        order = np.take(place.order, shuffled(generator, len(place.order)))
        place = place._replace(split=place.split + 1, order=order, generator=generator)
    _PLACES[dataset] = place
    return ReplayedSplit(
        place.rows, *cut(place.order, protocol), _copy(place.generator), place.scaled
    )


def _copy(generator: np.random.RandomState) -> np.random.RandomState:
    copy = np.random.RandomState(0)
    copy.set_state(generator.get_state())
    return copy


def begin(
    y: NDArray[np.int8], protocol: Protocol, generator: np.random.RandomState
) -> tuple[Rows, Rows]:
    """Cap the anomalies and shuffle the table.

    Returns
    -------
    rows, order : ndarray
        The normal rows in file order and then the anomalies that stay in drawn order, or all rows
        in file order if all stay; and the same rows shuffled.
    """
    rows: Rows = np.arange(len(y))
    ratio = protocol.cap.ratio
    if ratio is not None:
        normal, anomalies = np.flatnonzero(y == 0), np.flatnonzero(y)
        limit = floor_of(ratio, len(normal))
        if len(anomalies) > limit:
            kept = anomalies[shuffled(generator, len(anomalies))[:limit]]
            rows = np.concatenate([normal, kept])
    return rows, rows[shuffled(generator, len(rows))]


def cut(order: Rows, protocol: Protocol) -> tuple[Rows, Rows]:
    """Cut the shuffled rows in two."""
    n_train = part_size(protocol.cut, len(order))  # type: ignore[arg-type]
    return order[:n_train], order[n_train:]


def shuffled(generator: np.random.RandomState, n: int) -> Rows:
    """Return 0 ... n - 1, shuffled."""
    order = np.arange(n)
    generator.shuffle(order)
    return order


def draw(draws: list[Draw], generator: np.random.RandomState, n_train: int) -> None:
    """Take from the stream what a fit takes, and drop it."""
    for drawn in draws:
        size = n_train if drawn.size == "n_train" else drawn.size
        if drawn.kind == "integers":
            generator.randint(SEED_BOUND, size=size)
        elif drawn.kind == "uniforms":
            generator.uniform(size=size)
        else:
            generator.permutation(size)
