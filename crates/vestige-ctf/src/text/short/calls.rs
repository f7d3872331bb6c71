//! Calls with braces, and what is between these indented.

use super::layout::{indent_columns, GAP};
use super::line::LineWriter;
use super::place::PlaceText;
use super::step::push_duration;
use super::width::push_spaces;
use crate::calls::{Mark, MarkKind};

impl LineWriter<'_> {
    /// Appends a call with its braces, and behind it what stands from `fields` on.
    pub fn braces(&mut self, fields: usize, mark: &Mark, place: Option<&PlaceText>) {
        self.fields.clear();
        self.fields.extend_from_slice(self.out.get(fields..).unwrap_or_default());
        self.out.truncate(fields);
        let options = self.layout.options;
        push_spaces(&mut self.out, indent_columns(Some(mark), options.width));
        let (function, source) = place.map_or((&b""[..], &b""[..]), PlaceText::parts);
        match mark.kind {
            MarkKind::Exit => {
                self.out.push(b'}');
                self.duration(mark);
                self.behind(GAP, function);
            }
            kind => {
                self.out.extend_from_slice(if function.is_empty() { b"?" } else { function });
                if !function.contains(&b'(') {
                    self.out.extend_from_slice(b"()");
                }
                self.out.extend_from_slice(if kind == MarkKind::Whole { b";" } else { b" {" });
                self.duration(mark);
                self.behind(GAP, source);
            }
        }
        let fields = std::mem::take(&mut self.fields);
        self.behind(GAP, &fields);
        self.fields = fields;
    }

    fn duration(&mut self, mark: &Mark) {
        if let Some(duration) = mark.duration {
            self.out.push(b' ');
            push_duration(&mut self.out, duration, self.layout.options.ascii, self.layout.colors);
        }
    }

    fn behind(&mut self, gap: usize, text: &[u8]) {
        if !text.is_empty() {
            push_spaces(&mut self.out, gap);
            self.out.extend_from_slice(text);
        }
    }
}
