"""Which object a process image finds at an address, as time goes on."""

from __future__ import annotations

import pytest

from vestige.debuginfo import Mapping, ProcessImage, ProcessImages, Reason

ALPHA = Mapping(0x1000, 0x1000, "/lib/alpha.so", is_pic=True)
BRAVO = Mapping(0x1000, 0x800, "/lib/bravo.so", is_pic=True)


def image_of(*mappings):
    """Return the image of a process with some objects."""
    image = ProcessImage()
    for mapping in mappings:
        image.map_object(mapping)
    return image


def test_an_object_covers_its_addresses_and_no_others():
    """The first byte belongs to the object, the one after the last does not."""
    image = image_of(ALPHA, Mapping(0x4000, 0x1000, "/lib/other.so"))

    found = [image.find(address) for address in (0xFFF, 0x1000, 0x1FFF, 0x2000)]

    assert found == [None, ALPHA, ALPHA, None]


def test_an_object_at_the_end_of_memory_does_not_wrap():
    """Sizes that run past 64 bits end there, and no low address is covered."""
    base = (1 << 64) - 0x1000
    image = image_of(Mapping(base, 0x5000, "/lib/high.so"))

    assert image.find(base + 0xFFF) is not None
    assert image.find(0x10) is None


@pytest.mark.parametrize(
    "mapping",
    [
        Mapping(0x1000, 0, "[linux-vdso.so.1]"),
        Mapping(0x1000, -5, "/lib/a.so"),
        Mapping(-1, 0x1000, "/lib/a.so"),
        Mapping(1 << 64, 0x1000, "/lib/a.so"),
    ],
)
def test_an_object_that_covers_no_memory_is_left_out(mapping):
    """The vDSO has no size in LTTng's state dump; damaged events have odd numbers."""
    image = image_of(mapping)

    assert image.mappings == ()
    assert image.version == 0


def test_another_object_at_the_same_base_after_an_unload_is_found():
    """A base that is used again belongs to the new object."""
    image = image_of(ALPHA)
    image.set_build_id(0x1000, b"\xaa\xaa")
    image.unmap(0x1000)
    between = image.find(0x1400)
    image.map_object(BRAVO)

    assert between is None
    assert image.find(0x1400) == BRAVO


def test_another_object_at_the_same_base_replaces_one_whose_unload_was_lost():
    """The new object does not inherit the build ID of the old one."""
    image = image_of(ALPHA)
    image.set_build_id(0x1000, b"\xaa\xaa")
    image.map_object(BRAVO)

    assert image.mappings == (BRAVO,)


def test_an_overlapping_object_ends_the_mappings_it_covers():
    """The newest mapping wins; neighbours stay."""
    neighbour = Mapping(0x4000, 0x1000, "/lib/neighbour.so")
    image = image_of(ALPHA, Mapping(0x2000, 0x800, "/lib/second.so"), neighbour)
    newest = Mapping(0x1800, 0x2800, "/lib/newest.so")
    image.map_object(newest)

    assert image.mappings == (newest, neighbour)
    assert image.find(0x1400) is None


def test_the_same_object_reported_twice_changes_nothing():
    """A state dump and the dynamic linker both report an object."""
    image = image_of(ALPHA)
    image.set_build_id(0x1000, b"\xaa\xaa")
    version = image.version
    image.map_object(ALPHA)

    assert image.version == version
    assert image.find(0x1000).build_id == b"\xaa\xaa"


def test_a_second_report_does_not_make_a_fixed_executable_independent():
    """The state dump says whether code is position-independent; loads assume it."""
    program = Mapping(0x400000, 0x1000, "/bin/app", is_pic=False)
    image = image_of(program, Mapping(0x400000, 0x1000, "/bin/app", is_pic=True))

    assert image.mappings == (program,)


def test_a_build_id_and_a_debug_link_may_come_before_their_object():
    """They wait for it, and are used up by it."""
    image = ProcessImage()
    image.set_build_id(0x1000, b"\xaa\xaa")
    image.set_debug_link(0x1000, "alpha.debug", 0x1_0000_0007)
    image.map_object(ALPHA)
    first = image.find(0x1000)
    image.map_object(BRAVO)

    assert (first.build_id, first.debug_link) == (b"\xaa\xaa", ("alpha.debug", 7))
    assert image.find(0x1000) == BRAVO


def test_an_unload_forgets_a_build_id_that_waits():
    """What was reported before an unload does not belong to a later object."""
    image = ProcessImage()
    image.set_build_id(0x1000, b"\xaa\xaa")
    image.unmap(0x1000)
    image.map_object(ALPHA)

    assert image.find(0x1000) == ALPHA


