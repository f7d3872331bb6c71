//! The packets of a metadata stream (CTF 1.8.3, section 7.1), joined to their text.

use std::borrow::Cow;

use crate::error::{CtfError, ErrorKind, Result};
use crate::model::ByteOrder;

const MAGIC: u32 = 0x75D1_1D57;
const HEADER_SIZE: usize = 37;

/// Byte offsets of the header's fields.
const UUID: std::ops::Range<usize> = 4..20;
const CONTENT_SIZE: usize = 24;
const PACKET_SIZE: usize = 28;
const SCHEMES: std::ops::Range<usize> = 32..35;
const VERSION: std::ops::Range<usize> = 35..37;

fn error(offset: usize, message: impl Into<String>) -> CtfError {
    CtfError { offset: Some(offset as u64), ..CtfError::new(ErrorKind::Metadata, message) }
}

fn integer(bytes: &[u8], offset: usize, order: ByteOrder) -> Option<u32> {
    let raw: [u8; 4] = bytes.get(offset..offset.checked_add(4)?)?.try_into().ok()?;
    Some(match order {
        ByteOrder::Little => u32::from_le_bytes(raw),
        ByteOrder::Big => u32::from_be_bytes(raw),
    })
}

/// The byte order of packetised metadata, or `None` for plain text.
#[must_use]
pub fn packet_order(bytes: &[u8]) -> Option<ByteOrder> {
    [ByteOrder::Little, ByteOrder::Big]
        .into_iter()
        .find(|&order| integer(bytes, 0, order) == Some(MAGIC))
}

/// The text of a metadata file, packetised or plain.
///
/// # Errors
///
/// When the file is empty, or a packet's header contradicts the file or asks for a scheme
/// that no tracer writes (checksum, compression, encryption).
pub fn text(bytes: &[u8]) -> Result<Cow<'_, [u8]>> {
    match partial_text(bytes) {
        (text, None) => Ok(text),
        (_, Some(error)) => Err(error),
    }
}

/// The text of a metadata file as far as it goes: of the packets before a damaged one, and of
/// what there is of a last packet that is cut.
#[must_use]
pub fn partial_text(bytes: &[u8]) -> (Cow<'_, [u8]>, Option<CtfError>) {
    if bytes.is_empty() {
        let message = "the metadata is empty; expected TSDL text or metadata packets";
        return (Cow::Borrowed(bytes), Some(error(0, message)));
    }
    let Some(order) = packet_order(bytes) else {
        return (Cow::Borrowed(bytes), None);
    };
    let mut text = Vec::with_capacity(bytes.len());
    let result = append_packets(bytes, order, &mut text);
    (Cow::Owned(text), result.err())
}

fn append_packets(bytes: &[u8], order: ByteOrder, text: &mut Vec<u8>) -> Result<()> {
    let mut offset = 0;
    let mut uuid = None;
    while offset < bytes.len() {
        let packet = packet(bytes, offset, order)?;
        let expected = *uuid.get_or_insert(packet.uuid);
        if expected != packet.uuid {
            return Err(error(offset + UUID.start, "a metadata packet has another UUID"));
        }
        text.extend_from_slice(packet.text);
        if packet.size > bytes.len() - offset {
            return Err(cut(offset, packet.size, bytes.len() - offset));
        }
        offset += packet.size;
    }
    Ok(())
}

fn cut(offset: usize, size: usize, left: usize) -> CtfError {
    let message = format!("metadata packet cut: its header says {size} bytes, {left} are left");
    error(offset + PACKET_SIZE, message)
}

struct MetadataPacket<'a> {
    uuid: &'a [u8],
    text: &'a [u8],
    size: usize,
}

fn packet(bytes: &[u8], offset: usize, order: ByteOrder) -> Result<MetadataPacket<'_>> {
    let rest = bytes.get(offset..).unwrap_or_default();
    let header = rest.get(..HEADER_SIZE).ok_or_else(|| {
        let message = format!(
            "metadata packet header cut: expected {HEADER_SIZE} bytes, {} are left",
            rest.len()
        );
        error(offset, message)
    })?;
    if integer(header, 0, order) != Some(MAGIC) {
        return Err(error(offset, format!("expected the metadata packet magic {MAGIC:#010x}")));
    }
    check_schemes(header, offset)?;
    let bits = |at| integer(header, at, order).unwrap_or(0) as usize;
    let (content, size) = (bits(CONTENT_SIZE) / 8, bits(PACKET_SIZE) / 8);
    if content < HEADER_SIZE || content > size {
        let message = format!(
            "metadata packet sizes contradict each other: content {content} bytes, packet \
             {size} bytes; the header alone has {HEADER_SIZE}"
        );
        return Err(error(offset + CONTENT_SIZE, message));
    }
    Ok(MetadataPacket {
        uuid: header.get(UUID).unwrap_or_default(),
        text: rest.get(HEADER_SIZE..content.min(rest.len())).unwrap_or_default(),
        size,
    })
}

fn check_schemes(header: &[u8], offset: usize) -> Result<()> {
    if header.get(SCHEMES).is_some_and(|schemes| schemes.iter().any(|&scheme| scheme != 0)) {
        let message = "metadata packet with a compression, encryption or checksum scheme: \
                       expected 0 for each";
        return Err(error(offset + SCHEMES.start, message));
    }
    match header.get(VERSION) {
        Some([1, 8] | [2, 0]) => Ok(()),
        version => {
            let number = |index| version.and_then(|bytes| bytes.get(index)).unwrap_or(&0);
            let (major, minor) = (number(0), number(1));
            let message =
                format!("metadata packet of CTF version {major}.{minor}: expected 1.8 or 2.0");
            Err(error(offset + VERSION.start, message))
        }
    }
}
