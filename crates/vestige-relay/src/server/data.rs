//! A connection on which packets come.

use std::sync::Arc;

use crate::data::{DataHeader, HEADER_BYTES};
use crate::store::{Store, Stream};

/// A packet of which a part has come.
#[derive(Debug)]
struct Begun {
    header: DataHeader,
    stream: Arc<Stream>,
    left: usize,
}

/// What has come of the next header or packet.
#[derive(Debug, Default)]
pub struct DataConnection {
    head: Vec<u8>,
    begun: Option<Begun>,
    session: Option<u64>,
}

impl DataConnection {
    /// Takes bytes in the order in which they came.
    ///
    /// # Errors
    ///
    /// They make no sense, or cannot be written: nothing more may come.
    pub fn feed(&mut self, store: &Store, mut bytes: &[u8]) -> Result<(), String> {
        while !bytes.is_empty() {
            if let Some(begun) = &mut self.begun {
                let (now, rest) = bytes.split_at(begun.left.min(bytes.len()));
                begun.stream.write(now).map_err(|error| begun.stream.says(&error))?;
                begun.left -= now.len();
                bytes = rest;
            } else {
                let missing = HEADER_BYTES - self.head.len();
                let (now, rest) = bytes.split_at(missing.min(bytes.len()));
                self.head.extend(now);
                bytes = rest;
                if self.head.len() == HEADER_BYTES {
                    self.begin(store)?;
                }
            }
            if self.begun.as_ref().is_some_and(|begun| begun.left == 0) {
                self.end_packet(store)?;
            }
        }
        Ok(())
    }

    fn begin(&mut self, store: &Store) -> Result<(), String> {
        let header = DataHeader::decode(&self.head).map_err(|error| error.to_string())?;
        self.head.clear();
        let Some(stream) = store.get(header.stream) else {
            return Err("a packet came for a stream that is not there".to_owned());
        };
        let session = stream.layout.session;
        match self.session {
            None => {
                self.session = Some(session);
                store.begin_data(session);
            }
            Some(own) if own != session => {
                return Err("a packet came for a stream of another session".to_owned());
            }
            Some(_) => {}
        }
        stream.begin_packet(&header).map_err(|error| stream.says(&error))?;
        let left = usize::try_from(header.bytes).unwrap_or(usize::MAX);
        self.begun = Some(Begun { header, stream, left });
        Ok(())
    }

    fn end_packet(&mut self, store: &Store) -> Result<(), String> {
        let Some(Begun { header, stream, .. }) = self.begun.take() else { return Ok(()) };
        let end = stream.end_packet(&header).map_err(|error| stream.says(&error))?;
        if end.is_first_lost {
            store.tell_full(&stream);
        }
        if end.is_stream_end {
            store.remove(&stream);
        }
        Ok(())
    }

    /// The session whose packets come, once there was one.
    pub fn session(&self) -> Option<u64> {
        self.session
    }

    /// Nothing more will come.
    pub fn end(&mut self, store: &Store) {
        if let Some(begun) = self.begun.take() {
            begun.stream.forget_partial();
        }
        if let Some(session) = self.session.take() {
            store.end_data(session);
        }
    }
}
