//! The commands.

use crate::index::PacketIndex;
use crate::numbers::{Malformed, Reader};

/// No stream, no number.
const NONE: u64 = u64::MAX;

/// Bytes of names that older peers send in fields of a fixed size.
const OLD_SESSION_NAME: usize = 255;
const OLD_HOST_NAME: usize = 64;
const OLD_CHANNEL_NAME: usize = 264;
const PATH_BYTES: usize = 4096;

/// Bytes of a rotated stream in its command.
const POSITION_BYTES: usize = 16;

/// A session begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CreateSession {
    /// Empty from peers that do not say it.
    pub session_name: Vec<u8>,
    /// As above.
    pub host_name: Vec<u8>,
    /// Where below the host somebody wants it; empty if nobody said.
    pub base_path: Vec<u8>,
    /// Microseconds; 0 if the session is not live.
    pub live_timer: u32,
    /// Whether it takes snapshots.
    pub is_snapshot: bool,
    /// Whether its name tells when it was created.
    pub is_dated: bool,
    /// Which session daemon it is of.
    pub daemon: Option<[u8; 16]>,
    /// Which session of that daemon; nothing from peers without trace chunks.
    pub number: Option<u64>,
    /// Seconds since 1970; nothing from the same.
    pub creation_time: Option<u64>,
    /// The trace chunk that another connection has created for it.
    pub chunk: Option<u64>,
}

/// A stream of the session begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddStream {
    /// The channel and which of its streams: the name of the file.
    pub channel: Vec<u8>,
    /// The directory.
    pub path: Vec<u8>,
    /// Bytes of a data file; 0: without limit.
    pub file_bytes: u64,
    /// How many files there are at once; 0: without limit.
    pub file_count: u64,
}

/// Streams go on in another trace chunk, or in none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RotateStreams {
    /// The trace chunk.
    pub chunk: Option<u64>,
    /// Streams, and the number of the first packet that is in it.
    pub streams: Vec<(u64, u64)>,
}

/// What a session daemon or a consumer wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command<'a> {
    /// Which protocol is spoken.
    Version { major: u32, minor: u32 },
    /// See there.
    CreateSession(CreateSession),
    /// See there.
    AddStream(AddStream),
    /// Data will come.
    StartData,
    /// More metadata of a stream, and how many zeros follow it.
    Metadata { stream: u64, padding: u32, payload: &'a [u8] },
    /// A stream has ended with a packet.
    CloseStream { stream: u64, last: u64 },
    /// Whether the packets of a stream up to one are there.
    DataPending { stream: u64, last: u64 },
    /// A question for a stream of which nothing more will come.
    Quiescent { stream: u64 },
    /// Questions begin.
    BeginDataPending { session: u64 },
    /// Whether streams that nobody has asked about have ended.
    EndDataPending { session: u64 },
    /// What is to be known of a packet.
    Index { stream: u64, sequence: u64, packet: PacketIndex },
    /// The streams that were added may be looked at.
    StreamsSent,
    /// Metadata comes anew.
    ResetMetadata { stream: u64 },
    /// See there.
    RotateStreams(RotateStreams),
    /// A trace chunk begins, seconds since 1970, with a name.
    CreateChunk { chunk: u64, time: u64, name: Option<Vec<u8>> },
    /// One ends, and what comes of it.
    CloseChunk { chunk: u64, time: u64, action: Option<u32> },
    /// Whether one is there.
    ChunkExists { chunk: u64 },
    /// What the relay allows.
    Configuration { flags: u64 },
    /// Any other.
    Unknown(u32),
}

