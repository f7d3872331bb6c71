//! The bytes by which a packet is recognised.

use super::expected_head::expected_uuid;
use crate::model::{ByteOrder, FieldClass, FieldKind, Role, TraceClass};

/// Bytes that every packet of a trace has at the same place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    bytes: Vec<u8>,
    offset: u64,
}

/// The marks of a trace's packets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marks {
    /// The magic number (CTF 1.8.3, section 5.1: the first field, in the trace's byte order).
    pub magic: Option<Mark>,
    /// The UUID: chance, or a payload, can hardly have a packet like it.
    pub uuid: Option<Mark>,
}

impl Marks {
    /// What the packet headers of a trace have in common.
    #[must_use]
    pub fn of(trace: &TraceClass) -> Self {
        let mut marks = Self::default();
        let header = trace.packet_header.iter();
        let mut offset = 0u64;
        for member in header.flat_map(|header| header.members()) {
            let class = &member.class;
            let alignment = u64::from(class.alignment()).max(1);
            let Some(start) = offset.checked_next_multiple_of(alignment) else { break };
            let place = if start % 8 == 0 { Some(start / 8) } else { None };
            let mark = |bytes| place.map(|offset| Mark { bytes, offset });
            marks.magic = marks.magic.or_else(|| mark(magic(class)?));
            marks.uuid = marks.uuid.or_else(|| mark(expected_uuid(member, trace)?.to_vec()));
            match size(class).and_then(|size| start.checked_add(size)) {
                Some(end) => offset = end,
                None => break,
            }
        }
        marks
    }

    /// Whether there is nothing to recognise a packet by.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.magic.is_none() && self.uuid.is_none()
    }

    /// From the beginning of a packet to behind its last mark, bytes.
    #[must_use]
    pub fn reach(&self) -> u64 {
        self.iter().map(|mark| mark.offset + mark.bytes.len() as u64).max().unwrap_or(0)
    }

    /// The marks that there are.
    pub fn iter(&self) -> impl Iterator<Item = &Mark> {
        self.magic.iter().chain(&self.uuid)
    }
}

impl Mark {
    /// Where packets begin that have the bytes in some data, by what stands there alone.
    pub fn find<'a>(&'a self, data: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
        let data = data.get(self.offset as usize..).unwrap_or_default();
        memchr::memmem::find_iter(data, &self.bytes)
    }
}

fn magic(class: &FieldClass) -> Option<Vec<u8>> {
    let integer = class.as_integer()?;
    let magic = super::expected_head::MAGIC as u32;
    (integer.role == Some(Role::Magic) && integer.size == 32).then(|| match integer.order {
        ByteOrder::Little => magic.to_le_bytes().to_vec(),
        ByteOrder::Big => magic.to_be_bytes().to_vec(),
    })
}

/// Size in bits of a field that always has the same; also of those that are noted.
fn size(class: &FieldClass) -> Option<u64> {
    match &class.kind {
        FieldKind::Integer(integer) | FieldKind::Enumeration(integer, _) => {
            Some(u64::from(integer.size))
        }
        _ => class.fixed_size,
    }
}
