//! Wrong packet times that some tracers are known to write, and their correction.
//!
//! Which versions write them is what Babeltrace 2.0.4 goes by (`plugins/ctf/fs-src/fs.c`):
//!
//! - lttng-ust before 2.11.0, lttng-modules before 2.9.13 and from 2.10.0 before 2.10.10
//!   may record an event after the end that its packet states;
//! - barectf before 2.3.1 may record an event before the beginning that its packet states;
//! - any LTTng tracer whose process crashed leaves the end of open packets 0.

use super::packet_entry::PacketEntry;
use crate::model::{EnvironmentValue, TraceClass};

/// When a packet begins and ends, cycles; `None` where the tracer does not tell, or tells
/// what cannot be believed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PacketTimes {
    /// Not after its first record.
    pub beginning: Option<u64>,
    /// Not before its last record.
    pub end: Option<u64>,
}

/// What may be wrong with the packet times of a trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quirks {
    /// Events may stand after the end of their packet.
    pub event_after_packet: bool,
    /// Events may stand before the beginning of their packet.
    pub event_before_packet: bool,
    /// The end of a packet may be 0 because the tracer crashed.
    pub open_packet: bool,
}

impl Quirks {
    /// The quirks of the tracer that a trace names in its environment.
    #[must_use]
    pub fn of(trace: &TraceClass) -> Self {
        let name = trace.environment_string("tracer_name");
        let (Some(name), Some(major)) = (name, integer(trace, "tracer_major")) else {
            return Self::default();
        };
        let minor = integer(trace, "tracer_minor");
        // Without a minor version the rest of the version says nothing.
        let patch = minor.and_then(|_| {
            integer(trace, "tracer_patch").or_else(|| integer(trace, "tracer_patchlevel"))
        });
        let version = (major, minor.unwrap_or(0), patch.unwrap_or(0));
        let lttng = matches!(name, "lttng-ust" | "lttng-modules");
        Self {
            event_after_packet: match name {
                "lttng-ust" => version < (2, 11, 0),
                "lttng-modules" => {
                    version < (2, 9, 13) || ((2, 10, 0)..(2, 10, 10)).contains(&version)
                }
                _ => false,
            },
            event_before_packet: name == "barectf" && version < (2, 3, 1),
            open_packet: lttng,
        }
    }

    /// The times of a packet, given the packet after it in its data stream.
    ///
    /// LTTng's packets follow each other: what cannot be believed of one's end is not after
    /// the beginning of the next. The end of the last one only its records tell.
    #[must_use]
    pub fn packet_times(
        self,
        packet: Option<&PacketEntry>,
        next: Option<&PacketEntry>,
    ) -> PacketTimes {
        let Some(packet) = packet else { return PacketTimes::default() };
        if self.event_before_packet {
            // Both ends would have to be read from the records; nothing depends on them so.
            return PacketTimes { beginning: None, end: packet.end.filter(|_| next.is_none()) };
        }
        let open = packet.end == Some(0) && packet.beginning != Some(0);
        let end = if self.event_after_packet || (open && self.open_packet) {
            next.and_then(|next| next.beginning)
        } else {
            packet.end
        };
        PacketTimes { beginning: packet.beginning, end }
    }
}

impl Quirks {
    /// The clock value at which a packet ends, given that of its last event record or, without
    /// any, of its beginning.
    #[must_use]
    pub fn end_of_packet(self, beginning: Option<u64>, end: u64, last: u64) -> u64 {
        let is_open = self.open_packet && end == 0 && beginning != Some(0);
        let is_early = self.event_after_packet && end < last;
        match is_open || is_early {
            true => last,
            false => end,
        }
    }
}

/// Whether the end that a packet states is after all its events, unless it is 0.
#[must_use]
pub fn trusts_packet_end(trace: &TraceClass) -> bool {
    !Quirks::of(trace).event_after_packet
}

