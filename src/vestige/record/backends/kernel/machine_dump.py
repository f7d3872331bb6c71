"""The machine when a recording begins: interrupts, networks, disks, CPUs.

Fields are those of LTTng 2.13. What the kernel does not tell here is left out.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
from array import array
from contextlib import suppress

from ...._typing import TYPE_CHECKING
from .event_classes import integer
from .proc_files import read_file, terminated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["CLASSES", "machine_records"]

_UNSIGNED = integer(4)
_NETWORK = "integer { size = 32; align = 8; signed = 0; byte_order = be; base = 16; }"

CLASSES: dict[str, str] = {
    "interrupt": f"{_UNSIGNED} _irq; string _name; string _action; "
    f"{integer(4, is_signed=True)} _tid;",
    "network_interface": f"string _name; {_NETWORK} _address_ipv4;",
    "block_device": f"{_UNSIGNED} _dev; string _diskname;",
    "cpu_topology": f"string _architecture; {integer(2)} _cpu_id; string _vendor; "
    f"{integer(1)} _family; {integer(1)} _model; string _model_name; "
    f"{integer(2)} _physical_id; {integer(2)} _core_id; {integer(2)} _cores;",
}
"""Names of the events without ``lttng_statedump_``, and their fields."""

_MINOR_BITS = 20
"""Bits of the minor number of a disk."""
_PARTITION_WORDS = 4
_INTERRUPTS = "/sys/kernel/irq"
_GET_ADDRESSES, _GET_FLAGS, _IS_UP = 0x8912, 0x8913, 1
"""What netdevice(7) has numbers for."""
_REQUEST_BYTES, _NAME_BYTES = 40, 16
_MOST_ADDRESSES = 4096
_NAME_LENGTH = 15
"""Bytes of a thread's name."""


def machine_records(
    threads: Mapping[bytes, int],
) -> Iterator[tuple[str, bytes]]:
    """Yield what there is.

    Args:
        threads: Threads of the kernel by their names, among them those that handle
            interrupts.

    Yields:
        The names of events without ``lttng_statedump_``, and their fields.
    """
    for fields in _interrupts(threads):
        yield "interrupt", fields
    for fields in _interfaces():
        yield "network_interface", fields
    for fields in _disks():
        yield "block_device", fields
    for fields in _cpus():
        yield "cpu_topology", fields


def _interrupts(threads: Mapping[bytes, int]) -> Iterator[bytes]:
    """Yield an entry for each handler of an interrupt."""
    with suppress(OSError):
        for number in sorted(int(one) for one in os.listdir(_INTERRUPTS)):
            with suppress(OSError):
                place = f"{_INTERRUPTS}/{number}"
                chip = read_file(f"{place}/chip_name").strip()
                actions = read_file(f"{place}/actions").strip()
                for action in actions.split(b",") if actions else ():
                    name = b"irq/%d-%s" % (number, action)
                    thread = threads.get(name[:_NAME_LENGTH], 0)
                    yield b"".join(
                        (
                            struct.pack("<I", number),
                            terminated(chip or b"unnamed_irq_chip"),
                            terminated(action),
                            struct.pack("<i", thread),
                        )
                    )


def _interfaces() -> Iterator[bytes]:
    """Yield the IPv4 addresses of interfaces; 0 for one that is not up."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        addresses = _addresses(asked.fileno())
        for _, name in socket.if_nameindex():
            with suppress(OSError):
                key = os.fsencode(name)
                request = bytearray(key.ljust(_REQUEST_BYTES, b"\0"))
                fcntl.ioctl(asked.fileno(), _GET_FLAGS, request)
                [flags] = struct.unpack_from("<h", request, _NAME_BYTES)
                found = addresses.get(key, []) if flags & _IS_UP else [bytes(4)]
                for address in found:
                    yield terminated(key) + address


def _addresses(descriptor: int) -> dict[bytes, list[bytes]]:
    """Return the addresses by interface."""
    room = array("B", bytes(_REQUEST_BYTES * _MOST_ADDRESSES))
    at, _ = room.buffer_info()
    answer = fcntl.ioctl(descriptor, _GET_ADDRESSES, struct.pack("iP", len(room), at))
    found: dict[bytes, list[bytes]] = {}
    [length] = struct.unpack_from("i", answer)
    for begin in range(0, length, _REQUEST_BYTES):
        one = bytes(room[begin : begin + _REQUEST_BYTES])
        # What is behind a colon is the label of a further address.
        name = one[:_NAME_BYTES].partition(b"\0")[0].partition(b":")[0]
        found.setdefault(name, []).append(one[_NAME_BYTES + 4 : _NAME_BYTES + 8])
    return found


def _disks() -> Iterator[bytes]:
    """Yield the numbers of disks, as the kernel has them, and their names."""
    with suppress(OSError):
        for line in read_file("/proc/partitions").splitlines()[2:]:
            words = line.split()
            if len(words) == _PARTITION_WORDS:
                number = int(words[0]) << _MINOR_BITS | int(words[1])
                yield struct.pack("<I", number) + terminated(words[3])


def _cpus() -> Iterator[bytes]:
    """Yield the CPUs of x86; LTTng tells those of no other architecture."""
    with suppress(OSError):
        for part in read_file("/proc/cpuinfo").split(b"\n\n"):
            pairs = (line.partition(b":") for line in part.splitlines())
            known = {name.strip(): value.strip() for name, _, value in pairs}
            # A kernel for one CPU does not tell where that is.
            with suppress(KeyError, ValueError, struct.error):
                yield b"".join(
                    (
                        b"x86\0" + struct.pack("<H", int(known[b"processor"])),
                        terminated(known[b"vendor_id"] or b"unknown"),
                        struct.pack("<B", int(known[b"cpu family"])),
                        struct.pack("<B", int(known[b"model"])),
                        terminated(known[b"model name"] or b"unknown"),
                        struct.pack("<H", int(known[b"physical id"])),
                        struct.pack("<H", int(known[b"core id"])),
                        struct.pack("<H", int(known[b"cpu cores"])),
                    )
                )
