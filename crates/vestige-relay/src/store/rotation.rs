//! Streams that go on in another trace chunk, from a packet on.
//!
//! The command says which packet of the tracer's count is the first one there. Packets that are
//! written before it is known whether they are before or after it may have to be moved.

use std::io;
use std::sync::Arc;

use crate::store::directory::Directory;
use crate::store::stream::{Place, Rotation, State, Stream};

impl Stream {
    /// Goes on elsewhere from a packet on: now, or once those before it are complete. Metadata
    /// does at once.
    ///
    /// # Errors
    ///
    /// A rotation is going on, or files cannot be made.
    pub fn rotate(&self, at: u64, next: Option<Arc<Directory>>) -> io::Result<()> {
        let mut state = self.state();
        if state.rotation.is_some() {
            let text = "a stream goes on elsewhere before it has done so";
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        state.rotation = Some(Rotation { at, next });
        self.try_rotation(&mut state)
    }

    pub(super) fn try_rotation(&self, state: &mut State) -> io::Result<()> {
        let Some(rotation) = &state.rotation else { return Ok(()) };
        let next_number = state.last_number.map_or(0, |number| number.saturating_add(1));
        if !self.layout.is_metadata && next_number < rotation.at {
            return Ok(());
        }
        let Some(Rotation { next, .. }) = state.rotation.take() else { return Ok(()) };
        state.progress.rotations += 1;
        match next {
            Some(next) => self.go_on(state, &next),
            None if state.places.is_empty() && state.partial == 0 => {
                state.directory = None;
                Ok(())
            }
            None => {
                let text = "packets came for a stream without a trace chunk";
                Err(io::Error::new(io::ErrorKind::InvalidData, text))
            }
        }
    }

    /// Goes on in another directory, with all packets that are not complete.
    fn go_on(&self, state: &mut State, next: &Arc<Directory>) -> io::Result<()> {
        let (old, old_end, partial) = (state.written.clone(), state.end, state.partial);
        let new = self.make_file(state, next, 0)?;
        if self.layout.is_metadata {
            state.progress.metadata_bytes = 0;
            // What was kept for it is for others.
            return old.map_or(Ok(()), |old| old.set_end(old_end));
        }
        let misplaced = std::mem::take(&mut state.places);
        for (sequence, place) in &misplaced {
            if place.is_lost {
                state.places.insert(*sequence, place.clone());
                continue;
            }
            place.written.copy_to(place.offset, &new, state.end, place.bytes)?;
            let written = Arc::clone(&new);
            let moved = Place { written, offset: state.end, ..place.clone() };
            state.places.insert(*sequence, moved);
            state.end += place.bytes;
        }
        if misplaced.values().any(|place| !place.is_lost) {
            if let Some(version) = self.layout.index {
                new.begin_index(&self.pool, version)?;
            }
        }
        if let Some(old) = old.filter(|_| partial > 0 && !state.is_lost) {
            old.copy_to(old_end, &new, state.end, partial)?;
            old.set_end(old_end)?;
        }
        // From the last one to the first, which says where its file ends.
        for place in misplaced.values().rev().filter(|place| !place.is_lost) {
            // Indexes may come in another order than packets.
            place.written.set_end(place.offset.max(place.written.indexed_end()))?;
        }
        Ok(())
    }
}
