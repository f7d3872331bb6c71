//! Arenas whose collector was killed: what is in them is written by the same means.

use std::fs;
use std::io;
use std::path::Path;

use crate::arena::{at_path, Arena};
use crate::collector::Outcome;
use crate::drain::Reach;
use crate::files::Write;
use crate::layout::PACKET_BYTES;
use crate::pool::Pool;
use crate::recording::{Limits, Recording};
use crate::register::Register;

/// Writes what is left in an arena to its trace, and removes it if nothing is left then.
///
/// # Errors
///
/// The arena has a collector that lives, is none, or a file cannot be opened.
pub fn recover(directory: &Path, arena: &Path, write: Box<Write>) -> io::Result<Outcome> {
    let register = Register::new(directory);
    let has_rebooted =
        register.is_of_earlier_boot(arena).map_err(|error| at_path(&error, register.path()))?;
    let arena = Arena::open(arena)?;
    let pool = Pool::of_old(&arena);
    let limits = Limits { max_bytes: 0, is_overwriting: arena.is_overwriting() };
    let recording = Recording::new(arena, pool, directory, limits, write)?;
    recording.set_closed();
    recording.cut_torn_packets();
    recording
        .classes
        .resume(&recording.arena, &recording.files)
        .map_err(|error| at_path(&error, &directory.join(crate::classes::METADATA)))?;
    if has_rebooted {
        recording.forget_all();
    }
    let found = recording.pass(0, Reach::Snapshot);
    remove_empty(directory).map_err(|error| at_path(&error, directory))?;
    let running = recording.live_slots();
    let is_drained = found.stalled == 0;
    if is_drained {
        let path = recording.arena.path();
        recording.arena.remove()?;
        register.remove(path).map_err(|error| at_path(&error, register.path()))?;
    }
    Ok(Outcome::of(&recording, is_drained, running))
}

/// Removes data files that a collector made just before it was killed.
fn remove_empty(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_ours =
            name.starts_with(|first: char| first.is_ascii_digit()) || name.starts_with("ring-");
        let found = entry.metadata()?;
        if is_ours && found.is_file() && found.len() < u64::from(PACKET_BYTES) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
