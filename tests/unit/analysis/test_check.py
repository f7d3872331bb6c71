"""What an examination tells while it runs."""

from __future__ import annotations

from support.recordings import DATA
from vestige.analysis.check import examine
from vestige.cli.main import main
from vestige.cli.render import progress
from vestige.components.sources.ctf_fs import CtfFsSource


def test_progress_ends_with_all_events_at_the_time_of_the_last():
    """The time is that of the merged order, and never goes back."""
    calls = []
    source = CtfFsSource([DATA / "lost"])
    report = examine(source, progress=lambda *call: calls.append(call))

    [trace] = report.traces
    assert calls[-1][1] == trace.events > 0
    times = [time for time, _ in calls if time is not None]
    assert times == sorted(times)
    assert times[-1] == trace.end


def test_a_terminal_sees_shares_that_rise_to_the_whole(monkeypatch, capsys):
    """The bar gets fractions of the time that the packets span."""
    shares = []

    class Bar(progress.ProgressBar):
        """Notes instead of drawing."""

        def __init__(self, label):
            super().__init__(label)
            self.enabled = True

        def update(self, fraction, events=None):
            """Note the fraction."""
            assert events is not None
            shares.append(fraction)

    monkeypatch.setattr(progress, "ProgressBar", Bar)

    assert main(["check", str(DATA / "lost")]) == 0
    assert "no damage" in capsys.readouterr().out
    known = [share for share in shares if share is not None]
    assert known == sorted(known)
    assert 0 < known[-1] <= 1
