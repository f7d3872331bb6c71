"""Names of functions that have little room."""

from __future__ import annotations

import pytest

from vestige.cli.render.fitted_name import fitted_name

VECTOR = "void std::vector<int, std::allocator<int> >::insert<char*>(int, char*&&)"


@pytest.mark.parametrize(
    ("name", "room", "expected"),
    [
        (VECTOR, 80, VECTOR),
        (VECTOR, 70, "void std::vector<int, std::allocator<int> >::insert<char*>(…)"),
        (VECTOR, 40, "void std::vector<…>::insert<…>(…)"),
        (VECTOR, 20, "void std::vector<…>…"),
        ("a::operator<< <b<c> >(std::ostream&)", 23, "a::operator<< <…>(…)"),
        ("a::operator->() const", 20, "a::operator->() con…"),
        ("run<f>(main::{lambda()#3}&&, f<g>&&)", 12, "run<f>(…)"),
        ("f::operator()(int, int) const", 24, "f::operator()(…) const"),
        ("(anonymous namespace)::f(int, int)", 30, "(anonymous namespace)::f(…)"),
        ("main::{lambda(int, char)#2}::f()", 30, "main::{lambda(…)#2}::f()"),
        ("<Vec<T> as core::ops::Drop>::drop", 32, "<Vec<…> as core::ops::Drop>::dr…"),
        ("not<understood", 13, "not<understo…"),
        ("", 5, ""),
    ],
)
def test_what_distinguishes_a_name_stays(name, room, expected):
    """Parameters go first, then template arguments, then the end."""
    fitted = fitted_name(name, room)

    assert fitted == expected
    assert len(fitted) <= room
