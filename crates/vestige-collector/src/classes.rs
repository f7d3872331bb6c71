//! Event classes that programs register: appended to the metadata before events of them.

use std::collections::HashMap;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::arena::Arena;
use crate::class_text::is_class;
use crate::files::{Files, METADATA};
use crate::layout::{CLASS_STEP, CLASS_TABLE_BYTES, MOST_CLASSES};

/// How an event class begins, up to its ID.
const HEAD: &str = "\nevent {\n\tid = ";
/// Before the ID, in the name of an event class that fills a gap.
const UNUSED: &str = "vestige:unused_";
/// Whose event class it is: that of the rings of threads, or of CPUs.
const OF_THREADS: &str = "\tstream_id = 0;\n";
const OF_CPUS: &str = "\tstream_id = 1;\n";
const LARGEST_TEXT: u32 = 1 << 20;
const LARGEST_METADATA: u64 = 1 << 30;

/// How far the classes of an arena are in the metadata.
pub struct Classes {
    first_id: u32,
    written: AtomicU32,
    /// Bytes of the texts up to there, for whoever writes more.
    bytes: Mutex<u64>,
}

/// Where a text lies, after the table.
#[derive(Clone, Copy)]
struct Place {
    at: u32,
    size: u32,
}

impl Classes {
    /// Nothing is written yet; the first class gets the ID.
    pub fn new(first_id: u32) -> Self {
        Self { first_id, written: AtomicU32::new(0), bytes: Mutex::new(0) }
    }

    /// The ID of the first one.
    pub const fn first_id(&self) -> u32 {
        self.first_id
    }

    /// Nothing is written yet, in other metadata.
    pub fn begin_anew(&self) {
        *self.bytes() = 0;
        self.written.store(0, Ordering::Release);
    }

    /// Goes on where a collector was killed; a class that it was writing is cut off.
    pub fn resume(&self, arena: &Arena, files: &Files) -> io::Result<()> {
        let count = arena.shared().class_count().load(Ordering::Acquire).min(MOST_CLASSES);
        if count == 0 {
            return Ok(());
        }
        let file = files.get(METADATA)?;
        let mut text = vec![0; file.metadata()?.size().min(LARGEST_METADATA) as usize];
        file.read_exact_at(&mut text, 0)?;
        let Ok(text) = String::from_utf8(text) else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is no text"));
        };
        let mut bytes = 0;
        // As it was written: each text, and what all of them take with it.
        let classes: Vec<(u32, Option<Place>, u64)> =
            (0..count).map(|number| (number, place_of(arena, number, &mut bytes), bytes)).collect();
        let whole = |number, place: Option<Place>| self.whole(arena, number, place?);
        let starts = class_starts(&text);
        let last = classes.iter().rfind(|(number, place, _)| {
            let start = starts.get(&(self.first_id + number));
            let there = start.and_then(|at| text.get(*at..)).unwrap_or_default();
            // Most are not looked at: a program may say that it has thousands.
            start.is_some() && whole(*number, *place).is_some_and(|it| there.starts_with(&it))
        });
        let written = last.map_or(0, |(number, ..)| number + 1);
        *self.bytes() = last.map_or(0, |(.., bytes)| *bytes);
        self.written.store(written, Ordering::Relaxed);
        let next = classes.get(written as usize).and_then(|one| whole(one.0, one.1));
        let next = next.unwrap_or_default();
        let torn = (1..next.len()).rev().find(|size| {
            next.as_bytes().get(..*size).is_some_and(|part| text.as_bytes().ends_with(part))
        });
        if let Some(torn) = torn {
            file.set_len((text.len() - torn) as u64)?;
        }
        Ok(())
    }

    fn bytes(&self) -> MutexGuard<'_, u64> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn whole(&self, arena: &Arena, number: u32, place: Place) -> Option<String> {
        let body = class_text(arena, place)?;
        let id = self.first_id + number;
        let copy = if arena.has_cpu_rings() { of_cpus(id, &body) } else { String::new() };
        Some(format!("{}{body}}};\n{copy}", head(id)))
    }

    /// Appends new classes, and tells how many bytes; `problem` is called for each that is
    /// damaged.
    pub fn write(
        &self,
        arena: &Arena,
        files: &Files,
        problem: &mut dyn FnMut(String),
    ) -> io::Result<u64> {
        let count = arena.shared().class_count().load(Ordering::Acquire).min(MOST_CLASSES);
        if self.written.load(Ordering::Acquire) >= count {
            return Ok(0);
        }
        let mut written_bytes = self.bytes();
        // Counted once they are in the file: until then they are tried again.
        let mut bytes = *written_bytes;
        let first = self.written.load(Ordering::Acquire);
        let mut text = Vec::new();
        for number in first..count {
            let place = place_of(arena, number, &mut bytes);
            match place.and_then(|place| self.whole(arena, number, place)) {
                Some(whole) => text.extend(whole.bytes()),
                None => problem(refusal(arena, number)),
            }
        }
        if first < count {
            append(files, &text)?;
            *written_bytes = bytes;
            self.written.store(count, Ordering::Release);
        }
        Ok(text.len() as u64)
    }

    /// Gives the texts memory ahead of need.
    pub fn keep_room(&self, arena: &Arena) -> io::Result<()> {
        let shared = arena.shared();
        let ready = shared.class_text_ready().load(Ordering::Relaxed);
        let most = u32::try_from(arena.geometry().classes_bytes).unwrap_or(u32::MAX);
        let used = shared.class_text_used().load(Ordering::Relaxed);
        if ready >= most || used < ready - (CLASS_STEP / 2).min(ready) {
            return Ok(());
        }
        let next = ready.saturating_add(CLASS_STEP).min(most);
        let place = arena.geometry().classes_at + CLASS_TABLE_BYTES + u64::from(ready);
        arena.give_memory(place, u64::from(next - ready))?;
        shared.class_text_ready().store(next, Ordering::Release);
        Ok(())
    }
}

