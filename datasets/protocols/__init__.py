"""Protocols: how splits are made, in a closed vocabulary of steps."""

from datasets.protocols.given import check_splitter, indices_key, splits_in_file
from datasets.protocols.protocol import Protocol, protocol_from
from datasets.protocols.replay import stopped, with_stream
from datasets.protocols.schema import Splitter
from datasets.protocols.splitting import anticipate, make_split

__all__ = [
    "Protocol",
    "Splitter",
    "anticipate",
    "check_splitter",
    "indices_key",
    "make_split",
    "protocol_from",
    "splits_in_file",
    "stopped",
    "with_stream",
]
