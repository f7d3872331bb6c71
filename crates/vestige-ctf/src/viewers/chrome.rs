//! Calls as rows of JSON in the format of Chrome's trace viewer, "Trace Event Format" of the
//! Chromium project.
//!
//! Each call is a complete event on a line of its own. Times are microseconds with three digits
//! behind the point, from some time on: numbers of JavaScript would lose the last digits of
//! nanoseconds since the epoch. Texts come as JSON has them.

use std::io::Write as _;

use crate::calls::CallFold;
use crate::intervals::{Call, NO_ENTRY};

/// What is told of calls that are not complete, by what ended them.
const INCOMPLETE: [Option<&str>; 6] = [
    None,
    Some("records were lost within"),
    Some("no exit: the least that it took"),
    Some("exit without entry"),
    None,
    Some("cut by the range of time"),
];
/// About how long a row is.
const ROW: usize = 140;

/// What a function is called, as texts of JSON.
#[derive(Debug, Clone)]
pub struct FunctionTexts {
    /// Its name.
    pub name: String,
    /// Source file and line, where they are known.
    pub source: Option<String>,
}

/// Writes calls, as soon as all of them have names.
#[derive(Debug)]
pub struct ChromeCalls {
    waiting: Vec<Call>,
    functions: Vec<FunctionTexts>,
    /// In place of functions that have no number.
    others: FunctionTexts,
    /// Process ID and thread ID of each thread, if it has calls.
    threads: Vec<Option<(i64, i64)>>,
}

impl ChromeCalls {
    /// Writes calls; paths that share a node have a name, too.
    #[must_use]
    pub fn new(others: FunctionTexts) -> Self {
        Self { waiting: Vec::new(), functions: Vec::new(), others, threads: Vec::new() }
    }

    /// Takes the calls that have ended; returns the indexes of threads that had none before.
    pub fn add_calls(&mut self, fold: &mut CallFold) -> Vec<u32> {
        let calls = fold.take_calls();
        let mut new = Vec::new();
        for call in &calls {
            let at = call.block.row as usize;
            if at >= self.threads.len() {
                self.threads.resize(at + 1, None);
            }
            if let Some(thread) = self.threads.get_mut(at).filter(|thread| thread.is_none()) {
                *thread = Some((0, 0));
                new.push(call.block.row);
            }
        }
        if self.waiting.is_empty() {
            self.waiting = calls;
        } else {
            self.waiting.extend(calls);
        }
        new
    }

    /// Tells process ID and thread ID of a thread.
    pub fn name_thread(&mut self, index: u32, ids: (i64, i64)) {
        if let Some(thread) = self.threads.get_mut(index as usize) {
            *thread = Some(ids);
        }
    }

    /// Tells what the next functions are called, in the order of their indexes.
    pub fn name_functions(&mut self, texts: impl IntoIterator<Item = FunctionTexts>) {
        self.functions.extend(texts);
    }

    /// The rows of the calls that wait, with times from `origin` on.
    pub fn take_rows(&mut self, origin: i64) -> String {
        let calls = std::mem::take(&mut self.waiting);
        let mut out = Vec::with_capacity(calls.len() * ROW);
        for call in &calls {
            self.push_row(&mut out, call, origin);
        }
        // All of it is made of texts.
        String::from_utf8(out).unwrap_or_default()
    }

