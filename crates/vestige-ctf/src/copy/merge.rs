//! Copying merges: each data stream into a file of its own.

use std::collections::HashMap;
use std::sync::Arc;

use super::added::AddedColumns;
use super::error::CopyError;
use super::layout::CopyLayout;
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
    /// Which of them a data stream is, by the number that its parts have in common.
    indexes: HashMap<u64, usize>,
}

impl<W> Default for MergeCopy<W> {
    fn default() -> Self {
        Self { streams: Vec::new(), indexes: HashMap::new() }
    }
}

impl<W: WriteAt> MergeCopy<W> {
    /// Adds a data stream and its copy.
    pub fn add(&mut self, source: &DataStream, target: StreamCopy<W>) {
        self.indexes.insert(source.origin(), self.streams.len());
        let state = State::new(source.trace.slot_count);
        self.streams.push(Copied { target, state });
    }

    /// Whether a data stream was added.
    #[must_use]
    pub fn knows(&self, source: &DataStream) -> bool {
        self.indexes.contains_key(&source.origin())
    }

    /// Goes on with the layout of metadata that have more event record classes by now.
    ///
    /// # Errors
    ///
    /// When the headers of the copy would be others.
    pub fn learn(&mut self, source: &DataStream, layout: &Arc<CopyLayout>) -> Result<()> {
        let index = self.index_of(source);
        let Some((index, copied)) = index.and_then(|at| Some((at, self.streams.get_mut(at)?)))
        else {
            return Ok(());
        };
        copied.target.learn(Arc::clone(layout)).map_err(|error| (index, error))
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

    fn index_of(&self, stream: &DataStream) -> Option<usize> {
        self.indexes.get(&stream.origin()).copied()
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

    /// Begins a packet for records that are of none.
    fn begin_own(&mut self, packet: &Packet, beginning: u64) -> std::result::Result<(), CopyError> {
        self.target.end_packet(None)?;
        self.state.slots.clone_from(&packet.slots);
        self.target.begin_own_packet(packet, Some(beginning))
    }

    fn run(
        &mut self,
        merge: &Merge,
        run: &Run,
        columns: (&AddedColumns<'_>, usize),
    ) -> std::result::Result<(), CopyError> {
        let Some((batch, records)) = merge.run(run) else { return Ok(()) };
        let (columns, mut first) = columns;
        let mut left = records;
        while let Some(next) = left.first() {
            if !self.target.is_open() || self.target.is_full() {
                self.begin_own(&batch.part(run.part).packet, next.cycles)?;
            }
            let count = self.target.records(batch, left, &mut self.state, (columns, first))?;
            first += count;
            left = left.get(count..).unwrap_or_default();
        }
        Ok(())
    }
}
