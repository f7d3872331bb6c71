//! Traces of Perfetto: a stream of packets, see `protos/perfetto/trace/trace_packet.proto`.
//!
//! The calls of each thread are a sequence of packets of their own. Times in a sequence are
//! told as what has passed since the packet before, and names by numbers, so that a call
//! takes some 22 bytes with both of its ends. All other events are one more sequence, the
//! first one. Nothing is kept but what is known of threads, processes and names.
//!
//! What a call is called is known only after it was seen: so packets wait, until
//! [`Perfetto::write`] puts the names in front of them.

use super::arguments::{push_named, safe, text_argument, Argument};
use super::instants::{Instant, Instants};
use super::packets::Packets;
use super::protobuf::{message, push_bytes, push_number};
use super::small::{varint, Small};
use super::spans::{SpanMark, Spans};
use super::track::{Track, Tracks};
use crate::calls::tree::{End, MERGED};
use crate::calls::{CallFold, CallStep, Step, ThreadKey};
use crate::muxer::Merge;

// Fields of TracePacket.
const PACKET: u32 = 1;
const CLOCK_SNAPSHOT: u32 = 6;
const TIMESTAMP: u32 = 8;
const SEQUENCE: u32 = 10;
const TRACK_EVENT: u32 = 11;
const INTERNED_DATA: u32 = 12;
const SEQUENCE_FLAGS: u32 = 13;
const CLOCK: u32 = 58;
const DEFAULTS: u32 = 59;
// Fields of TrackEvent.
const ARGUMENTS: u32 = 4;
const TYPE: u32 = 9;
const NAME_ID: u32 = 10;
const TRACK: u32 = 11;
const NAME: u32 = 23;
// Types of TrackEvent.
const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;
/// The clock that counts nanoseconds since the epoch.
const REAL_TIME: u64 = 1;
/// The clock of the trace: here it is the same.
const BOOT_TIME: u64 = 6;
/// A clock of a sequence: its times are what has passed since the packet before.
const INCREMENTAL: u64 = 64;
/// The sequence of events.
const EVENTS: u32 = 1;
/// What is told of spans that are open in the end.
const NO_END: &str = "no end: the least that it took";
/// What passed can be told in the short form.
const SHORT_TIME: u64 = 1 << 28;

/// A loss of the tracer.
#[derive(Debug, Clone, Copy)]
pub struct Loss<'a> {
    /// What was lost, for people.
    pub what: &'a str,
    /// How many, if that is known.
    pub count: Option<u64>,
    /// The earliest time of it, nanoseconds from the origin.
    pub begin: Option<i64>,
    /// The latest time of it, nanoseconds from the origin.
    pub end: Option<i64>,
}

/// A track that is new: what tells it apart, and the CPU of its first event.
#[derive(Debug, Clone, Copy)]
pub struct NewTrack {
    /// Its index.
    pub index: u32,
    /// Data stream, process space, process ID and thread ID.
    pub key: ThreadKey,
    /// The CPU of its first event, where its stream tells one.
    pub cpu: Option<u64>,
}

/// Writes a trace of Perfetto, part by part.
#[derive(Default)]
pub struct Perfetto {
    /// What comes before the packets that wait.
    head: Vec<u8>,
    /// Packets that wait for names.
    body: Packets,
    tracks: Tracks,
    /// The track of each thread of the fold.
    of_thread: Vec<u32>,
    instants: Instants,
    spans: Spans,
    /// The time of the last event, nanoseconds.
    last_event: Option<i64>,
    /// The names of functions, by index.
    functions: Vec<String>,
    /// Functions that are called in a track for the first time.
    fresh: Vec<(u32, u32)>,
    losses: Option<u64>,
    last_time: i64,
}

impl Perfetto {
    /// Adds the events of a merge that are no calls.
    pub fn add_events(&mut self, merge: &Merge, fold: &mut CallFold) {
        for task in self.instants.read(merge, fold) {
            let mut start = 0;
            let mut marks = task.spans.iter().peekable();
            for (index, row) in task.rows.iter().enumerate() {
                let event = task.bytes.get(start..row.end).unwrap_or_default();
                start = row.end;
                let mark = marks.next_if(|mark| mark.row == index);
                let arguments = mark.and_then(|mark| task.bytes.get(mark.arguments.clone()));
                if let Some((mark, arguments)) = mark.zip(arguments) {
                    self.add_span(row, mark, arguments);
                }
                self.add_event(row, event);
            }
        }
    }

