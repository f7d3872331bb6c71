//! Time stamps that the metadata map to no clock.
//!
//! CTF 1.8.3 gives `timestamp` in the event header and `timestamp_begin` and `timestamp_end`
//! in the packet context their meaning by name alone (section 5.2 and 6.1). As Babeltrace 2
//! does, they count the only clock of the trace, or else one of 1 GHz.

use crate::model::{ClockClass, FieldClass, FieldKind, IntegerClass, TraceClass};

/// Maps the time stamps without a clock to the only one, which is made when there is none.
/// With several clocks nobody can tell, and they stay numbers.
pub fn map_time_stamps(trace: &mut TraceClass) {
    if trace.clocks.len() > 1 {
        return;
    }
    let mut mapped = false;
    for stream in &mut trace.stream_classes {
        let names: [(&mut Option<FieldClass>, &[&str]); 2] = [
            (&mut stream.packet_context, &["timestamp_begin", "timestamp_end"]),
            (&mut stream.event_header, &["timestamp"]),
        ];
        for (scope, names) in names {
            if let Some(scope) = scope {
                map_members(scope, names, &mut mapped);
            }
        }
    }
    if mapped && trace.clocks.is_empty() {
        trace.clocks.push(ClockClass::named("default"));
    }
}

fn map_members(class: &mut FieldClass, names: &[&str], mapped: &mut bool) {
    let (FieldKind::Structure { members, .. } | FieldKind::Variant { options: members, .. }) =
        &mut class.kind
    else {
        return;
    };
    for member in members {
        let stamp = names.contains(&member.name());
        match integer(&mut member.class).filter(|_| stamp) {
            Some(integer) if integer.clock.is_none() => {
                integer.clock = Some(0);
                *mapped = true;
            }
            _ => map_members(&mut member.class, names, mapped),
        }
    }
}

fn integer(class: &mut FieldClass) -> Option<&mut IntegerClass> {
    match &mut class.kind {
        FieldKind::Integer(class) | FieldKind::Enumeration(class, _) => Some(class),
        _ => None,
    }
}