impl<'a> Command<'a> {
    /// Reads one.
    ///
    /// # Arguments
    ///
    /// * `number`: Which, from its header.
    /// * `minor`: The version of the protocol that both sides speak.
    /// * `payload`: What follows the header.
    ///
    /// # Errors
    ///
    /// It makes no sense.
    pub fn decode(number: u32, minor: u32, payload: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(payload);
        let reader = &mut reader;
        Ok(match number {
            1 => Self::AddStream(add_stream(reader, minor)?),
            2 => Self::CreateSession(create_session(reader, minor)?),
            3 => Self::StartData,
            5 => Self::Version { major: reader.u32()?, minor: reader.u32()? },
            6 => Self::Metadata {
                stream: reader.u64()?,
                padding: reader.u32()?,
                payload: reader.rest(),
            },
            7 => Self::CloseStream { stream: reader.u64()?, last: reader.u64()? },
            8 => Self::DataPending { stream: reader.u64()?, last: reader.u64()? },
            9 => Self::Quiescent { stream: reader.u64()? },
            10 => Self::BeginDataPending { session: reader.u64()? },
            11 => Self::EndDataPending { session: reader.u64()? },
            13 => packet_index(reader, minor)?,
            16 => Self::StreamsSent,
            17 => Self::ResetMetadata { stream: reader.u64()? },
            18 => Self::RotateStreams(rotate_streams(payload)?),
            19 => create_chunk(reader)?,
            20 => Self::CloseChunk {
                chunk: reader.u64()?,
                time: reader.u64()?,
                action: optional(reader.u8()?, reader.u32()?),
            },
            21 => Self::ChunkExists { chunk: reader.u64()? },
            22 => Self::Configuration { flags: reader.u64()? },
            other => Self::Unknown(other),
        })
    }
}

/// A value, if the flag before it says that there is one.
fn optional<Value>(flag: u8, value: Value) -> Option<Value> {
    (flag != 0).then_some(value)
}

/// Bytes of a text whose length a member says; no text is longer than a path.
fn length(reader: &mut Reader<'_>) -> Result<usize, Malformed> {
    let bytes = usize::try_from(reader.u32()?).unwrap_or(usize::MAX);
    if bytes > PATH_BYTES {
        return Err(Malformed("a name is longer than a path may be"));
    }
    Ok(bytes)
}

fn text(reader: &mut Reader<'_>, bytes: usize) -> Result<Vec<u8>, Malformed> {
    if bytes == 0 {
        return Ok(Vec::new());
    }
    reader.text(bytes)
}

fn create_session(reader: &mut Reader<'_>, minor: u32) -> Result<CreateSession, Malformed> {
    if minor < 4 {
        return Ok(CreateSession::default());
    }
    if minor < 11 {
        return Ok(CreateSession {
            session_name: reader.text(OLD_SESSION_NAME)?,
            host_name: reader.text(OLD_HOST_NAME)?,
            live_timer: reader.u32()?,
            is_snapshot: reader.u32()? != 0,
            ..CreateSession::default()
        });
    }
    let session_bytes = length(reader)?;
    let host_bytes = length(reader)?;
    let path_bytes = length(reader)?;
    let live_timer = reader.u32()?;
    let is_snapshot = reader.u8()? != 0;
    let is_dated = reader.u8()? != 0;
    let daemon = reader.array()?;
    let number = reader.u64()?;
    let creation_time = reader.u64()?;
    let chunk = optional(reader.u8()?, reader.u64()?);
    if daemon == [0; 16] {
        return Err(Malformed("the session daemon has no UUID"));
    }
    Ok(CreateSession {
        session_name: text(reader, session_bytes)?,
        host_name: text(reader, host_bytes)?,
        base_path: text(reader, path_bytes)?,
        live_timer,
        is_snapshot,
        is_dated,
        daemon: Some(daemon),
        number: Some(number),
        creation_time: Some(creation_time),
        chunk,
    })
}

fn add_stream(reader: &mut Reader<'_>, minor: u32) -> Result<AddStream, Malformed> {
    if minor < 11 {
        let channel = reader.text(OLD_CHANNEL_NAME)?;
        let path = reader.text(PATH_BYTES)?;
        let (file_bytes, file_count) =
            if minor > 1 { (reader.u64()?, reader.u64()?) } else { (0, 0) };
        return Ok(AddStream { channel, path, file_bytes, file_count });
    }
    let channel_bytes = length(reader)?;
    let path_bytes = length(reader)?;
    let file_bytes = reader.u64()?;
    let file_count = reader.u64()?;
    // The trace chunk: it is always that of the session.
    reader.u64()?;
    let channel = text(reader, channel_bytes)?;
    Ok(AddStream { channel, path: text(reader, path_bytes)?, file_bytes, file_count })
}