    /// Adds the begin or the end of the slice of a span, which other spans may overlap.
    fn add_span(&mut self, row: &Instant, mark: &SpanMark, arguments: &[u8]) {
        let (_, space, vpid, _) = row.key;
        let Self { spans, tracks, .. } = self;
        let process = (space, vpid);
        let uuid = match &mark.name {
            Some(name) => Some(spans.begin(process, mark.number, name, || tracks.next_uuid())),
            None => spans.end(process, mark.number),
        };
        let Some(uuid) = uuid else { return };
        let event = message(|out| {
            push_number(out, TYPE, if mark.name.is_some() { BEGIN } else { END });
            if let Some(name) = &mark.name {
                push_number(out, NAME_ID, name.number);
            }
            out.extend_from_slice(arguments);
        });
        self.push_event(row.time, uuid, &event);
    }

    fn add_event(&mut self, row: &Instant, event: &[u8]) {
        let index = self.tracks.index(row.key);
        let Some(track) = self.tracks.get_mut(index) else { return };
        track.cpu = track.cpu.or(row.cpu);
        let uuid = track.uuid;
        self.push_event(row.time, uuid, event);
    }

    /// Ends the slices of spans that have no end: nothing is added behind.
    pub fn end_spans(&mut self) {
        let event = message(|out| {
            push_number(out, TYPE, END);
            push_named(out, ARGUMENTS, b"incomplete", &text_argument(NO_END));
        });
        for uuid in self.spans.end_all() {
            self.push_event(self.last_time, uuid, &event);
        }
    }

    /// Appends an event of a track to the sequence of events.
    fn push_event(&mut self, time: i64, uuid: u64, event: &[u8]) {
        let time = time.max(0);
        let last = self.begin_events(time);
        let time = time.max(last);
        self.last_event = Some(time);
        self.last_time = self.last_time.max(time);
        let packet = message(|packet| {
            push_number(packet, TIMESTAMP, time.abs_diff(last));
            push_number(packet, SEQUENCE, EVENTS.into());
            let event = message(|out| {
                push_number(out, TRACK, uuid);
                out.extend_from_slice(event);
            });
            push_bytes(packet, TRACK_EVENT, &event);
        });
        self.body.extend(&message(|out| push_bytes(out, PACKET, &packet)));
    }

    /// The time of the last packet of the sequence of events, which begins with the first.
    fn begin_events(&mut self, time: i64) -> i64 {
        *self.last_event.get_or_insert_with(|| {
            push_beginning(&mut self.head, EVENTS, None, time);
            time
        })
    }

    /// Adds the calls that a fold has noted since the last time.
    pub fn add_calls(&mut self, fold: &mut CallFold) {
        for key in fold.thread_keys().get(self.of_thread.len()..).unwrap_or_default() {
            self.of_thread.push(self.tracks.index(*key));
        }
        let steps = fold.take_steps();
        self.body.reserve(steps.len());
        for of_thread in steps.chunk_by(|one, next| one.thread == next.thread) {
            self.add_steps(of_thread);
        }
        fold.give_steps(steps);
    }

