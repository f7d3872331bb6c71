//! State dumps that the collector writes itself: what processes have loaded when a chunk of the
//! trace begins, so that it resolves its addresses alone.
//!
//! They are a data stream of their own, with a packet for each process. All of it has one time,
//! that of the beginning of the chunk. A record that was made before that may be written after
//! it: then the dump is written once more, with the time of that record.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::agreement::{
    EVENT_DUMP_BIN_INFO, EVENT_DUMP_BUILD_ID, EVENT_DUMP_DEBUG_LINK, EVENT_DUMP_END,
    EVENT_DUMP_PROCNAME, EVENT_DUMP_START, HEADER_EXTENDED,
};
use crate::file_error::at_path;
use crate::files::Files;
use crate::indexes::Indexes;
use crate::loaded::{Loaded, LoadedObject};
use crate::packet::Head;
use crate::streams::Streams;
use crate::sys;
use crate::trace::Trace;

const FILE: &str = "vestige-state";
/// Of a chunk: one more with each start of the session.
const MOST_FILES: u32 = 1 << 16;

/// A process whose state is told.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Its number as we see it.
    pub process: u32,
    /// And as it sees it.
    pub vpid: u32,
    /// Of which namespace that is.
    pub pid_namespace: u64,
    pub procname: [u8; 16],
    /// The contexts of each record.
    pub contexts: Vec<u8>,
}

/// The packet of a process, without its time.
#[derive(PartialEq, Eq)]
struct Part {
    vpid: u32,
    procname: [u8; 16],
    contexts: Vec<u8>,
    records: Vec<(u32, Vec<u8>)>,
}

/// Where a dump is written.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    pub files: &'a Files,
    pub indexes: &'a Indexes,
    pub uuid: &'a [u8; 16],
}

/// A dump that can be written, also once more.
#[derive(Default)]
pub struct Dump {
    /// By PID namespace: readers tell processes apart by the numbers of their streams.
    parts: BTreeMap<u64, Vec<Part>>,
    /// Tells its streams from those of other chunks.
    number: u64,
}

impl Dump {
    /// What is known of processes; the rings of CPUs are of no namespace.
    pub fn new(processes: &[Told], loaded: &Loaded, has_cpu_rings: bool) -> Self {
        let mut parts: BTreeMap<u64, Vec<Part>> = BTreeMap::new();
        for one in processes {
            let Some(objects) = loaded.get(&one.process) else { continue };
            let (procname, contexts) = (one.procname, one.contexts.clone());
            let records = records(&procname, objects);
            let namespace = if has_cpu_rings { 0 } else { one.pid_namespace };
            let all = parts.entry(namespace).or_default();
            all.push(Part { vpid: one.vpid, procname, contexts, records });
        }
        // A microsecond or less.
        Self { parts, number: sys::counter() >> 8 }
    }

    /// Writes it to new files, one for each PID namespace, and tells their names and streams.
    ///
    /// # Errors
    ///
    /// They cannot be written.
    pub fn write(
        &self,
        target: Target<'_>,
        streams: &mut Streams,
        time: u64,
    ) -> io::Result<Vec<(String, u64)>> {
        let mut written = Vec::new();
        for (namespace, parts) in &self.parts {
            let stream = streams.apart(*namespace, self.number);
            let name = new_file(target.files)?;
            write_parts(target, parts, &name, stream, time)?;
            written.push((name, stream));
        }
        Ok(written)
    }

    /// Writes it with another time where it was written.
    fn write_again(
        &self,
        target: Target<'_>,
        written: &[(String, u64)],
        time: u64,
    ) -> io::Result<()> {
        let mut all = self.parts.values().zip(written);
        all.try_for_each(|(parts, (name, stream))| write_parts(target, parts, name, *stream, time))
    }
}

