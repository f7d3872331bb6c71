"""Calls as intervals of time: timelines, and indexes that make any part quick."""

from .call_selection import (
    Call,
    CallInside,
    CallRange,
    CallSelection,
    CallSource,
    rows_of,
)
from .growing import GrowingIntervals
from .index_cache import BESIDE, IndexFile, index_key
from .intervals import BLOCK_WIDTHS, LATEST, Intervals, Loss, Row, intervals_of
from .states import Change, State, StateRule, States, StateTimeline, states

__all__ = [
    "BESIDE",
    "BLOCK_WIDTHS",
    "LATEST",
    "Call",
    "CallInside",
    "CallRange",
    "CallSelection",
    "CallSource",
    "Change",
    "GrowingIntervals",
    "IndexFile",
    "Intervals",
    "Loss",
    "Row",
    "State",
    "StateRule",
    "StateTimeline",
    "States",
    "index_key",
    "intervals_of",
    "rows_of",
    "states",
]