    /// Adds steps of one thread.
    fn add_steps(&mut self, steps: &[CallStep]) {
        let Some(first) = steps.first() else { return };
        let Some(&index) = self.of_thread.get(first.thread as usize) else { return };
        let Self { head, body, fresh, .. } = self;
        let Some(track) = self.tracks.get_mut(index) else { return };
        let mut last = track.last.unwrap_or_else(|| {
            let time = first.time.max(0);
            push_beginning(head, track.sequence, Some(track.uuid), time);
            time
        });
        for one in steps {
            // A call of which the end is not known ends with what it called, not before.
            let time = one.time.max(last);
            let passed = time.abs_diff(last);
            last = time;
            let name = name_id(one.function);
            let event = match one.step {
                Step::Begin => track.begin(name),
                Step::End(End::Complete) => Some(track.end()),
                Step::End(_) | Step::Unseen => None,
            };
            if let Some(event) = event.filter(|_| passed < SHORT_TIME) {
                push_short(body, passed as u32, event);
                continue;
            }
            if !matches!(one.step, Step::End(_)) && track.is_new(name as usize) {
                fresh.push((index, one.function));
            }
            let is_begin = one.step == Step::Begin && passed < SHORT_TIME;
            match is_begin.then(|| track.make_begin(name)).flatten() {
                Some(event) => push_short(body, passed as u32, event),
                None => body.extend(&step_packet(track, one.step, name, passed)),
            }
        }
        track.last = Some(last);
        self.last_time = self.last_time.max(last);
    }

    /// Adds a loss. It has a track of its own, since it may be of any thread.
    pub fn add_loss(&mut self, loss: &Loss<'_>) {
        let time = loss.begin.or(loss.end).unwrap_or(self.last_time).max(0);
        self.begin_events(time);
        let Self { tracks, head, .. } = self;
        let uuid = *self.losses.get_or_insert_with(|| tracks.add_plain(head, "losses"));
        let event = message(|out| {
            push_number(out, TYPE, INSTANT);
            push_number(out, TRACK, uuid);
            push_bytes(out, NAME, &safe(loss.what.as_bytes()));
            let number = |value| Argument {
                bits: value,
                encoded: message(|out| push_number(out, 3, value)),
            };
            if let Some(count) = loss.count {
                push_named(out, ARGUMENTS, b"count", &number(count));
            }
            if let (Some(begin), Some(end)) = (loss.begin, loss.end) {
                push_named(out, ARGUMENTS, b"within_ns", &number(end.abs_diff(begin)));
            }
        });
        let packet = message(|packet| {
            push_number(packet, TIMESTAMP, time as u64);
            push_number(packet, CLOCK, BOOT_TIME);
            push_number(packet, SEQUENCE, EVENTS.into());
            push_bytes(packet, TRACK_EVENT, &event);
        });
        self.body.extend(&message(|out| push_bytes(out, PACKET, &packet)));
    }

    /// The tracks that are new since the last call. Each must be described before [`Self::write`].
    pub fn take_tracks(&mut self) -> Vec<NewTrack> {
        let new =
            |(index, track): (u32, &Track)| NewTrack { index, key: track.key, cpu: track.cpu };
        self.tracks.take_new().into_iter().map(new).collect()
    }

    /// Tells what a process is called; again, if that is known later.
    pub fn describe_process(&mut self, process: (u32, i32), name: &str) {
        let name = String::from_utf8_lossy(&safe(name.as_bytes())).into_owned();
        self.tracks.describe_process(&mut self.head, process, &name);
    }

    /// Tells what a track is called. Its process must have been described before.
    pub fn describe_track(&mut self, index: u32, name: &str) {
        let name = String::from_utf8_lossy(&safe(name.as_bytes())).into_owned();
        self.tracks.describe(&mut self.head, index, &name);
    }

    /// Tells the names of the next functions, in the order of their indexes.
    pub fn name_functions(&mut self, names: Vec<String>) {
        self.functions.extend(names);
    }

    /// How many bytes wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.body.len()
    }

    /// Hands over the next part of the file, in two pieces. All functions that were called
    /// must have names.
    ///
    /// # Errors
    ///
    /// Those of `write`.
    pub fn write<E>(&mut self, mut write: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        for lane in self.spans.take_new() {
            self.tracks.describe_lane(&mut self.head, &lane);
        }
        let names = message(|out| self.instants.push_names(out));
        if !names.is_empty() {
            push_interned(&mut self.head, EVENTS, &names);
        }
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.sort_unstable();
        for of_track in fresh.chunk_by(|one, next| one.0 == next.0) {
            let names = message(|out| {
                for (_, function) in of_track {
                    push_function(out, *function, &self.functions);
                }
            });
            let index = of_track.first().map_or(0, |one| one.0);
            if let Some(track) = self.tracks.get_mut(index) {
                push_interned(&mut self.head, track.sequence, &names);
            }
        }
        let written = write(&self.head).and_then(|()| write(self.body.bytes()));
        self.head.clear();
        self.body.clear();
        written
    }
}

