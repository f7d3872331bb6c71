//! Event classes that programs register: appended to the metadata before events of them.

use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::arena::Arena;
use crate::class_text::is_class;
use crate::files::Files;
use crate::layout::{CLASS_STEP, CLASS_TABLE_BYTES, MOST_CLASSES};

/// The file that describes all events.
pub const METADATA: &str = "metadata";
/// Before the ID, in the name of an event class that fills a gap.
const UNUSED: &str = "vestige:unused_";
const LARGEST_TEXT: u32 = 1 << 20;
const LARGEST_METADATA: u64 = 1 << 30;

/// How far the classes of an arena are in the metadata.
pub struct Classes {
    first_id: u32,
    written: AtomicU32,
    lock: Mutex<()>,
}

impl Classes {
    /// Nothing is written yet; the first class gets the ID.
    pub fn new(first_id: u32) -> Self {
        Self { first_id, written: AtomicU32::new(0), lock: Mutex::new(()) }
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
        let is_there = |place: &u32| self.whole(arena, *place).is_some_and(|it| text.contains(&it));
        let written = (0..count).rev().find(is_there).map_or(0, |place| place + 1);
        self.written.store(written, Ordering::Relaxed);
        let next = (written < count).then(|| self.whole(arena, written)).flatten();
        let next = next.unwrap_or_default();
        let torn = (1..next.len()).rev().find(|size| {
            next.as_bytes().get(..*size).is_some_and(|part| text.as_bytes().ends_with(part))
        });
        if let Some(torn) = torn {
            file.set_len((text.len() - torn) as u64)?;
        }
        Ok(())
    }

    fn whole(&self, arena: &Arena, place: u32) -> Option<String> {
        let body = class_text(arena, place)?;
        Some(format!("{}{body}}};\n", head(self.first_id + place)))
    }

    /// Appends new classes; `problem` is called for each that is damaged.
    pub fn write(
        &self,
        arena: &Arena,
        files: &Files,
        problem: &mut dyn FnMut(String),
    ) -> io::Result<()> {
        let count = arena.shared().class_count().load(Ordering::Acquire).min(MOST_CLASSES);
        if self.written.load(Ordering::Acquire) >= count {
            return Ok(());
        }
        let _lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let first = self.written.load(Ordering::Acquire);
        let mut text = Vec::new();
        for place in first..count {
            match self.whole(arena, place) {
                Some(whole) => text.extend(whole.bytes()),
                None => problem(refusal(arena, place)),
            }
        }
        if first < count {
            append(files, &text)?;
            self.written.store(count, Ordering::Release);
        }
        Ok(())
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

/// Why a class is left out. It is the same for all classes of a process, and reported once.
fn refusal(arena: &Arena, place: u32) -> String {
    let process = arena.class(place).process().load(Ordering::Relaxed);
    let user = arena.user().map_or_else(|_| String::from("?"), |user| user.to_string());
    format!(
        "process {process} of user {user} describes events as no tracer does: \
         these event classes are left out"
    )
}

fn head(id: u32) -> String {
    format!("\nevent {{\n\tid = {id};\n")
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
            gaps.extend((next..id).map(unused));
        }
        next = next.max(id + 1);
    }
    if gaps.is_empty() {
        return Ok(());
    }
    append(files, gaps.as_bytes())
}

fn unused(id: u32) -> String {
    format!(
        "{}\tname = \"{UNUSED}{id}\";\n\tstream_id = 0;\n\tfields := struct {{ }};\n}};\n",
        head(id)
    )
}

/// The IDs of all classes in a text, in their order.
fn class_ids(text: &str) -> Vec<u32> {
    let starts = text.split("\nevent {\n\tid = ").skip(1);
    let mut ids: Vec<u32> = starts.filter_map(|one| one.split(';').next()?.parse().ok()).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// The text of a class, if it lies where it may and is one.
fn class_text(arena: &Arena, place: u32) -> Option<String> {
    let class = arena.class(place);
    let at = class.text_at().load(Ordering::Relaxed);
    let size = class.text_size().load(Ordering::Relaxed);
    let end = at.checked_add(size)?;
    let ready = arena.shared().class_text_ready().load(Ordering::Relaxed);
    if size == 0 || size > LARGEST_TEXT || end > ready {
        return None;
    }
    let mut bytes = vec![0; size as usize];
    let texts = arena.geometry().classes_at + CLASS_TABLE_BYTES;
    arena.memory().read(texts + u64::from(at), &mut bytes);
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
