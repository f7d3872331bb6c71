"""How long calls take: quantiles, histograms, and the longest ones."""

from .durations import DurationBucket, Durations, LongCall

__all__ = ["DurationBucket", "Durations", "LongCall"]