    fn push_row(&self, out: &mut Vec<u8>, call: &Call, origin: i64) {
        let function = self.functions.get(call.block.function as usize).unwrap_or(&self.others);
        let thread = self.threads.get(call.block.row as usize).copied().flatten();
        let (process, thread) = thread.unwrap_or_default();
        let is_unseen = call.state == NO_ENTRY;
        out.extend_from_slice(b"{\"name\":");
        out.extend_from_slice(function.name.as_bytes());
        let kind: &[u8] = if is_unseen { b"\"i\",\"s\":\"t\"" } else { b"\"X\"" };
        out.extend_from_slice(b",\"cat\":\"call\",\"ph\":");
        out.extend_from_slice(kind);
        out.extend_from_slice(b",\"ts\":");
        let time = call.block.start.saturating_sub(origin);
        if time < 0 {
            out.push(b'-');
        }
        push_microseconds(out, time.unsigned_abs());
        if !is_unseen {
            out.extend_from_slice(b",\"dur\":");
            push_microseconds(out, call.block.duration);
        }
        out.extend_from_slice(b",\"pid\":");
        push_signed(out, process);
        out.extend_from_slice(b",\"tid\":");
        push_signed(out, thread);
        out.extend_from_slice(b",\"args\":{");
        if !is_unseen {
            out.extend_from_slice(b"\"self_ns\":");
            push_digits(out, call.own);
            if let Some(source) = &function.source {
                out.extend_from_slice(b",\"source\":");
                out.extend_from_slice(source.as_bytes());
            }
        }
        if let Some(incomplete) = INCOMPLETE.get(usize::from(call.state)).copied().flatten() {
            let comma = if is_unseen { "" } else { "," };
            // A vector takes all that is written.
            let _ = write!(out, "{comma}\"incomplete\":\"{incomplete}\"");
        }
        out.extend_from_slice(b"}},\n");
    }
}

fn push_microseconds(out: &mut Vec<u8>, nanoseconds: u64) {
    push_digits(out, nanoseconds / 1000);
    let rest = (nanoseconds % 1000) as u16;
    let digit = |value: u16| b'0' + (value % 10) as u8;
    out.extend_from_slice(&[b'.', digit(rest / 100), digit(rest / 10), digit(rest)]);
}

fn push_signed(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    push_digits(out, value.unsigned_abs());
}

fn push_digits(out: &mut Vec<u8>, mut value: u64) {
    // As many digits as 64 bits have at most.
    let mut digits = [b'0'; 20];
    let mut count = 0;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
        count += 1;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(digits.len() - count..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intervals::Block;

    fn call(start: i64, duration: u64, state: u8, function: u32) -> Call {
        let (row, depth, flags) = (1, 0, 0);
        let block = Block { row, depth, flags, function, start, duration, count: 1, busy: 0 };
        Call { block, own: 7, caller: 0, state }
    }

    #[test]
    fn rows_are_as_the_format_has_them() {
        let texts = |name: &str| FunctionTexts { name: name.into(), source: None };
        let mut rows = ChromeCalls::new(texts("\"rest\""));
        let source = Some("\"a.c:3\"".into());
        rows.name_functions([FunctionTexts { name: "\"f\"".into(), source }]);
        rows.threads = vec![None, Some((12, -1))];
        rows.waiting = vec![call(1_234_567, 1_000, 0, 0), call(999, 0, NO_ENTRY, 9)];
        rows.waiting.push(call(1_005, u64::MAX, 2, 9));
        let text = rows.take_rows(1_000);
        let expected = [
            "{\"name\":\"f\",\"cat\":\"call\",\"ph\":\"X\",\"ts\":1233.567,\"dur\":1.000,\
             \"pid\":12,\"tid\":-1,\"args\":{\"self_ns\":7,\"source\":\"a.c:3\"}},\n",
            "{\"name\":\"rest\",\"cat\":\"call\",\"ph\":\"i\",\"s\":\"t\",\"ts\":-0.001,\
             \"pid\":12,\"tid\":-1,\"args\":{\"incomplete\":\"exit without entry\"}},\n",
            "{\"name\":\"rest\",\"cat\":\"call\",\"ph\":\"X\",\"ts\":0.005,\
             \"dur\":18446744073709551.615,\"pid\":12,\"tid\":-1,\"args\":{\"self_ns\":7,\
             \"incomplete\":\"no exit: the least that it took\"}},\n",
        ];
        assert_eq!(text, expected.concat());
        assert!(rows.take_rows(0).is_empty());
    }
}
