//! What must hold before any byte of a data stream can be decoded.

use super::lines::ScopeLines;
use crate::error::{CtfError, ErrorKind, Result};
use crate::model::{FieldClass, FieldKind, Role, StreamClass, TraceClass};

fn error(message: impl Into<String>) -> CtfError {
    CtfError::new(ErrorKind::Metadata, message)
}

/// Refuses a trace class whose streams could not be decoded.
///
/// # Errors
///
/// Names the scope and the field, and what the specification expects of it.
pub fn validate(trace: &TraceClass, lines: &ScopeLines) -> Result<()> {
    let at = |stream, scope| {
        let line = lines.of(stream, 0, scope);
        move |error: CtfError| CtfError { line, ..error }
    };
    if let Some(header) = &trace.packet_header {
        validate_packet_header(header).map_err(at(0, 0))?;
    }
    let has_stream_id = has_role(trace.packet_header.as_ref(), Role::StreamClassId);
    if let (false, [_, second, ..]) = (has_stream_id, trace.stream_classes.as_slice()) {
        let message =
            "several streams, but the packet header has no 'stream_id' (CTF 1.8.3, section 5)";
        return Err(at(second.id, 1)(error(message)));
    }
    for stream in &trace.stream_classes {
        validate_packet_context(stream).map_err(at(stream.id, 1))?;
        validate_event_header(stream).map_err(at(stream.id, 2))?;
    }
    Ok(())
}

fn has_role(class: Option<&FieldClass>, role: Role) -> bool {
    class.is_some_and(|class| match &class.kind {
        FieldKind::Integer(class) | FieldKind::Enumeration(class, _) => class.role == Some(role),
        _ => class.members().iter().any(|member| has_role(Some(&member.class), role)),
    })
}

fn validate_packet_header(header: &FieldClass) -> Result<()> {
    for (index, member) in header.members().iter().enumerate() {
        match member.name() {
            "magic" => {
                let valid = member.class.as_integer().is_some_and(|class| class.size == 32);
                if index != 0 || !valid {
                    return Err(error("'magic' must be the first field, an integer of 32 bits"));
                }
            }
            "uuid" if !is_uuid(&member.class) => {
                return Err(error("'uuid' of the packet header must be an array of 16 bytes"));
            }
            name @ ("stream_id" | "stream_instance_id") => unsigned(name, &member.class)?,
            _ => {}
        }
    }
    Ok(())
}

fn is_uuid(class: &FieldClass) -> bool {
    let FieldKind::Array { element, length, .. } = &class.kind else { return false };
    let bytes = element.as_integer().is_some_and(|class| class.size == 8 && class.alignment == 8);
    bytes && *length == crate::model::Length::Static(16)
}

fn unsigned(name: &str, class: &FieldClass) -> Result<()> {
    if class.as_integer().is_some_and(|integer| !integer.signed) {
        Ok(())
    } else {
        Err(error(format!("'{name}' must be an unsigned integer")))
    }
}

fn validate_packet_context(stream: &StreamClass) -> Result<()> {
    const UNSIGNED: [&str; 6] = [
        "timestamp_begin",
        "timestamp_end",
        "events_discarded",
        "packet_seq_num",
        "packet_size",
        "content_size",
    ];
    let members = stream.packet_context.as_ref().map_or(&[][..], FieldClass::members);
    for member in members.iter().filter(|member| UNSIGNED.contains(&member.name())) {
        unsigned(member.name(), &member.class)?;
    }
    Ok(())
}

fn validate_event_header(stream: &StreamClass) -> Result<()> {
    let has_id = has_role(stream.event_header.as_ref(), Role::EventClassId);
    if stream.event_classes.len() > 1 && !has_id {
        let message =
            format!("stream {} has several events, but its event header has no 'id'", stream.id);
        return Err(error(message));
    }
    Ok(())
}
