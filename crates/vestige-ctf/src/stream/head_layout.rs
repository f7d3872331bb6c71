//! Where the fields of packet headers and contexts stand.
//!
//! Tracers write headers and contexts of integers that stand at the same places in each
//! packet. A small packet has little beside them, so going through the tree of field classes
//! for each costs more than its records. What is not so goes through the tree.

use super::expected_head::{expected_uuid, stream_class_of, MAGIC};
use crate::bits::read_bits;
use crate::model::{FieldClass, FieldKind, IntegerClass, Length, Role, TraceClass};
use crate::record::State;

/// The largest head that has a layout, bits; larger ones are seldom.
const MOST_BITS: u64 = 4096 * 8;

/// The places of the fields in the packets of a stream class.
#[derive(Debug)]
pub struct HeadLayout {
    /// Index of the stream class.
    pub stream_class: usize,
    /// Where the packet context begins, bits from the start of the packet.
    pub context_at: u64,
    /// Where the first event record begins, bits from the start of the packet.
    pub events_at: u64,
    /// Whether each packet begins with a clock value of 0.
    pub resets_clock: bool,
    /// Byte offset and value of a UUID.
    uuid: Option<(usize, [u8; 16])>,
    /// Integers with one value in every packet: magic number and stream class ID.
    fixed: Vec<(u64, IntegerClass, u64)>,
    /// Integers with values that somebody needs, these among them.
    noted: Vec<(u64, IntegerClass)>,
}

impl HeadLayout {
    /// The layout of the packets of a stream class, if they have one.
    #[must_use]
    pub fn new(trace: &TraceClass, stream_class: usize) -> Option<Self> {
        let class = trace.stream_classes.get(stream_class)?;
        let mut layout = Self {
            stream_class,
            context_at: 0,
            events_at: 0,
            resets_clock: trace.version.0 >= 2,
            uuid: None,
            fixed: Vec::new(),
            noted: Vec::new(),
        };
        if let Some(header) = &trace.packet_header {
            layout.header(header, trace)?;
        }
        let id = layout.noted.iter().any(|(_, noted)| noted.role == Some(Role::StreamClassId));
        let (found, _) = stream_class_of(trace, id.then_some(class.id))?;
        if found != stream_class {
            return None;
        }
        for (at, noted) in &layout.noted {
            let expected = match noted.role {
                Some(Role::Magic) => MAGIC,
                Some(Role::StreamClassId) => class.id,
                _ => continue,
            };
            if noted.signed {
                return None;
            }
            layout.fixed.push((*at, noted.clone(), expected));
        }
        layout.context_at = layout.events_at;
        if let Some(context) = &class.packet_context {
            layout.field(context)?;
        }
        Some(layout)
    }

    /// Bytes of header and context.
    #[must_use]
    pub fn size(&self) -> usize {
        self.events_at.div_ceil(8) as usize
    }

    /// Notes the values of the head at the beginning of some bytes, as many as its size;
    /// `false`, and nothing is noted, when it is not one of a packet of this stream class.
    #[inline]
    #[must_use]
    pub fn decode(&self, head: &[u8], state: &mut State) -> bool {
        let value = |at: &u64, class: &IntegerClass| read_bits(head, *at, class.size, class.order);
        let has_uuid = self.uuid.is_none_or(|(at, uuid)| head.get(at..at + 16) == Some(&uuid[..]));
        let is_mine = has_uuid
            && head.len() >= self.size()
            && self.fixed.iter().all(|(at, class, expected)| value(at, class) == *expected);
        if is_mine {
            state.forget_roles();
            state.forget_empty_elements();
            if self.resets_clock {
                // CTF2-SPEC-2.0, section 6.1: each packet begins with a clock value of 0.
                state.clock = 0;
            }
            for (at, class) in &self.noted {
                state.note_integer(class, value(at, class));
            }
        }
        is_mine
    }

    /// Adds the members of the packet header; `None` when their places differ.
    fn header(&mut self, header: &FieldClass, trace: &TraceClass) -> Option<()> {
        self.align(header.alignment())?;
        for member in header.members() {
            if let Some(uuid) = expected_uuid(member, trace) {
                self.align(member.class.alignment())?;
                let is_plain = self.events_at % 8 == 0 && size_of_uuid(&member.class) == Some(16);
                if self.uuid.is_some() || !is_plain {
                    return None;
                }
                self.uuid = Some(((self.events_at / 8) as usize, uuid));
                self.step(16 * 8)?;
            } else {
                self.field(&member.class)?;
            }
        }
        Some(())
    }

    fn field(&mut self, class: &FieldClass) -> Option<()> {
        self.align(class.alignment())?;
        if let Some(size) = class.fixed_size {
            return self.step(size);
        }
        match &class.kind {
            FieldKind::Integer(integer) | FieldKind::Enumeration(integer, _) => {
                if !(1..=64).contains(&integer.size) {
                    return None;
                }
                self.noted.push((self.events_at, integer.clone()));
                self.step(u64::from(integer.size))
            }
            FieldKind::Structure { members, .. } => {
                members.iter().try_for_each(|member| self.field(&member.class))
            }
            _ => None,
        }
    }

    fn align(&mut self, alignment: u32) -> Option<()> {
        self.events_at = self.events_at.checked_next_multiple_of(u64::from(alignment))?;
        Some(())
    }

    fn step(&mut self, bits: u64) -> Option<()> {
        self.events_at = self.events_at.checked_add(bits)?;
        (self.events_at <= MOST_BITS).then_some(())
    }
}

