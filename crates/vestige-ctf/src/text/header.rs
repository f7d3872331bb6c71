//! What stands before the fields: time, delta, facts about the trace, event name.

use super::digits::push_decimal_padded;
use super::escape::push_plain;
use super::options::{Names, Options};
use super::snippet::Snippet;
use super::time::{push_nanoseconds, TimeFormatter};
use crate::model::{EnvironmentValue, EventClass, TraceClass};

/// Words for the log levels 0 to 14.
const LOG_LEVELS: [&str; 15] = [
    "TRACE_EMERG",
    "TRACE_ALERT",
    "TRACE_CRIT",
    "TRACE_ERR",
    "TRACE_WARNING",
    "TRACE_NOTICE",
    "TRACE_INFO",
    "TRACE_DEBUG_SYSTEM",
    "TRACE_DEBUG_PROGRAM",
    "TRACE_DEBUG_PROCESS",
    "TRACE_DEBUG_MODULE",
    "TRACE_DEBUG_UNIT",
    "TRACE_DEBUG_FUNCTION",
    "TRACE_DEBUG_LINE",
    "TRACE_DEBUG",
];

const NANOSECONDS: u64 = 1_000_000_000;

/// The time of the record before, in both forms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Last {
    /// Nanoseconds from the origin.
    pub nanoseconds: Option<i64>,
    /// Clock cycles.
    pub cycles: Option<u64>,
}

/// The constant pieces of the header of one event record class.
#[derive(Debug, Clone)]
pub struct HeaderPlan {
    before_time: Snippet,
    after_time: Snippet,
    after_delta: Snippet,
    /// Facts and name.
    tail: Snippet,
    timed: bool,
}

/// `name = `, in the colour of names.
pub fn push_name(out: &mut Vec<u8>, options: &Options, name: &str) {
    for piece in [options.palette.name, name, options.palette.reset, " = "] {
        out.extend_from_slice(piece.as_bytes());
    }
}

impl HeaderPlan {
    /// The header of a class of a trace; `timed` tells whether its stream has a clock.
    #[must_use]
    pub fn new(
        options: &Options,
        trace: &TraceClass,
        trace_name: &str,
        event: &EventClass,
        timed: bool,
    ) -> Self {
        let named = options.names.header;
        // Without names, what follows a time needs no comma.
        let mut text = Vec::new();
        let mut tail = Tail { out: &mut text, options, comma: timed && named };
        tail.facts(trace, trace_name, event);
        tail.event_name(event);
        let [before_time, after_time, after_delta] = time_pieces(options, named);
        Self { before_time, after_time, after_delta, tail: Snippet::new(&text), timed }
    }

    /// Appends the header of a record.
    #[inline]
    pub fn push(
        &self,
        out: &mut Vec<u8>,
        options: &Options,
        clock: &mut TimeFormatter,
        (cycles, nanoseconds): (u64, i64),
        last: &mut Last,
    ) {
        if self.timed {
            self.before_time.push(out);
            if options.clock.cycles {
                push_decimal_padded(out, cycles, 20);
            } else {
                clock.push(out, nanoseconds);
            }
            self.after_time.push(out);
            if options.clock.delta {
                push_delta(out, options, (cycles, nanoseconds), last);
                self.after_delta.push(out);
            }
            *last = Last { nanoseconds: Some(nanoseconds), cycles: Some(cycles) };
        }
        self.tail.push(out);
    }
}

/// What stands before and after a time, and after the delta.
fn time_pieces(options: &Options, named: bool) -> [Snippet; 3] {
    let [mut before_time, mut after_time, mut after_delta] = [Vec::new(), Vec::new(), Vec::new()];
    if named {
        push_name(&mut before_time, options, "timestamp");
    } else {
        before_time.push(b'[');
    }
    before_time.extend_from_slice(options.palette.time.as_bytes());
    after_time.extend_from_slice(options.palette.reset.as_bytes());
    if !named {
        after_time.extend_from_slice(b"] ");
    }
    if options.clock.delta {
        if named {
            after_time.extend_from_slice(b", ");
            push_name(&mut after_time, options, "delta");
        } else {
            after_time.push(b'(');
            after_delta.extend_from_slice(b") ");
        }
    }
    [before_time, after_time, after_delta].map(|piece| Snippet::new(&piece))
}