/// Makes a file, and tells its name.
fn new_file(files: &Files) -> io::Result<String> {
    for number in 0..MOST_FILES {
        let name = if number == 0 { FILE.to_owned() } else { format!("{FILE}.{number}") };
        match files.create(&name) {
            Ok(_) => return Ok(name),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(at_path(&error, &files.path_of(&name))),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Writes the packets of processes to a file that was made; without them, there is none.
fn write_parts(
    target: Target<'_>,
    parts: &[Part],
    name: &str,
    stream: u64,
    time: u64,
) -> io::Result<()> {
    let Target { files, indexes, uuid } = target;
    let (mut heads, mut bytes) = (Vec::new(), Vec::new());
    for part in parts {
        heads.push(put_packet(part, (stream, heads.len() as u64), time, uuid, &mut bytes));
    }
    indexes.remove(files, name);
    let done = files.get(name).and_then(|file| files.write_at(&file, &bytes, None, &[], 0));
    match done {
        Ok(()) => indexes.add(files, name, 0, &heads),
        Err(_) => drop(files.remove(name)),
    }
    done.map_err(|error| at_path(&error, &files.path_of(name)))
}

/// Appends the packet of a process, all of which has one time.
fn put_packet(
    part: &Part,
    (stream, number): (u64, u64),
    time: u64,
    uuid: &[u8; 16],
    bytes: &mut Vec<u8>,
) -> Head {
    let mut body = Vec::new();
    for (class, fields) in &part.records {
        body.push(HEADER_EXTENDED as u8);
        body.extend(class.to_ne_bytes());
        body.extend(time.to_ne_bytes());
        body.extend(&part.contexts);
        body.extend(fields);
    }
    let head = Head {
        instance_id: stream,
        begin: time,
        end: time,
        record_bytes: u32::try_from(body.len()).unwrap_or(u32::MAX),
        number,
        discarded: 0,
        vpid: part.vpid,
        vtid: part.vpid,
        procname: part.procname,
        cpu: None,
    };
    head.put(uuid, bytes);
    body.resize(body.len() + head.padding() as usize, 0);
    bytes.append(&mut body);
    head
}

/// A state dump of objects, as programs write it.
fn records(procname: &[u8], objects: &[LoadedObject]) -> Vec<(u32, Vec<u8>)> {
    let procname = [procname, &[0]].concat();
    let mut records = vec![(EVENT_DUMP_START, Vec::new()), (EVENT_DUMP_PROCNAME, procname)];
    for one in objects {
        let base = one.base.to_ne_bytes();
        let (id, link) = (&one.facts.build_id, &one.facts.debug_link);
        let mut fields = [base, one.size.to_ne_bytes()].concat();
        fields.extend(&one.path);
        let flags = [one.facts.is_pic, !id.is_empty(), link.is_some()];
        fields.push(0);
        fields.extend(flags.map(u8::from));
        records.push((EVENT_DUMP_BIN_INFO, fields));
        if !id.is_empty() {
            let size = (id.len() as u64).to_ne_bytes();
            records.push((EVENT_DUMP_BUILD_ID, [&base, &size, id.as_slice()].concat()));
        }
        if let Some((name, crc)) = link {
            let crc = crc.to_ne_bytes();
            records.push((EVENT_DUMP_DEBUG_LINK, [&base[..], &crc, name, &[0]].concat()));
        }
    }
    records.push((EVENT_DUMP_END, Vec::new()));
    records
}

/// The dumps of the present chunk.
#[derive(Default)]
pub struct LoadedState {
    /// The beginning of the chunk, or of the first record in it; 0 if nobody has noted it.
    begin: AtomicU64,
    is_monotonic: AtomicBool,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    dump: Dump,
    /// The files where it was written, and their streams.
    written: Vec<(String, u64)>,
}

impl LoadedState {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time now, as records have it.
    pub fn now(&self) -> u64 {
        if self.is_monotonic.load(Ordering::Relaxed) {
            sys::monotonic()
        } else {
            sys::counter()
        }
    }

    /// Takes `CLOCK_MONOTONIC` for the clock of the trace, or the counter.
    pub fn set_monotonic(&self, is_monotonic: bool) {
        self.is_monotonic.store(is_monotonic, Ordering::Relaxed);
    }

    /// Notes that what comes after a time needs a dump.
    pub fn begin_at(&self, time: u64) {
        let mut inner = self.inner();
        inner.written.clear();
        self.begin.store(time, Ordering::SeqCst);
    }

    /// Notes that a chunk has begun, and which dump of it was written where.
    pub fn begin_with(&self, time: u64, dump: Dump, written: Vec<(String, u64)>) {
        let mut inner = self.inner();
        *inner = Inner { dump, written };
        self.begin.store(time, Ordering::SeqCst);
    }

    /// Whether a packet that begins at a time may have a record from before the dump.
    pub fn may_come_before(&self, time: u64) -> bool {
        time <= self.begin.load(Ordering::Relaxed)
    }

    /// Writes a dump of the present chunk, or keeps it for snapshots.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn write(&self, dump: Dump, trace: &Trace) -> io::Result<()> {
        let mut inner = self.inner();
        if !inner.written.is_empty() && inner.dump.parts == dump.parts {
            return Ok(());
        }
        inner.dump = dump;
        if !trace.is_kept {
            // That of the cut may be of less.
            for (name, _) in std::mem::take(&mut inner.written) {
                trace.indexes.remove(&trace.files, &name);
                let _ = trace.files.remove(&name);
            }
            let time = self.begin.load(Ordering::SeqCst);
            inner.written = inner.dump.write(trace.target(), &mut trace.streams(), time)?;
        }
        Ok(())
    }

    /// Writes what is kept to a snapshot.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn write_kept(
        &self,
        target: Target<'_>,
        streams: &mut Streams,
        time: u64,
    ) -> io::Result<()> {
        self.inner().dump.write(target, streams, time).map(drop)
    }

    /// Notes that a record is written which has a time: the dump is before it.
    ///
    /// # Errors
    ///
    /// The dump cannot be written once more, and is gone.
    pub fn come_before(&self, time: u64, trace: &Trace) -> io::Result<()> {
        let inner = self.inner();
        let time = time.saturating_sub(1);
        if time >= self.begin.fetch_min(time, Ordering::SeqCst) {
            return Ok(());
        }
        inner.dump.write_again(trace.target(), &inner.written, time)
    }
}
