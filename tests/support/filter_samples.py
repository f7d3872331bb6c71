"""Traces with the samples of ``chosen.c``, whose fields are encoded in several ways."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from struct import pack, unpack
from typing import Any

from vestige import ctf

__all__ = ["ENCODINGS", "filter_samples", "write_samples"]

SAMPLES = 24
TEXTS = ("", "bash", "bas", "bash shell", "/bin/ls", "a*b", "lttng-sessiond", "\\")
WIDES = (0, 1, -1, 63, 64, (1 << 63) - 1, -(1 << 63), 0x240, 4096)
REALS = (0.0, 0.5, -0.5, 1.0, 17.34e9, -3.25, 1e300)
LABELS: Mapping[str, int | tuple[int, int]] = {"RED": 0, "GREEN": 1, "DARK": (2, 9)}
ENCODINGS = ("little", "big", "packed", "ctf2")


def filter_samples() -> list[dict[str, Any]]:
    """Return the fields of all samples."""
    return [_sample(index) for index in range(SAMPLES)]


def _sample(index: int) -> dict[str, Any]:
    text = TEXTS[index % 8]
    wide = WIDES[index % 9]
    count = min(index % 5, len(text))
    number = index - 4
    quad = [((index * place) << (place * 8)) % (1 << 32) for place in range(4)]
    tiny = (index * 11 + 128) % 256 - 128
    return {
        "number": number,
        "tiny": tiny,
        "byte": tiny % 256,
        "wide": wide,
        "huge": wide % (1 << 64),
        "port": (index * 3000 + (1 << 15)) % (1 << 16) - (1 << 15),
        "address": (0x7F000001 + index * 0x01000000) % (1 << 32),
        "hidden": number * 10,
        "narrow": unpack("f", pack("f", REALS[index % 5]))[0],
        "real": REALS[index % 7],
        "text": text,
        "other": TEXTS[index * 3 % 8],
        "pair": [index - 12, (index * 2000 + (1 << 15)) % (1 << 16) - (1 << 15)],
        "word": "eightchr" if index % 2 else "five5",
        "list": quad[:count],
        "ports": [index + place for place in range(count)],
        "quad": quad,
        "halves": list(unpack("<8h", pack("<4I", *quad))),
        "piece_length": count,
        "piece": text[:count],
        "shade": number & 3,
    }


def write_samples(directory: Path, encoding: str) -> list[dict[str, Any]]:
    """Write a trace of the samples; return their fields.

    Each record has its index as time, and in its context.
    """
    samples = filter_samples()
    with ctf.Writer(
        directory,
        version="2" if encoding == "ctf2" else "1.8",
        byte_order="big" if encoding == "big" else "little",
        packet_context={"cpu_id": "u32"},
        event_context={"lead": "u3", "vtid": "s32"},
    ) as writer:
        made = writer.event_class("chosen:p00", _declared(encoding))
        stream = writer.stream("stream", cpu_id=3)
        for index, sample in enumerate(samples):
            stream.write(made, index, {"lead": 5, "vtid": index % 3}, **sample)
    return samples


def _declared(encoding: str) -> Mapping[str, Any]:
    alignment = 1 if encoding == "packed" else None
    declared: dict[str, Any] = {
        name: ctf.integer(size, signed=signed, alignment=alignment)
        for name, size, signed in (
            ("number", 32, True),
            ("tiny", 8, True),
            ("byte", 8, False),
            ("wide", 64, True),
            ("huge", 64, False),
            ("port", 16, True),
            ("address", 32, False),
            ("hidden", 19, True),
        )
    }
    declared |= {
        "narrow": ctf.floating_point(32, alignment=alignment or 8),
        "real": ctf.floating_point(64, alignment=alignment or 8),
        "text": str,
        "other": str,
        "pair": ctf.array(ctf.integer(16, signed=True, alignment=alignment), 2),
        "word": ctf.array("u8", 8, text=True),
        "list": ["u32"],
        "ports": ["u16be"],
        "quad": ["u32"],
        "halves": [ctf.integer(16, signed=True, alignment=alignment)],
        "piece_length": "u8",
        "piece": ctf.array("u8", "piece_length", text=True),
        "shade": ctf.enumeration(32, LABELS, signed=True),
    }
    if encoding == "ctf2":
        declared |= {
            "number": ctf.variable_length_integer(signed=True),
            "huge": ctf.variable_length_integer(),
            "byte": ctf.bit_array(8),
            "text": ctf.string(encoding="utf-16be"),
            "other": ctf.string(encoding="utf-32le"),
            "word": ctf.string(length=12),
            "list": [ctf.variable_length_integer()],
        }
    return declared