#[inline]
fn push_delta(
    out: &mut Vec<u8>,
    options: &Options,
    (cycles, nanoseconds): (u64, i64),
    last: &Last,
) {
    if options.clock.cycles {
        match last.cycles {
            None => out.extend_from_slice(b"+????????????"),
            Some(before) => {
                out.push(b'+');
                push_decimal_padded(out, cycles.wrapping_sub(before), 12);
            }
        }
        return;
    }
    match last.nanoseconds {
        None => out.extend_from_slice(b"+?.?????????"),
        Some(before) => {
            let delta = nanoseconds.wrapping_sub(before) as u64;
            out.push(b'+');
            push_decimal_padded(out, delta / NANOSECONDS, 1);
            push_nanoseconds(out, delta % NANOSECONDS);
        }
    }
}

/// Writes the constant end of a header.
struct Tail<'a> {
    out: &'a mut Vec<u8>,
    options: &'a Options,
    comma: bool,
}

impl Tail<'_> {
    fn facts(&mut self, trace: &TraceClass, trace_name: &str, event: &EventClass) {
        let fields = self.options.fields;
        let named = self.options.names.header;
        if fields.trace {
            self.entry("trace", trace_name, false);
            if named {
                self.out.extend_from_slice(b", ");
            }
        }
        let text = |name: &str| match find(trace, name) {
            Some(EnvironmentValue::String(text)) => Some(text.clone()),
            Some(EnvironmentValue::Integer(value)) => Some(value.to_string()),
            None => None,
        };
        let vpid = match find(trace, "vpid") {
            Some(EnvironmentValue::Integer(value)) => Some(format!("({value})")),
            _ => None,
        };
        let level = event.log_level.and_then(|level| {
            let word = LOG_LEVELS.get(usize::try_from(level).ok()?)?;
            Some(format!("{word} ({level})"))
        });
        let entries = [
            (fields.hostname, "trace:hostname", text("hostname")),
            (fields.domain, "trace:domain", text("domain")),
            (fields.procname, "trace:procname", text("procname")),
            (fields.vpid, "trace:vpid", vpid),
            (fields.log_level, "loglevel", level),
            (fields.emf, "model.emf.uri", event.emf_uri.clone()),
        ];
        let mut any = false;
        for (wanted, name, value) in entries {
            if let (true, Some(value)) = (wanted, value) {
                // The host name opens the list: no colon separates it from what is before.
                self.entry(name, &value, any && name != "trace:hostname");
                any = true;
            }
        }
        if any && !named {
            self.out.push(b' ');
        }
    }

    fn entry(&mut self, name: &str, value: &str, colon: bool) {
        if self.comma {
            self.out.extend_from_slice(b", ");
        }
        if self.options.names.header {
            push_name(self.out, self.options, name);
        } else if colon {
            self.out.push(b':');
        }
        push_plain(self.out, value, self.options.style);
    }

    fn event_name(&mut self, event: &EventClass) {
        let Names { header: named, .. } = self.options.names;
        let palette = &self.options.palette;
        if self.comma {
            self.out.extend_from_slice(b", ");
        }
        if named {
            push_name(self.out, self.options, "name");
        }
        let (color, name) = match &event.name {
            Some(name) => (palette.event_name, name.as_str()),
            None => (palette.unknown, "<unknown>"),
        };
        self.out.extend_from_slice(color.as_bytes());
        push_plain(self.out, name, self.options.style);
        for piece in [palette.reset, if named { ", " } else { ": " }] {
            self.out.extend_from_slice(piece.as_bytes());
        }
    }
}

fn find<'a>(trace: &'a TraceClass, name: &str) -> Option<&'a EnvironmentValue> {
    trace.environment.iter().find(|(key, _)| key == name).map(|(_, value)| value)
}
