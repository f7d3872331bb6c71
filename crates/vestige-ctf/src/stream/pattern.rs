//! The bytes by which a packet is recognised.

use crate::model::{ByteOrder, FieldClass, FieldKind, Role, TraceClass};

/// Bytes that every packet of a trace has at the same place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    bytes: Vec<u8>,
    offset: u64,
    strong: bool,
}

impl Pattern {
    /// What the packet headers of a trace have in common: the magic number (CTF 1.8.3,
    /// section 5.1: the first field, in the trace's byte order), else the UUID.
    #[must_use]
    pub fn of(trace: &TraceClass) -> Option<Self> {
        let header = trace.packet_header.as_ref()?;
        let mut offset = 0u64;
        let mut found: Option<Self> = None;
        for member in header.members() {
            let class = &member.class;
            let alignment = u64::from(class.alignment()).max(1);
            offset = offset.checked_next_multiple_of(alignment)?;
            let uuid = trace.uuid.filter(|_| member.name() == "uuid");
            match (magic(class), uuid) {
                (Some(bytes), _) if offset % 8 == 0 && found.is_none() => {
                    found = Some(Self { bytes, offset: offset / 8, strong: false });
                }
                (_, Some(uuid)) if offset % 8 == 0 => match &mut found {
                    // Packets are checked for both, so that a hit proves both.
                    Some(pattern) => pattern.strong = true,
                    None => {
                        let bytes = uuid.to_vec();
                        found = Some(Self { bytes, offset: offset / 8, strong: true });
                    }
                },
                _ => {}
            }
            match size(class) {
                Some(size) => offset = offset.checked_add(size)?,
                None => break,
            }
        }
        found
    }

    /// The number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Where they stand in a packet.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether chance, or a payload, can hardly have a packet like it.
    #[must_use]
    pub fn is_strong(&self) -> bool {
        self.strong
    }

    /// Where the bytes stand in some data.
    pub fn find<'a>(&'a self, data: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
        memchr::memmem::find_iter(data, &self.bytes)
    }
}

fn magic(class: &FieldClass) -> Option<Vec<u8>> {
    let integer = class.as_integer()?;
    let magic = super::packet::MAGIC as u32;
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