/// Whether the beginning that a packet states is before all its events.
#[must_use]
pub fn trusts_packet_beginning(trace: &TraceClass) -> bool {
    !Quirks::of(trace).event_before_packet
}

fn integer(trace: &TraceClass, name: &str) -> Option<i64> {
    trace.environment.iter().find_map(|(key, value)| match value {
        EnvironmentValue::Integer(number) if key == name => Some(*number),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(name: &str, version: (i64, i64, i64)) -> TraceClass {
        let number = |key: &str, value| (key.to_owned(), EnvironmentValue::Integer(value));
        let environment = vec![
            ("tracer_name".to_owned(), EnvironmentValue::String(name.to_owned())),
            number("tracer_major", version.0),
            number("tracer_minor", version.1),
            number("tracer_patchlevel", version.2),
        ];
        TraceClass { environment, ..TraceClass::default() }
    }

    #[test]
    fn lttng_of_known_versions_records_events_after_the_end_of_a_packet() {
        for (name, version, affected) in [
            ("lttng-ust", (2, 10, 9), true),
            ("lttng-ust", (2, 11, 0), false),
            ("lttng-modules", (2, 8, 99), true),
            ("lttng-modules", (2, 9, 12), true),
            ("lttng-modules", (2, 9, 13), false),
            ("lttng-modules", (2, 10, 9), true),
            ("lttng-modules", (2, 10, 10), false),
            ("barectf", (2, 3, 0), false),
        ] {
            assert_eq!(trusts_packet_end(&trace(name, version)), !affected, "{name} {version:?}");
        }
    }

    #[test]
    fn old_barectf_records_events_before_the_beginning_of_a_packet() {
        assert!(!trusts_packet_beginning(&trace("barectf", (2, 3, 0))));
        assert!(trusts_packet_beginning(&trace("barectf", (2, 3, 1))));
        assert!(trusts_packet_beginning(&trace("lttng-ust", (1, 0, 0))));
    }

    fn packet(beginning: u64, end: u64) -> PacketEntry {
        PacketEntry {
            offset: 0,
            size: 1,
            beginning: Some(beginning),
            end: Some(end),
            events_discarded: None,
            sequence_number: None,
        }
    }

    #[test]
    fn a_packet_with_events_after_its_end_ends_where_the_next_one_begins() {
        let quirks = Quirks::of(&trace("lttng-ust", (2, 10, 0)));
        let (first, second) = (packet(10, 20), packet(30, 40));
        assert_eq!(quirks.packet_times(Some(&first), Some(&second)).end, Some(30));
        assert_eq!(quirks.packet_times(Some(&second), None).end, None);
    }

    #[test]
    fn a_packet_that_a_crash_left_open_ends_where_the_next_one_begins() {
        let quirks = Quirks::of(&trace("lttng-ust", (2, 13, 0)));
        let (open, next) = (packet(10, 0), packet(30, 40));
        assert_eq!(quirks.packet_times(Some(&open), Some(&next)).end, Some(30));
        assert_eq!(quirks.packet_times(Some(&open), None).end, None);
        assert_eq!(quirks.packet_times(Some(&next), None).end, Some(40));
        let other = Quirks::of(&trace("barectf", (3, 0, 0)));
        assert_eq!(other.packet_times(Some(&open), Some(&next)).end, Some(0));
    }

    #[test]
    fn only_the_outer_times_of_old_barectf_are_believed() {
        let quirks = Quirks::of(&trace("barectf", (2, 3, 0)));
        let (first, second) = (packet(10, 20), packet(20, 40));
        assert_eq!(quirks.packet_times(Some(&first), Some(&second)), PacketTimes::default());
        assert_eq!(quirks.packet_times(Some(&second), None).end, Some(40));
    }

    #[test]
    fn a_trace_without_a_tracer_has_no_quirk() {
        assert_eq!(Quirks::of(&TraceClass::default()), Quirks::default());
    }
}
