"""What programs with tracepoints are compiled with: headers, and small libraries.

The headers ask nothing of the linker: a program finds the tracer when it starts, if it
is recorded. For builds that link LTTng-UST there are libraries of its names: in one is
an object that loads the tracer where there is a session daemon, the others are empty.
"""

from __future__ import annotations

from pathlib import Path

from ..errors import RecordError

__all__ = ["compile_flags", "link_flags", "native_directory", "pkg_config_directory"]


def native_directory() -> Path:
    """Return where the compiled parts, the headers and the empty libraries are.

    Returns:
        The directory.

    Raises:
        RecordError: The package was not built, or not for Linux.
    """
    path = Path(__file__).parent / "native"
    if not (path / "include/lttng/tracepoint.h").is_file():
        raise RecordError(
            "the headers are not there: expected 'include/lttng/tracepoint.h' in this "
            "directory after 'make' or 'pip install'",
            path=path,
        )
    return path


def pkg_config_directory() -> Path:
    """Return what PKG_CONFIG_PATH needs for ``pkg-config vestige``, or ``lttng-ust``.

    Returns:
        The directory of the .pc files.
    """
    return native_directory() / "lib/pkgconfig"


def compile_flags() -> list[str]:
    """Return what a compiler needs to find the headers.

    Returns:
        The words for its command line.
    """
    return [f"-I{native_directory() / 'include'}"]


def link_flags() -> list[str]:
    """Return what a linker needs: where ``-llttng-ust`` is, and C libraries' ``dlsym``.

    Returns:
        The words for its command line.
    """
    return [f"-L{native_directory() / 'lib'}", "-ldl"]
