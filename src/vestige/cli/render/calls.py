"""The report of ``vestige report`` for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ...analysis.call_nodes import CallCounts
from ...analysis.calls import CallTree, ThreadCalls
from ...plain_text import plain
from .activity_table import activity_lines
from .call_style import CallStyle, bold, duration
from .call_table import function_lines
from .call_tree import tree_lines
from .chosen_rows import chosen_root
from .debuginfo import count

__all__ = ["call_lines"]


def call_lines(tree: CallTree, style: CallStyle) -> Iterator[str]:
    """Write a report for people.

    Args:
        tree: The calls.
        style: What to show.

    Yields:
        The lines.
    """
    if tree.spans and not tree.events:
        # A program that told its spans alone.
        spans = sum(one.calls for one in tree.spans)
        yield f"{count(spans, 'span')}; no calls of functions were recorded"
        yield from activity_lines(tree, style)
        return
    yield from _head_lines(tree)
    if not style.by_thread:
        yield ""
        yield from _body_lines(tree, style)
    else:
        several = len({thread.trace for thread in tree.threads}) > 1
        for thread in _sorted_threads(tree.threads):
            yield ""
            yield bold(thread_title(thread, with_trace=several), style)
            yield from _body_lines(replace(tree, threads=[thread]), style)
    yield from activity_lines(tree, style)
    yield from _note_lines(tree)


def _sorted_threads(threads: Iterable[ThreadCalls]) -> list[ThreadCalls]:
    return sorted(threads, key=lambda thread: -thread.root.duration)


def thread_title(thread: ThreadCalls, *, with_trace: bool) -> str:
    """Return what a thread is, and how long its calls took.

    Args:
        thread: The thread.
        with_trace: Whether to name its trace.
    """
    which = "thread" if thread.vtid is None else f"thread {thread.vtid}"
    if thread.vpid is not None:
        which += f" of process {thread.vpid}"
    name = thread.thread_name or thread.name
    if name:
        which += f" ({plain(name)})"
    if thread.trace and with_trace:
        which += f" of {plain(thread.trace)}"
    return f"{which}: {duration(thread.root.duration)}"


def _head_lines(tree: CallTree) -> Iterator[str]:
    calls = sum(one.calls - one.resumes for one in tree.functions())
    yield (
        f"{count(calls, 'call')} in {count(len(tree.threads), 'thread')}, "
        f"over {duration(_span(tree))}"
    )
    if tree.cost_of_call is not None:
        yield (
            "the times include the tracer: about "
            f"{tree.cost_of_call:.0f} ns for each call within"
        )
    if tree.turns is not None and tree.turns.losses:
        yield (
            f"{count(tree.turns.losses, 'event')} of the kernel lost: what threads did "
            "then is not exact"
        )
    if tree.threads_elsewhere:
        yield (
            f"{count(tree.threads_elsewhere, 'thread')} with IDs of a PID namespace: "
            "the kernel has others for them, and how long they waited is not known"
        )
    if tree.is_patched:
        yield "calls that the compiler inlined are not calls here (--patch)"


def _span(tree: CallTree) -> int:
    begin = min((thread.begin for thread in tree.threads), default=0)
    return max((thread.end for thread in tree.threads), default=begin) - begin


def _note_lines(tree: CallTree) -> Iterator[str]:
    notes = list(_notes(tree))
    if notes:
        yield ""
    yield from notes


def _notes(tree: CallTree) -> Iterator[str]:
    sums = CallCounts()
    for one in tree.functions():
        sums.add(one)
    unknown = sum(thread.unknown_exits for thread in tree.threads)
    yield from _notes_of_calls(sums, unknown)
    if tree.lost:
        yield f"{count(tree.lost, 'event')} lost by the tracer"
    if any(not thread.exits_are_named for thread in tree.threads):
        yield (
            "exits do not tell their function (no ip in the records): they end the "
            "innermost call, and jumps over calls go unnoticed"
        )
    if tree.is_merged:
        yield "so many call paths that some share a node: see '(other paths)'"
    if tree.left_out_calls:
        yield (
            f"{count(tree.left_out_calls, 'call')} left out as asked: their time is "
            "that of their callers"
        )
    if tree.left_out:
        yield f"{count(tree.left_out, 'event')} of too many threads left out"


def _notes_of_calls(sums: CallCounts, unknown_exits: int) -> Iterator[str]:
    if sums.no_exit == sums.calls and not unknown_exits:
        yield (
            "no exits were seen: the program ended within these calls; or the events "
            "func_exit were not recorded, then neither times nor callers are known"
        )
    elif sums.no_exit:
        yield (
            f"{count(sums.no_exit, 'call')} without exit (left by an exception or a "
            "jump, or open at the end): counted up to the last event within"
        )
    if sums.no_entry:
        yield (
            f"{count(sums.no_entry, 'call')} without entry (begun before the "
            "recording, or in a parent before fork; or it was lost): counted without "
            "time"
        )
    if sums.clipped:
        yield (
            f"{count(sums.clipped, 'call')} cut by the time range: counted with the "
            "time in it"
        )
    if sums.across_loss:
        yield (
            f"{count(sums.across_loss, 'call')} with lost events between entry and "
            "exit: counted in total and self only"
        )
    if unknown_exits:
        yield f"{count(unknown_exits, 'exit')} of unknown functions, without entry"


def _body_lines(tree: CallTree, style: CallStyle) -> Iterator[str]:
    if style.tree:
        yield from tree_lines(chosen_root(tree.root(), style), style)
    else:
        has_turns = tree.turns is not None
        yield from function_lines(tree.functions(), style, has_turns=has_turns)
