"""What kernels of virtual machines find when they start."""

from __future__ import annotations

import gzip
import lzma
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))

import initramfs


def module(path, *needs):
    """Write what stands for a module, packed as its name says."""
    data = b"\x7fELF\0license=GPL\0depends=" + ",".join(needs).encode() + b"\0name=x\0"
    pack = {".xz": lzma.compress, ".gz": gzip.compress}.get(path.suffix, bytes)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pack(data))
    return data


def test_modules_stand_behind_what_they_need(tmp_path):
    """Whatever packs them, and however a name is written."""
    bus = module(tmp_path / "drivers" / "virtio.ko.xz")
    ring = module(tmp_path / "drivers" / "virtio-ring.ko.gz", "virtio")
    files = module(tmp_path / "fs" / "virtiofs.ko", "fuse", "virtio_ring", "virtio")
    fuse = module(tmp_path / "fs" / "fuse.ko.xz")
    found = initramfs.load_order(tmp_path, ["virtiofs", "fuse"])
    assert list(found) == ["fuse", "virtio", "virtio_ring", "virtiofs"]
    assert list(found.values()) == [fuse, bus, ring, files]


def test_a_module_that_is_not_there_may_be_in_the_kernel(tmp_path):
    """One that another module needs may not: the kernel would refuse that one."""
    module(tmp_path / "virtiofs.ko", "fuse")
    assert initramfs.load_order(tmp_path, ["virtio_pci"]) == {}
    with pytest.raises(initramfs.MissingModuleError, match="no module fuse"):
        initramfs.load_order(tmp_path, ["virtiofs"])


@pytest.mark.skipif(shutil.which("cpio") is None, reason="not installed: cpio")
def test_cpio_reads_an_archive(tmp_path):
    """Files of any length, with their rights."""
    data = initramfs.archive(
        {"init": b"#!/bin/sh\n"}, {"a/odd": b"12345", "a/none": b""}, ["a"]
    )
    subprocess.run(
        ["cpio", "--quiet", "-id"], cwd=tmp_path, input=data, check=True, timeout=60
    )
    assert (tmp_path / "init").read_bytes() == b"#!/bin/sh\n"
    assert (tmp_path / "init").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "a" / "odd").read_bytes() == b"12345"
    assert (tmp_path / "a" / "none").read_bytes() == b""
