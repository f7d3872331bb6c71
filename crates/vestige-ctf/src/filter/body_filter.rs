//! An expression for the records of one class that are made, not read.

use super::agreement::EXPRESSION_DEPTH;
use super::bind::{bind, Place};
use super::code::Instruction;
use super::fetch::Fetched;
use super::program::{Fields, Program};
use super::step::Operand;
use crate::bits::BitReader;
use crate::model::{FieldClass, FieldKind, TraceClass};
use crate::record::{RunStarts, State};

/// An expression that is bound to an event record class: it asks for nothing but what stands in
/// the contexts and the fields of a record.
#[derive(Debug)]
pub struct BodyFilter {
    program: Program,
    slots: usize,
}

impl BodyFilter {
    /// Binds an expression to a class, by the index of its stream class and its own there; `None`
    /// when it is true for none of its records.
    #[must_use]
    pub fn new(
        code: &[Instruction],
        trace: &TraceClass,
        stream_class: usize,
        class: usize,
    ) -> Option<Self> {
        let stream = trace.stream_classes.get(stream_class)?;
        let event = stream.event_classes.get(class)?;
        // With it, no places are taken for granted that whoever reads packets notes.
        let nothing = FieldClass::new(FieldKind::Structure { members: Vec::new(), alignment: 8 });
        let mut outer = Vec::new();
        let at = Place { trace, stream, added: Some(&nothing) };
        let program = bind(code, &at, event, &mut outer)?;
        outer.is_empty().then_some(Self { program, slots: trace.slot_count })
    }

    /// Whether it is true for a record, given the bytes of its contexts and fields, which begin
    /// on a byte to which all of them are aligned.
    #[must_use]
    pub fn is_true(&self, body: &[u8]) -> bool {
        let mut state = State::new(self.slots);
        let mut slots: Vec<Fetched<'_>> = Vec::new();
        let fields = Fields {
            reader: BitReader::new(body, 0, u64::MAX),
            starts: &RunStarts::default(),
            state: &mut state,
            slots: &mut slots,
            outer: &[],
        };
        self.program.is_true(fields, &mut [Operand::Integer(0); EXPRESSION_DEPTH])
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::filter::{Operation, Value};
    use crate::metadata::parse_text;

    const METADATA: &str = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };
        stream { id = 0; event.context := struct { integer { size = 32; align = 8; } _tid; }; };
        event { name = \"one\"; id = 0; stream_id = 0; fields := struct {
            string _text; integer { size = 16; align = 8; signed = 1; } _number; }; };";

    fn bound(code: &[(Operation, Value)]) -> Option<BodyFilter> {
        let trace = parse_text(METADATA.as_bytes()).unwrap();
        let code: Vec<_> = code
            .iter()
            .map(|(operation, value)| Instruction {
                operation: *operation,
                argument: 0,
                value: value.clone(),
            })
            .collect();
        BodyFilter::new(&code, &trace, 0, 0)
    }

    fn equal(operation: Operation, name: &[u8], value: i64) -> Option<BodyFilter> {
        bound(&[
            (operation, Value::Bytes(name.to_vec())),
            (Operation::Integer, Value::Integer(value)),
            (Operation::Equal, Value::Integer(0)),
            (Operation::Return, Value::Integer(0)),
        ])
    }

    #[test]
    fn fields_and_contexts_are_where_they_stand() {
        let body = b"\x07\0\0\0ab\0\xff\xff";

        assert!(equal(Operation::Field, b"number", -1).unwrap().is_true(body));
        assert!(!equal(Operation::Field, b"number", 1).unwrap().is_true(body));
        assert!(equal(Operation::Context, b"tid", 7).unwrap().is_true(body));
        assert!(!equal(Operation::Field, b"number", -1).unwrap().is_true(&body[..8]));
    }

    #[test]
    fn what_is_not_there_is_never_true() {
        assert!(equal(Operation::Field, b"other", 1).is_none());
        assert!(equal(Operation::Context, b"cpu_id", 1).is_none());
        assert!(equal(Operation::Field, b"text", 1).is_none());
    }
}