/// How many bytes the field of a UUID has, if that is known.
fn size_of_uuid(class: &FieldClass) -> Option<u64> {
    match &class.kind {
        FieldKind::Blob(blob) => match blob.length {
            Length::Static(count) => Some(count),
            Length::Dynamic { .. } => None,
        },
        _ => class.fixed_size.map(|bits| bits / 8),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::metadata::parse;
    use crate::stream::file_window::FileWindow;
    use crate::stream::packet::{read_by_layout, read_packet};

    const TYPES: &str = "typealias integer { size = 8; align = 8; } := u8;\n\
        typealias integer { size = 16; align = 8; } := u16;\n\
        typealias integer { size = 32; align = 32; } := u32;\n\
        typealias integer { size = 5; align = 1; } := u5;\n\
        clock { name = c; };\n\
        typealias integer { size = 64; align = 8; map = clock.c.value; } := time;\n\
        typealias integer { size = 27; align = 1; map = clock.c.value; } := short;\n";

    fn trace(order: &str, header: &str, context: &str) -> TraceClass {
        // Without an ID, there is a single stream class.
        let second = if header.contains("stream_id") {
            format!("stream {{ id = 2; packet.context := struct {{ u8 other; {context} }}; }};")
        } else {
            String::new()
        };
        let text = format!(
            "{TYPES} trace {{ major = 1; minor = 8; byte_order = {order}; \
               uuid = \"00010203-0405-0607-0809-0a0b0c0d0e0f\"; \
               packet.header := struct {{ {header} }}; }};\n\
             stream {{ id = 1; packet.context := struct {{ {context} }}; }};\n{second}"
        );
        parse(text.as_bytes()).unwrap()
    }

    /// Heads that are right but for a byte, each byte of them in turn.
    fn heads(layout: &HeadLayout, seed: u64) -> Vec<Vec<u8>> {
        let mut state = seed;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            (state >> 56) as u8
        };
        let mut right: Vec<u8> = (0..layout.size() + 40).map(|_| random()).collect();
        for (at, class, value) in &layout.fixed {
            crate::bits::write_unsigned(&mut right, *at, class.size, class.order, *value);
        }
        if let Some((at, uuid)) = layout.uuid {
            right[at..at + 16].copy_from_slice(&uuid);
        }
        let sizes = layout
            .noted
            .iter()
            .filter(|(_, class)| matches!(class.role, Some(Role::PacketSize | Role::ContentSize)));
        for (at, class) in sizes {
            let bits = right.len() as u64 * 8;
            crate::bits::write_unsigned(&mut right, *at, class.size, class.order, bits);
        }
        let wrong = (0..layout.size()).map(|at| {
            let mut head = right.clone();
            head[at] ^= 1 << (at % 8);
            head
        });
        std::iter::once(right.clone()).chain(wrong).collect()
    }

    /// Compares both ways; returns how many heads the layout could read.
    fn compare(trace: &TraceClass, class: usize) -> usize {
        let layout = HeadLayout::new(trace, class).unwrap();
        let mut read = 0;
        for head in (0..20).flat_map(|seed| heads(&layout, seed)) {
            let mut states = [State::new(trace.slot_count), State::new(trace.slot_count)];
            states.iter_mut().for_each(|state| state.clock = 1 << 30);
            let [fast, slow] = &mut states;
            let found = read_by_layout(&mut FileWindow::default(), &head, 0, &layout, fast);
            let general = (trace, Some(class));
            let expected = read_packet(&mut FileWindow::default(), &head, 0, general, slow);
            if let Some(found) = found {
                let packet = expected.unwrap();
                assert_eq!(found, packet.properties);
                assert_eq!((fast.clock, &fast.slots), (slow.clock, &packet.slots));
                read += 1;
            } else {
                assert_eq!(fast.clock, 1 << 30);
                let is_unusual = |packet: &crate::stream::packet::Packet| {
                    packet.properties.faults.is_some() || packet.properties.stream_class != class
                };
                assert!(expected.is_err() || is_unusual(&expected.unwrap()));
            }
        }
        read
    }

    #[test]
    fn both_ways_read_the_same() {
        let headers = [
            "",
            "u32 magic; u8 uuid[16]; u32 stream_id;",
            "u32 magic; u8 uuid[16]; u8 stream_id; u5 stream_instance_id;",
            "u16 stream_id; u8 pad[3]; u8 uuid[16]; u5 rest;",
        ];
        let contexts = [
            "u16 packet_size; u16 content_size; time timestamp_begin; time timestamp_end;",
            "u5 odd; short timestamp_begin; u32 packet_size; u5 packet_seq_num; u8 values[7];",
            "u5 odd; struct { u8 a; time timestamp_begin; } align(64); u32 events_discarded;",
        ];
        for (header, context) in headers.iter().flat_map(|h| contexts.map(|c| (h, c))) {
            for order in ["le", "be"] {
                let trace = trace(order, header, context);
                for class in 0..trace.stream_classes.len() {
                    assert!(compare(&trace, class) > 0, "{header} {context} {order}");
                }
            }
        }
    }

    #[test]
    fn fields_of_changing_places_have_no_layout() {
        for context in ["string s;", "u8 n; u8 s[n];", "u8 huge[5000];"] {
            assert!(HeadLayout::new(&trace("le", "u32 magic;", context), 0).is_none());
        }
    }
}