def test_empty_build_ids_and_link_names_are_ignored():
    """They say nothing about the object."""
    image = image_of(ALPHA)
    image.set_build_id(0x1000, b"")
    image.set_debug_link(0x1000, "", 1)

    assert image.mappings == (ALPHA,)


def test_a_new_state_dump_replaces_the_image():
    """Everything mapped before it is forgotten, also what waits."""
    image = image_of(ALPHA)
    image.set_build_id(0x9000, b"\xaa\xaa")
    image.begin_state_dump()
    image.map_object(Mapping(0x9000, 0x1000, "/lib/late.so"))

    assert image.find(0x1000) is None
    assert image.find(0x9000).build_id is None


def test_only_changes_count_as_versions():
    """Unknown unloads, repeated facts and empty dumps keep the version."""
    image = ProcessImage()
    image.begin_state_dump()
    image.unmap(0x1000)
    assert image.version == 0

    image.map_object(ALPHA)
    image.set_build_id(0x1000, b"\xaa\xaa")
    image.set_build_id(0x1000, b"\xaa\xaa")
    assert image.version == 2


def test_dlclose_releases_what_dlopen_brought_in():
    """The object stays until each dlopen has its dlclose."""
    image = ProcessImage()
    image.open_object(ALPHA)
    image.open_object(ALPHA)
    image.close_object(0x1000)
    after_one = image.find(0x1000)
    image.close_object(0x1000)

    assert after_one == ALPHA
    assert image.find(0x1000) is None


def test_dlclose_keeps_what_others_reported():
    """An object of the state dump has users besides the dlopen calls seen."""
    image = image_of(ALPHA)
    image.open_object(ALPHA)
    image.close_object(0x1000)
    image.close_object(0x1000)

    assert image.find(0x1000) == ALPHA


def test_dlclose_keeps_what_the_linker_confirmed():
    """A load reported after the dlopen will have its own unload."""
    image = ProcessImage()
    image.open_object(ALPHA)
    image.map_object(ALPHA)
    image.close_object(0x1000)

    assert image.find(0x1000) == ALPHA


def test_dlopen_of_an_object_known_at_its_first_segment_changes_nothing():
    """A dlopen event states the load bias, which differs from the first segment."""
    image = image_of(ALPHA)
    image.open_object(Mapping(0x800, 0x1000, "/lib/alpha.so", base_is_bias=True))

    assert image.mappings == (ALPHA,)


def test_dlopen_of_nothing_is_ignored():
    """An object without size brings no mapping to count."""
    image = ProcessImage()
    image.open_object(Mapping(0x1000, 0, "/lib/alpha.so"))
    image.close_object(0x1000)

    assert image.mappings == ()


def test_processes_have_images_of_their_own():
    """The same address means another object in another process."""
    images = ProcessImages()
    images.of(1).map_object(ALPHA)
    images.of(2).map_object(BRAVO)

    assert images.find(1, 0x1400) == ALPHA
    assert images.find(2, 0x1400) == BRAVO


def test_a_missing_object_has_its_reason():
    """No state dump at all differs from an address outside of all objects."""
    images = ProcessImages()
    images.of(1).map_object(ALPHA)

    assert images.find(1, 0x9000).reason is Reason.NO_OBJECT
    assert images.find(2, 0x1400).reason is Reason.NO_STATE_DUMP


FILE = Mapping(0x1000, 0x9000, "/lib/alpha.so", modified=1377519722)
"""As ``ust_baddr`` tells of ALPHA: with the size of its file."""


def test_a_report_with_the_size_of_the_file_changes_no_better_one():
    """What was known of the object stays, and so do its neighbours."""
    image = image_of(ALPHA, Mapping(0x3000, 0x1000, "/lib/near.so"))
    image.set_build_id(0x1000, b"id")

    image.map_object(FILE)

    assert image.find(0x1800) == ALPHA._replace(build_id=b"id")
    assert image.find(0x2800) is None
    assert image.find(0x3800).path == "/lib/near.so"


def test_a_better_report_replaces_one_with_the_size_of_the_file():
    """The size in memory is the one that counts."""
    assert image_of(FILE, ALPHA).find(0x2800) is None


@pytest.mark.parametrize("is_first", [True, False])
def test_a_file_that_is_larger_than_its_object_hides_no_other(is_first):
    """Whichever of them is reported first."""
    near = Mapping(0x3000, 0x1000, "/lib/near.so", modified=1377519722)
    image = image_of(*((FILE, near) if is_first else (near, FILE)))

    assert image.find_range(0x2000) == (FILE, 0x2FFF)
    assert image.find(0x3800) == near
    assert image.find(0x4800) is None