/// Where each class begins in a text, by its ID: the last one, if there are several.
fn class_starts(text: &str) -> HashMap<u32, usize> {
    let starts = text.match_indices(HEAD).filter_map(|(at, _)| {
        let rest = text.get(at + HEAD.len()..)?;
        // No number is longer.
        let end = rest.bytes().take(11).position(|byte| byte == b';')?;
        Some((rest.get(..end)?.parse().ok()?, at))
    });
    starts.collect()
}

/// Why a class is left out. It is the same for all classes of a process, and reported once.
fn refusal(arena: &Arena, number: u32) -> String {
    let process = arena.class(number).process().load(Ordering::Relaxed);
    let user = arena.user().map_or_else(|_| String::from("?"), |user| user.to_string());
    format!(
        "process {process} of user {user} describes events as no tracer does: \
         these event classes are left out"
    )
}

fn head(id: u32) -> String {
    format!("{HEAD}{id};\n")
}

/// The same class for the rings of CPUs, which are another stream class. It begins otherwise, so
/// that the ID finds the first one.
fn of_cpus(id: u32, body: &str) -> String {
    let body = body.replacen(OF_THREADS, OF_CPUS, 1);
    format!("\nevent {{\n\t/* On CPUs. */\n\tid = {id};\n{body}}};\n")
}

/// Describes IDs that no program has registered, where those of an arena begin far above the
/// ones of the arena before.
///
/// Each arena numbers its own classes, and has a block of IDs for as many as it may ever
/// register. Some readers take an ID for a place in a list of all classes, and stop where one
/// is missing. It is done once nothing is registered any more: until then the IDs may be used.
pub fn fill_gaps(files: &Files, first_id: u32) -> io::Result<()> {
    let file = files.get(METADATA)?;
    let mut text = vec![0; file.metadata()?.size().min(LARGEST_METADATA) as usize];
    file.read_exact_at(&mut text, 0)?;
    let text = String::from_utf8_lossy(&text);
    let mut gaps = String::new();
    // Each block begins a multiple of its length above the first one.
    let first_id = first_id % MOST_CLASSES;
    let mut next = first_id;
    for id in class_ids(&text).into_iter().filter(|id| *id >= first_id) {
        // What lacks inside of a block was damaged, and may be in use.
        if id > next && (id - first_id) % MOST_CLASSES == 0 {
            gaps.extend((next..id).map(|id| unused(id, text.contains(OF_CPUS))));
        }
        next = next.max(id + 1);
    }
    if gaps.is_empty() {
        return Ok(());
    }
    append(files, gaps.as_bytes())
}

fn unused(id: u32, has_cpus: bool) -> String {
    let body = format!("\tname = \"{UNUSED}{id}\";\n{OF_THREADS}\tfields := struct {{ }};\n");
    let copy = if has_cpus { of_cpus(id, &body) } else { String::new() };
    format!("{}{body}}};\n{copy}", head(id))
}

/// The IDs of all classes in a text, in their order.
fn class_ids(text: &str) -> Vec<u32> {
    let starts = text.split(HEAD).skip(1);
    let mut ids: Vec<u32> = starts.filter_map(|one| one.split(';').next()?.parse().ok()).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Where the text of a class lies, if it may lie there; `bytes` are those of the texts so far.
///
/// A tracer puts the texts one after another. A program could have all entries of the table
/// name the same one, and the copies would fill the collector's memory, and the disk.
fn place_of(arena: &Arena, number: u32, bytes: &mut u64) -> Option<Place> {
    let class = arena.class(number);
    let at = class.text_at().load(Ordering::Relaxed);
    let size = class.text_size().load(Ordering::Relaxed);
    let end = at.checked_add(size)?;
    let ready = arena.shared().class_text_ready().load(Ordering::Relaxed);
    if size == 0 || size > LARGEST_TEXT || end > ready {
        return None;
    }
    *bytes = bytes.saturating_add(u64::from(size));
    (*bytes <= arena.geometry().classes_bytes).then_some(Place { at, size })
}

/// The text of a class, if it is one.
fn class_text(arena: &Arena, place: Place) -> Option<String> {
    let mut bytes = vec![0; place.size as usize];
    let texts = arena.geometry().classes_at + CLASS_TABLE_BYTES;
    arena.memory().read(texts + u64::from(place.at), &mut bytes);
    String::from_utf8(bytes).ok().filter(|text| is_class(text))
}

/// Appends to the metadata, all of it or nothing; its head may be written anew meanwhile.
fn append(files: &Files, text: &[u8]) -> io::Result<()> {
    // Opened anew each time: classes are few, and another file may have its name by now.
    files.forget(METADATA);
    let file = files.get(METADATA)?;
    let end = file.metadata()?.size();
    files.write_at(&file, text, None, &[], end)
}
