"""Following the images of processes through merges."""

from __future__ import annotations

from support.recordings import DATA
from vestige import core
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.debuginfo import STATE_EVENT_NAMES, ImageFollower, Unresolved
from vestige.graph import mux


def test_what_was_found_belongs_to_the_images_before_a_change():
    """Objects come and go while the trace is read; each stop takes what came before."""
    column = core.PlaceColumn("", sorted(STATE_EVENT_NAMES))
    steps = []
    found = set()

    def take():
        steps.append("take")
        for space, vpid, address in column.take_pending():
            one = follower.images(space).find(vpid, address)
            found.add("nothing" if isinstance(one, Unresolved) else one.path)

    follower = ImageFollower(column, take, lambda: steps.append("ahead"))
    changes = []
    for merge in mux(CtfFsSource([DATA / "reload"]).streams):
        begun = len(steps)
        for event in follower.follow(merge):
            assert steps[-1] == "take"
            steps.append("change")
            if follower.apply(event):
                changes.append(event.name)
                column.image_changed(event.space, event.vpid)
        stops = (len(steps) - begun - 2) // 3
        assert steps[begun:] == ["ahead", *["take", "change", "ahead"] * stops, "take"]

    assert {"lttng_ust_lib:load", "lttng_ust_lib:unload"} <= set(changes)
    assert any("reload" in path for path in found)
