"""Functions that the trace describes itself: those of Python programs."""

from __future__ import annotations

import pytest

from vestige.debuginfo import DebugSource, Mapping, PlaceText, ProcessImages, apply

BASE = 1 << 47
CODE = {
    "baddr": BASE,
    "memsz": 0x10000,
    "path": "/srv/app/shop.py",
    "func": "Shop.order",
    "line": 12,
}
LIBRARY = {"baddr": 0x1000, "memsz": 0x1000, "path": "/lib/a.so"}


def image_after(*events):
    """Return the image of a process after some events."""
    images = ProcessImages()
    for name, fields in events:
        assert apply(images, name, 1, fields)
    return images.of(1)


def test_each_address_is_a_line(disk):
    """The first one is that of the first line, and no file is looked for."""
    image = image_after(("vestige_python:code", CODE))
    found = image.find(BASE + 3)
    resolver = disk.resolver()
    place = resolver.resolve(found, BASE + 3)

    assert (place.function, place.source_path, place.line) == (
        "Shop.order",
        "/srv/app/shop.py",
        15,
    )
    assert (place.source, place.shortfall) == (DebugSource.TRACE, None)
    assert resolver.text(place) == PlaceText(
        "shop.py+0x3", "Shop.order+0x3", "shop.py:15"
    )
    assert resolver.finder.find(found).attempts == ()


def test_a_function_without_a_line_has_a_name(disk):
    """It is written in C, and its module stands for the file."""
    fields = CODE | {"line": 0, "path": "math", "func": "math.sqrt"}
    image = image_after(("vestige_python:code", fields))
    resolver = disk.resolver()
    place = resolver.resolve(image.find(BASE), BASE)

    assert (place.function, place.line) == ("math.sqrt", None)
    assert resolver.text(place) == PlaceText("math+0", "math.sqrt+0", "")


def test_what_was_known_of_others_still_holds():
    """A new function has new addresses: nothing need be looked up again."""
    image = image_after(("lttng_ust_lib:load", LIBRARY))
    version = image.version
    for number in range(3):
        fields = CODE | {"baddr": BASE + number * 0x10000, "func": f"f{number}"}
        images = ProcessImages()
        images._images[1] = image
        assert apply(images, "vestige_python:code", 1, fields)

    assert image.version == version
    assert image.find(BASE + 0x10000).code == ("f1", 12)


def test_another_function_at_the_same_addresses_replaces_the_first():
    """Only a damaged trace has that; the newer one is believed."""
    image = image_after(("vestige_python:code", CODE))
    version = image.version
    images = ProcessImages()
    images._images[1] = image
    apply(images, "vestige_python:code", 1, CODE | {"func": "other"})

    assert image.find(BASE).code == ("other", 12)
    assert image.version > version


def test_a_state_dump_forgets_functions():
    """As after exec, and at the beginning of a forked child."""
    image = image_after(
        ("vestige_python:code", CODE), ("lttng_ust_statedump:start", {})
    )

    assert image.find(BASE) is None


@pytest.mark.parametrize(
    "fields",
    [
        {},
        CODE | {"func": ""},
        CODE | {"func": 5},
        CODE | {"line": "12"},
        CODE | {"baddr": -1},
        CODE | {"memsz": 0},
        {name: value for name, value in CODE.items() if name != "path"},
    ],
)
def test_what_is_ill_formed_is_ignored(fields):
    """A trace is untrusted input."""
    assert image_after(("vestige_python:code", fields)).mappings == ()


def test_two_functions_of_a_file_are_two_objects():
    """They may have the same size and base, in two processes."""
    first = Mapping(BASE, 0x10000, "/a.py", is_pic=True, code=("f", 1))

    assert not first.is_same_object(first._replace(code=("g", 1)))
