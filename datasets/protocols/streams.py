"""Random numbers for the steps of a split: this project's streams, or NumPy's legacy one."""

from __future__ import annotations

import hashlib
from typing import Literal

import numpy as np

from datasets.protocols.protocol import Protocol

Step = Literal["subset", "shuffle", "detector", "resize"]
#: The streams of a split, each independent of the others: changing the cap leaves the detector's
#: seed alone, and so on. The numbers are part of every split ever made.
_NUMBERS: dict[Step, int] = {"subset": 0, "shuffle": 1, "detector": 2, "resize": 3}

Drawer = np.random.Generator | np.random.RandomState


class SeedSequenceStreams:
    """The streams of one split, derived from (seed, data set, split).

    Parameters
    ----------
    name : str
        The data set's.
    seed, split : int
    """

    def __init__(self, name: str, seed: int, split: int):
        self.seed, self.split = seed, split
        self.name = int.from_bytes(hashlib.sha256(name.encode()).digest()[:16], "little")

    def drawer(self, step: Step, *, once: bool = False) -> np.random.Generator:
        """Return the generator of a step; with `once` the same for all splits."""
        # One key word for what is drawn once, two for a split's: the streams never coincide.
        key = (_NUMBERS[step],) if once else (self.split, _NUMBERS[step])
        return np.random.default_rng(self._sequence(*key))

    @property
    def detector_seed(self) -> int:
        """The detector's seed, in [0, 2**31): some detectors take a signed 32-bit seed only."""
        key = (self.split, _NUMBERS["detector"])
        return int(self._sequence(*key).generate_state(1)[0]) & 0x7FFFFFFF

    def _sequence(self, *key: int) -> np.random.SeedSequence:
        return np.random.SeedSequence([self.seed, self.name], spawn_key=key)


class LegacyStream:
    """One legacy generator that the steps of a split draw from in turn.

    Parameters
    ----------
    seed : int
        In [0, 2**32).
    """

    def __init__(self, seed: int):
        self.seed = seed
        self.generator = np.random.RandomState(seed)

    def drawer(self, step: Step, *, once: bool = False) -> np.random.RandomState:
        """Return the one generator."""
        return self.generator

    @property
    def detector_seed(self) -> int:
        """The detector's seed: the stream's own, of which 31 bits count."""
        return self.seed & 0x7FFFFFFF


Streams = SeedSequenceStreams | LegacyStream


def streams_of(protocol: Protocol, name: str, seed: int, split: int) -> Streams:
    """Return the streams that a protocol makes a split of a data set with.

    With `Protocol.seeds`, split i is made with the i-th of them. A legacy generator that is seeded
    per split has the root seed plus the number of the split otherwise.

    Raises
    ------
    ValueError
        If there are not so many seeds, or the seed is beyond 32 bits for a legacy generator.
    """
    number = split
    if protocol.seeds is not None:
        if split >= len(protocol.seeds):
            raise ValueError(
                f"protocol {protocol.name!r} has {len(protocol.seeds)} seeds, "
                f"so there is no split {split}"
            )
        seed, number = protocol.seeds[split], 0
    if protocol.generator.kind == "seed_sequence":
        return SeedSequenceStreams(name, seed, number)
    if protocol.generator.seeded == "per_split":
        seed += number
    if seed >= 2**32:
        raise ValueError(f"the legacy generator takes seeds below 2**32; got {seed}")
    return LegacyStream(seed)
