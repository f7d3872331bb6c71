//! Arenas whose collector was killed: what is in them is written by the same means.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::Arc;

use crate::arena::Arena;
use crate::classes;
use crate::collector::Outcome;
use crate::drain::Reach;
use crate::file_error::at_path;
use crate::files::Write;
use crate::files::METADATA;
use crate::layout::{CPU_PACKET_BYTES, PACKET_BYTES};
use crate::pool::Pool;
use crate::recording::{Limits, Recording};
use crate::register::{Entry, Register};
use crate::trace::Trace;

/// Writes what is left in an arena to its trace, and removes it if nothing is left then.
///
/// What was lost by threads without a slot is nowhere but in the arena. It stays until the trace
/// tells as many of them, in `told`.
///
/// # Errors
///
/// The arena has a collector that lives, is none, or a file cannot be opened.
pub fn recover(
    directory: &Path,
    arena: &Path,
    told: u64,
    write: Box<Write>,
) -> io::Result<Outcome> {
    let register = Register::new(directory);
    let entry = register.find(arena).map_err(|error| at_path(&error, register.path()))?;
    let has_rebooted = entry.as_ref().is_some_and(Entry::is_of_earlier_boot);
    let arena = Arena::open(arena)?;
    if arena.is_handed_over() {
        // It takes a moment to begin; to recover would end the recording.
        let error = io::Error::from_raw_os_error(libc::EWOULDBLOCK);
        return Err(at_path(&error, arena.path()));
    }
    let first_class = entry.map_or_else(
        || arena.accounts().control().first_class().load(Ordering::Relaxed),
        |entry| entry.first_class,
    );
    let pool = Pool::of_old(&arena);
    let trace = Arc::new(Trace::open(directory, arena.uuid(), Limits::of(&arena), write)?);
    let recording = Recording::new(arena, pool, Arc::clone(&trace), first_class);
    recording.set_closed();
    recording.go_on(directory)?;
    if has_rebooted {
        recording.forget_all();
    }
    let found = recording.pass(0, Reach::Snapshot);
    let of_cpus = format!("{}_", trace.channel);
    remove_empty(&trace, &of_cpus).map_err(|error| at_path(&error, directory))?;
    let running = recording.live_slots();
    let is_drained = found.stalled == 0;
    let unplaced = recording.unplaced();
    recording.note_last_unreached();
    let mut outcome = Outcome::of(&trace, unplaced, is_drained, running);
    outcome.add_damage(&recording);
    if !is_drained {
        outcome.lost = outcome.lost.saturating_add(recording.pending_losses());
    }
    if is_drained && unplaced <= told {
        let path = recording.arena.path();
        let is_last = register.arenas().is_ok_and(|all| all.iter().all(|one| one.path == path));
        if is_last {
            classes::fill_gaps(&trace.files, first_class)
                .map_err(|error| at_path(&error, &directory.join(METADATA)))?;
        }
        recording.arena.remove()?;
        register.remove(path).map_err(|error| at_path(&error, register.path()))?;
    }
    Ok(outcome)
}

/// Removes data files that a collector made just before it was killed.
fn remove_empty(trace: &Trace, of_cpus: &str) -> io::Result<()> {
    for entry in fs::read_dir(trace.files.place().path)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_ours =
            name.starts_with(|first: char| first.is_ascii_digit()) || name.starts_with("ring-");
        let is_of_cpu = name.starts_with(of_cpus);
        let least = if is_of_cpu { CPU_PACKET_BYTES } else { PACKET_BYTES };
        let found = entry.metadata()?;
        if (is_ours || is_of_cpu) && found.is_file() && found.len() < u64::from(least) {
            trace.indexes.remove(&trace.files, &name);
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
