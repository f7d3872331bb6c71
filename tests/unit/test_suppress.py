"""What stands in for parts of contextlib does what those do."""

from __future__ import annotations

import contextlib

import pytest

from vestige import _suppress


@pytest.fixture(params=[_suppress.ExitStack, contextlib.ExitStack])
def stack(request):
    """Return a stack of either kind."""
    return request.param()


def fail(done, name):
    """Note that it was called, and raise."""
    done.append(name)
    raise ValueError(name)


def test_the_last_one_is_called_first(stack):
    """Once, at the end."""
    done = []
    with stack as resources:
        resources.callback(done.append, 1)
        resources.callback(done.append, 2)
        assert done == []

    assert done == [2, 1]


def fail_thrice(stack, done):
    """Raise in a block, and in two of three calls at its end."""
    with stack as resources:
        resources.callback(fail, done, "first")
        resources.callback(done.append, "between")
        resources.callback(fail, done, "last")
        raise KeyError("block")


def test_all_are_called_whatever_some_raise(stack):
    """What was raised last is raised, with what came before as its context."""
    done = []
    with pytest.raises(ValueError, match="first") as raised:
        fail_thrice(stack, done)

    assert done == ["last", "between", "first"]
    assert str(raised.value.__context__) == "last"
    assert isinstance(raised.value.__context__.__context__, KeyError)