/// The number of the name of a function; 0 is none.
#[inline]
fn name_id(function: u32) -> u32 {
    if function >= MERGED {
        1
    } else {
        function + 2
    }
}

fn push_function(out: &mut Vec<u8>, function: u32, names: &[String]) {
    let name = names.get(function as usize).map_or("(other paths)", String::as_str);
    let entry = message(|entry| {
        push_number(entry, 1, name_id(function).into());
        push_bytes(entry, 2, &safe(name.as_bytes()));
    });
    push_bytes(out, 2, &entry);
}

fn push_interned(out: &mut Vec<u8>, sequence: u32, names: &[u8]) {
    let packet = message(|packet| {
        push_number(packet, SEQUENCE, sequence.into());
        push_bytes(packet, INTERNED_DATA, names);
    });
    push_bytes(out, PACKET, &packet);
}

/// Begins a sequence: what its clock is, and the track of its events if they are all of one.
fn push_beginning(out: &mut Vec<u8>, sequence: u32, track: Option<u64>, time: i64) {
    let time = time as u64;
    let clock = |snapshot: &mut Vec<u8>, id: u64| {
        let clock = message(|clock| {
            push_number(clock, 1, id);
            push_number(clock, 2, time);
            if id == INCREMENTAL {
                push_number(clock, 3, 1);
            }
        });
        push_bytes(snapshot, 1, &clock);
    };
    let packet = message(|packet| {
        push_number(packet, TIMESTAMP, time);
        push_number(packet, CLOCK, BOOT_TIME);
        push_number(packet, SEQUENCE, sequence.into());
        push_number(packet, SEQUENCE_FLAGS, 1);
        let snapshot = message(|snapshot| {
            clock(snapshot, INCREMENTAL);
            clock(snapshot, BOOT_TIME);
            clock(snapshot, REAL_TIME);
        });
        push_bytes(packet, CLOCK_SNAPSHOT, &snapshot);
        let defaults = message(|defaults| {
            push_number(defaults, CLOCK, INCREMENTAL);
            if let Some(uuid) = track {
                push_bytes(defaults, TRACK_EVENT, &message(|out| push_number(out, TRACK, uuid)));
            }
        });
        push_bytes(packet, DEFAULTS, &defaults);
    });
    push_bytes(out, PACKET, &packet);
}

/// Appends a step of a call of which all but the time is known.
#[inline(always)]
fn push_short(out: &mut Packets, passed: u32, step: Small) {
    let (time, length) = varint(passed);
    let content = u64::from(1 + length + step.length());
    let first = 0x0040_000a | content << 8 | time << 24;
    out.push((first, 3 + length), step);
}

/// A step of a call in the form that has room for everything.
fn step_packet(track: &Track, step: Step, name: u32, passed: u64) -> Vec<u8> {
    let (kind, incomplete) = match step {
        Step::Begin => (BEGIN, None),
        Step::End(End::Complete) => (END, None),
        Step::End(End::AcrossLoss) => (END, Some("records were lost within")),
        Step::End(End::NoExit) => (END, Some("no exit: the least that it took")),
        Step::End(End::Clipped | End::Before) => (END, Some("cut by the range of time")),
        Step::Unseen => (INSTANT, Some("exit without entry")),
    };
    let event = message(|event| {
        push_number(event, TYPE, kind);
        if kind != END {
            push_number(event, NAME_ID, name.into());
        }
        if let Some(incomplete) = incomplete {
            push_named(event, ARGUMENTS, b"incomplete", &text_argument(incomplete));
        }
    });
    let packet = message(|packet| {
        push_number(packet, TIMESTAMP, passed);
        push_number(packet, SEQUENCE, track.sequence.into());
        push_bytes(packet, TRACK_EVENT, &event);
    });
    message(|out| push_bytes(out, PACKET, &packet))
}