fn packet_index<'a>(reader: &mut Reader<'_>, minor: u32) -> Result<Command<'a>, Malformed> {
    let stream = reader.u64()?;
    let sequence = reader.u64()?;
    let mut packet = PacketIndex {
        packet_bits: reader.u64()?,
        content_bits: reader.u64()?,
        begin: reader.u64()?,
        end: reader.u64()?,
        discarded: reader.u64()?,
        stream_class: reader.u64()?,
        instance: NONE,
        number: NONE,
    };
    if minor >= 8 {
        packet.instance = reader.u64()?;
        packet.number = reader.u64()?;
    }
    Ok(Command::Index { stream, sequence, packet })
}

/// Compilers have put no, three or seven bytes before the number of the trace chunk: the length of
/// the message tells which.
fn rotate_streams(payload: &[u8]) -> Result<RotateStreams, Malformed> {
    let mut reader = Reader::new(payload);
    let count = usize::try_from(reader.u32()?).unwrap_or(usize::MAX);
    let flag = reader.u8()?;
    let positions = count.checked_mul(POSITION_BYTES);
    let head = positions.and_then(|bytes| payload.len().checked_sub(bytes));
    let padding = match head {
        Some(13) => 0,
        Some(16) => 3,
        Some(20) => 7,
        _ => return Err(Malformed("a rotation has another length than its streams")),
    };
    reader.take(padding)?;
    let chunk = optional(flag, reader.u64()?);
    let positions = (0..count).map(|_| Ok((reader.u64()?, reader.u64()?)));
    Ok(RotateStreams { chunk, streams: positions.collect::<Result<_, Malformed>>()? })
}

fn create_chunk<'a>(reader: &mut Reader<'_>) -> Result<Command<'a>, Malformed> {
    let (chunk, time, bytes) = (reader.u64()?, reader.u64()?, length(reader)?);
    let name = (bytes > 0).then(|| reader.text(bytes)).transpose()?;
    Ok(Command::CreateChunk { chunk, time, name })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rotation(padding: usize, count: u32, streams: &[(u64, u64)]) -> Vec<u8> {
        let mut bytes = count.to_be_bytes().to_vec();
        bytes.push(1);
        bytes.extend(vec![0xAA; padding]);
        bytes.extend(9_u64.to_be_bytes());
        for (stream, at) in streams {
            bytes.extend(stream.to_be_bytes());
            bytes.extend(at.to_be_bytes());
        }
        bytes
    }

    #[test]
    fn rotations_are_read_as_any_compiler_lays_them_out() {
        let streams = [(1, 7), (2, u64::MAX)];
        for padding in [0, 3, 7] {
            let bytes = rotation(padding, 2, &streams);
            let read = Command::decode(18, 11, &bytes);
            let expected = RotateStreams { chunk: Some(9), streams: streams.to_vec() };
            assert_eq!(read, Ok(Command::RotateStreams(expected)));
        }
        for (padding, count) in [(0, 1), (0, u32::MAX), (2, 2), (0, 0)] {
            let bytes = rotation(padding, count, &streams);
            assert!(Command::decode(18, 11, &bytes).is_err(), "{padding} {count}");
        }
    }

    #[test]
    fn a_name_that_says_more_than_is_there_is_refused() {
        let mut bytes = [1_u64.to_be_bytes(), 2_u64.to_be_bytes()].concat();
        bytes.extend(4_u32.to_be_bytes());
        bytes.extend(b"ab\0");
        assert!(Command::decode(19, 11, &bytes).is_err());
        bytes.push(0);
        let name = Some(b"ab".to_vec());
        let expected = Command::CreateChunk { chunk: 1, time: 2, name };
        assert_eq!(Command::decode(19, 11, &bytes), Ok(expected));
    }

    #[test]
    fn older_peers_say_less_of_packets() {
        let words: Vec<u8> = (1_u64..=10).flat_map(u64::to_be_bytes).collect();
        let Ok(Command::Index { packet, .. }) = Command::decode(13, 11, &words) else {
            panic!("expected an index");
        };
        assert_eq!((packet.instance, packet.number), (9, 10));
        let Ok(Command::Index { packet, .. }) = Command::decode(13, 7, &words[..64]) else {
            panic!("expected an index");
        };
        assert_eq!((packet.instance, packet.number), (NONE, NONE));
        assert!(Command::decode(13, 8, &words[..64]).is_err());
    }
}
