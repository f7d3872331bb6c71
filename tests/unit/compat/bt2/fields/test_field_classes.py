"""Classes of fields that components make."""

from __future__ import annotations

from vestige.compat.bt2.fields.field_classes import _StructureFieldClassMemberConst
from vestige.compat.bt2.traces.builders import _TraceClass


def test_a_member_is_found_without_looking_at_all(monkeypatch) -> None:
    """Else structures of thousands of members would take a minute."""
    asked = []
    name = _StructureFieldClassMemberConst.name
    counted = property(lambda self: asked.append(self) or name.fget(self))
    monkeypatch.setattr(_StructureFieldClassMemberConst, "name", counted)
    trace_class = _TraceClass(assigns_automatic_stream_class_id=True)
    structure = trace_class.create_structure_field_class()
    members = 200
    for number in range(members):
        structure.append_member(f"m{number}", trace_class.create_bool_field_class())

    assert all(f"m{number}" in structure for number in range(members))
    assert structure["m7"].name == "m7"
    assert "m200" not in structure
    assert len(asked) < 3 * members
