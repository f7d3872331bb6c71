//! Copying merges: each data stream into a file of its own.

use std::collections::HashMap;
use std::sync::Arc;

use super::added::AddedColumns;
use super::error::CopyError;
use super::stream::{StreamCopy, WriteAt};
use crate::derived::Derived;
use crate::messages::{pieces, Piece};
use crate::muxer::{Merge, Notice, Run};
use crate::record::State;
use crate::stream::{Boundary, BoundaryKind, DataStream, LostKind, Packet};

type Result<T> = std::result::Result<T, (usize, CopyError)>;

/// One data stream of the copy.
struct Copied<W> {
    target: StreamCopy<W>,
    state: State,
}

/// Copies the data streams of merges.
pub struct MergeCopy<W> {
    streams: Vec<Copied<W>>,
    /// Which of them a data stream is, by its address; which stays its own, as it is kept here.
    indexes: HashMap<usize, (usize, Arc<DataStream>)>,
}

impl<W> Default for MergeCopy<W> {
    fn default() -> Self {
        Self { streams: Vec::new(), indexes: HashMap::new() }
    }
}

impl<W: WriteAt> MergeCopy<W> {
    /// Adds a data stream and its copy.
    pub fn add(&mut self, source: Arc<DataStream>, target: StreamCopy<W>) {
        let state = State::new(source.trace.slot_count);
        let index = self.streams.len();
        self.indexes.insert(Arc::as_ptr(&source) as usize, (index, source));
        self.streams.push(Copied { target, state });
    }

    /// Copies a merge, with what filters added to its records.
    ///
    /// # Errors
    ///
    /// What went wrong, with the index of the data stream.
    pub fn consume(&mut self, merge: &Merge, columns: &[Arc<Derived>]) -> Result<()> {
        let columns: Vec<_> = columns.iter().map(|one| (one.as_ref(), one.values())).collect();
        let indexes: Vec<_> = merge.streams.iter().map(|stream| self.index_of(stream)).collect();
        for piece in pieces(merge) {
            let (Piece::Run { rank, .. } | Piece::Notice(rank, _)) = piece;
            let Some(index) = indexes.get(rank).copied().flatten() else { continue };
            let Some(copied) = self.streams.get_mut(index) else { continue };
            let done = match piece {
                Piece::Notice(_, notice) => copied.notice(notice),
                Piece::Run { run, first, .. } => copied.run(merge, &run, (&columns, first)),
            };
            done.map_err(|error| (index, error))?;
        }
        Ok(())
    }

    /// Ends all packets.
    ///
    /// # Errors
    ///
    /// What went wrong, with the index of the data stream.
    pub fn finish(&mut self) -> Result<()> {
        for (index, copied) in self.streams.iter_mut().enumerate() {
            copied.target.end_packet(None).map_err(|error| (index, error))?;
        }
        Ok(())
    }

    fn index_of(&self, stream: &Arc<DataStream>) -> Option<usize> {
        self.indexes.get(&(Arc::as_ptr(stream) as usize)).map(|found| found.0)
    }
}

impl<W: WriteAt> Copied<W> {
    fn notice(&mut self, notice: &Notice) -> std::result::Result<(), CopyError> {
        match notice {
            Notice::Boundary(Boundary { kind, cycles, .. }) => match kind {
                BoundaryKind::PacketBeginning(packet) => self.begin(packet, *cycles),
                BoundaryKind::PacketEnd(_) => self.target.end_packet(*cycles),
                // Records that are of no packet are in one that nobody told of.
                BoundaryKind::StreamEnd => self.target.end_packet(None),
                BoundaryKind::StreamBeginning => Ok(()),
            },
            Notice::Lost(lost) => {
                match lost.kind {
                    LostKind::Events => self.target.discard_events(lost.count),
                    LostKind::Packets => self.target.discard_packets(lost.count),
                }
                Ok(())
            }
            Notice::Damage(..) | Notice::Inactivity(_) => Ok(()),
        }
    }

    fn begin(
        &mut self,
        packet: &Packet,
        beginning: Option<u64>,
    ) -> std::result::Result<(), CopyError> {
        self.target.end_packet(None)?;
        self.state.slots.clone_from(&packet.slots);
        self.target.begin_packet(packet, beginning)
    }

    fn run(
        &mut self,
        merge: &Merge,
        run: &Run,
        columns: (&AddedColumns<'_>, usize),
    ) -> std::result::Result<(), CopyError> {
        let Some((batch, records)) = merge.run(run) else { return Ok(()) };
        if !self.target.is_open() {
            self.begin(&batch.part(run.part).packet, records.first().map(|first| first.cycles))?;
        }
        self.target.records(batch, records, &mut self.state, columns)
    }
}
