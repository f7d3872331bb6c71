"""A virtual machine that sees the files of this one and runs one command.

What it writes stays in its memory, but for one folder. Its own terminal is what the
command prints; what the kernel says goes to a file.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from initramfs import archive, load_order
from kernel_packages import Kernel, UnavailableError

__all__ = ["Machine"]

QEMU = "qemu-system-x86_64"
DAEMONS = (Path("/usr/lib/qemu/virtiofsd"), Path("/usr/libexec/virtiofsd"))
MODULES = ("virtio_pci", "virtiofs", "overlay")
"""What a machine needs to see the files of this one."""

CLOCK = "clocksource=tsc tsc=reliable"
"""What real machines have, and what is read fast here, too: both processors of a machine
read one counter, but its kernel cannot know that."""

FOLDERS = ("bin", "dev", "lower", "modules", "new", "proc", "results", "sys", "upper")
INIT = """\
#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sysfs /sys
$b mount -t devtmpfs devtmpfs /dev
$b stty -F /dev/ttyS0 raw -echo
for m in $($b cat /modules/order); do $b insmod /modules/$m.ko; done
$b mount -t virtiofs -o ro host /lower
$b mount -t virtiofs results /results
$b mount -t tmpfs -o mode=755 tmpfs /upper
$b mkdir /upper/files /upper/work
$b mount -t overlay -o lowerdir=/lower,upperdir=/upper/files,workdir=/upper/work overlay /new
$b mount -t proc proc /new/proc
$b mount -t sysfs sysfs /new/sys
$b mount -t tracefs tracefs /new/sys/kernel/tracing
$b mount -t cgroup2 cgroup2 /new/sys/fs/cgroup
$b mount -t devtmpfs devtmpfs /new/dev
$b mkdir -p /new/dev/pts /new/dev/shm
$b mount -t devpts -o ptmxmode=666 devpts /new/dev/pts
$b mount -t tmpfs -o mode=1777 tmpfs /new/dev/shm
$b mount -t tmpfs -o mode=755 tmpfs /new/run
$b mkdir /new/run/results /new/run/lock
$b mount -o bind /results /new/run/results
$b ln -sf /proc/self/fd /new/dev/fd
$b ip link set lo up
$b hostname vestige
# The files become the root of all: in a changed root, no user namespace can be made.
$b cp $b /new/run/busybox
cd /new
$b mount --move . /
exec $b chroot . /run/busybox sh /run/results/end
"""
END = """\
b=/run/busybox
{
    $b setsid /bin/sh /run/results/command </dev/null
    echo $? >/run/results/status
} 2>&1 | $b cat >/dev/ttyS0
$b sync
$b poweroff -f
"""


@dataclass(frozen=True)
class Machine:
    """What a machine has, and how long it may run."""

    memory: str = "3G"
    """How much, as QEMU writes it; all that is written there is in it, too."""

    processors: int = 2
    seconds: float = 3600.0

    def check(self) -> None:
        """See whether a machine can run here.

        Raises:
            UnavailableError: When something is missing.
        """
        _virtiofsd()

    def run(self, kernel: Kernel, script: str, results: Path) -> int:
        """Run a script of a shell under a kernel; return its exit status.

        Args:
            kernel: Which one.
            script: What is run, as root.
            results: A folder for ``kernel.log`` and for what the script writes to
                ``/run/results``.

        Raises:
            UnavailableError: When something is missing here, or the machine does not come
                to the end of the script.
            MissingModuleError: When the kernel lacks a module.
        """
        virtiofsd = _virtiofsd()
        results.mkdir(parents=True, exist_ok=True)
        (results / "status").unlink(missing_ok=True)
        (results / "command").write_text(script, encoding="utf-8")
        (results / "end").write_text(END, encoding="utf-8")
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            initrd = folder / "initrd"
            initrd.write_bytes(_initrd(kernel))
            shares = [
                stack.enter_context(_shared(folder, "host", Path("/"), virtiofsd)),
                stack.enter_context(_shared(folder, "results", results, virtiofsd)),
            ]
            command = self._qemu(kernel, initrd, shares, results / "kernel.log")
            try:
                subprocess.run(
                    command, stdin=subprocess.DEVNULL, timeout=self.seconds, check=False
                )
            except subprocess.TimeoutExpired:
                raise UnavailableError(
                    f"{kernel.release} was ended after {self.seconds:.0f} s"
                ) from None
        return _status(kernel, results)

    def _qemu(
        self,
        kernel: Kernel,
        initrd: Path,
        shares: Sequence[tuple[str, Path]],
        log: Path,
    ) -> list[str]:
        words = [
            *(QEMU, "-accel", "tcg,thread=single", "-cpu", "max", "-display", "none"),
            *(
                "-smp",
                str(self.processors),
                "-no-reboot",
                "-nodefaults",
                "-m",
                self.memory,
            ),
            *("-object", f"memory-backend-memfd,id=memory,size={self.memory},share=on"),
            *("-numa", "node,memdev=memory"),
            *("-serial", "stdio", "-serial", f"file:{log}"),
            *("-kernel", str(kernel.image), "-initrd", str(initrd)),
            *("-append", f"console=ttyS1 panic=-1 quiet loglevel=4 {CLOCK}"),
        ]
        for tag, socket in shares:
            words += ["-chardev", f"socket,id={tag},path={socket}"]
            words += ["-device", f"vhost-user-fs-pci,chardev={tag},tag={tag}"]
        return words


def _status(kernel: Kernel, results: Path) -> int:
    try:
        return int((results / "status").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        log = results / "kernel.log"
        last = log.read_text(errors="replace")[-2000:] if log.exists() else ""
        raise UnavailableError(
            f"{kernel.release} did not run the command to its end; it said:\n{last}"
        ) from None


def _virtiofsd() -> Path:
    """Return where virtiofsd is.

    Raises:
        UnavailableError: When something is missing here.
    """
    if os.geteuid() != 0:
        raise UnavailableError("only root may show its files to a virtual machine")
    for tool in (QEMU, "busybox"):
        if shutil.which(tool) is None:
            raise UnavailableError(f"not installed: {tool}")
    for path in DAEMONS:
        if path.exists():
            return path
    raise UnavailableError("not installed: virtiofsd")


def _initrd(kernel: Kernel) -> bytes:
    modules = load_order(kernel.modules, MODULES)
    shell = shutil.which("busybox") or ""
    files = {f"modules/{name}.ko": data for name, data in modules.items()}
    files["modules/order"] = " ".join(modules).encode()
    programs = {"init": INIT.encode(), "bin/busybox": Path(shell).read_bytes()}
    return archive(programs, files, FOLDERS)


@contextmanager
def _shared(
    folder: Path, tag: str, shown: Path, virtiofsd: Path
) -> Iterator[tuple[str, Path]]:
    """Show a folder to a machine; all but its own file system is left out.

    Yields:
        Its tag and the socket to which QEMU connects.
    """
    socket, mount = folder / f"{tag}.socket", folder / f"{tag}.mount"
    mount.mkdir()
    # In a mount name space, so that nothing of it is seen here, and read only where the
    # machine is not to write: its kernel is not ours to trust with the files of root.
    mode = "ro" if tag == "host" else "rw"
    settings = (
        f"--socket-path={socket}",
        f"-o source={mount} -o cache=always -o announce_submounts -o log_level=err",
    )
    steps = (
        f"mount --bind {shlex.quote(str(shown))} {mount}",
        f"mount -o remount,bind,{mode} {mount}",
        f"exec {virtiofsd} {' '.join(settings)}",
    )
    words = ["unshare", "--mount", "sh", "-c", " && ".join(steps)]
    # It complains of each machine that ends.
    with (
        (folder / f"{tag}.log").open("w") as log,
        subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=log) as daemon,
    ):
        try:
            while not socket.exists():
                if daemon.poll() is not None:
                    said = (folder / f"{tag}.log").read_text(errors="replace")
                    raise UnavailableError(f"virtiofsd: {said.strip()[-300:]}")
                time.sleep(0.01)
            yield tag, socket
        finally:
            daemon.send_signal(signal.SIGTERM)
