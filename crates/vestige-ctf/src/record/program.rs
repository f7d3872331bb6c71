//! The body of an event record class as a flat list of steps.
//!
//! Walking the tree of field classes costs more than reading the fields. Most fields are
//! integers and floats at a known distance from the last field of unknown size: such a
//! *run* is one step with one comparison against the data that is left, and a list of
//! loads. What a step cannot express goes through the tree, as everything did before.

use super::number_place::{Load, NumberPlace};
use super::shape::{Segment, Shape};
use super::state::{array_length, DecodeError, State};
use super::{check, skip};
use crate::bits::BitReader;
use crate::model::{
    ByteOrder, FieldClass, FieldKind, IntegerClass, Length, StringEncoding, TextClass,
};

/// The steps through the fields of an event record class.
#[derive(Debug, Clone, Default)]
pub struct Program {
    steps: Vec<Step>,
    loads: Vec<Load>,
    /// The same steps in bytes, if they can be taken so.
    shape: Option<Shape>,
}

/// Some fields at known distances, possibly none, and then one of unknown size.
#[derive(Debug, Clone)]
struct Step {
    run: Run,
    then: Then,
}

/// Fields at known distances.
#[derive(Debug, Clone, Copy, Default)]
struct Run {
    /// Alignment of the first of them, bits.
    alignment: u32,
    /// Size of all of them with what lies between, bits.
    bits: u32,
    /// Their part of the loads.
    first: u32,
    last: u32,
}

/// A field of unknown size, or one that others depend on.
#[derive(Debug, Clone)]
enum Then {
    /// No field: the next run needs an alignment of its own, or this is the end.
    Nothing,
    /// An integer that a length, a selector, the clock or the reader needs.
    Noted(IntegerClass),
    /// A NUL-terminated string.
    String,
    /// An array that is shown as text: bytes.
    Text { length: Length },
    /// An array of numbers without gaps.
    Numbers { load: Load, alignment: u32, length: Length },
    /// Anything else.
    Field(Box<FieldClass>),
}

/// Greatest distance in a run, bits; arrays of more bits are steps of their own.
const MAX_RUN: u32 = 1 << 16;

impl Program {
    /// Compiles the scopes of a record's body.
    #[must_use]
    pub fn new<'a>(scopes: impl IntoIterator<Item = &'a FieldClass>) -> Self {
        Self::compile(scopes, None).program
    }

    /// Where an integer of these scopes lies in a record, if that is known once its runs are
    /// found: [`Program::run_noting`] finds them.
    #[must_use]
    pub fn place_of<'a>(
        scopes: impl IntoIterator<Item = &'a FieldClass>,
        wanted: &'a FieldClass,
    ) -> Option<NumberPlace> {
        Self::compile(scopes, Some(wanted)).found
    }

    fn compile<'a>(
        scopes: impl IntoIterator<Item = &'a FieldClass>,
        wanted: Option<&'a FieldClass>,
    ) -> Compiler<'a> {
        let (program, run) = (Self::default(), Run::default());
        let mut compiler = Compiler { program, run, wanted, found: None };
        scopes.into_iter().for_each(|scope| compiler.field(scope));
        if compiler.run.alignment > 0 {
            compiler.step(Then::Nothing);
        }
        compiler.program.shape = compiler.program.in_bytes();
        compiler
    }

    fn in_bytes(&self) -> Option<Shape> {
        let mut shape = Shape::default();
        for Step { run, then } in &self.steps {
            let (bits, is_string) = match then {
                Then::Nothing => (0, false),
                Then::String => (0, true),
                Then::Text { length: Length::Static(count) } => (count.checked_mul(8)?, false),
                Then::Numbers { load, alignment, length: Length::Static(count) }
                    if *alignment <= u8::BITS && load.size() % 8 == 0 =>
                {
                    (count.checked_mul(load.size().into())?, false)
                }
                _ => return None,
            };
            let bits = u32::try_from(bits).ok()?.checked_add(run.bits)?;
            shape.add(run.alignment, bits, is_string)?;
        }
        Some(shape)
    }

    /// What a body consists of, if its fields are whole bytes and strings.
    #[must_use]
    pub fn segments(&self) -> Option<&[Segment]> {
        self.shape.as_ref().map(Shape::segments)
    }

    /// Where a record ends whose body begins at a byte of some data, if that is found fast;
    /// otherwise the steps tell. `note` is called as by [`Program::run_noting`].
    #[inline(always)]
    #[must_use]
    pub fn end_in_bytes(
        &self,
        data: &[u8],
        at: usize,
        end: usize,
        note: impl FnMut(usize, u64),
    ) -> Option<usize> {
        self.shape.as_ref()?.end(data, at, end, note)
    }

    /// Goes through the fields of one record. With `CHECK`, each is decoded; their sum in
    /// `sum` keeps the compiler from leaving that out.
    ///
    /// # Errors
    ///
    /// When a field does not fit the data.
    #[inline]
    pub fn run<const CHECK: bool>(
        &self,
        reader: &mut BitReader<'_>,
        state: &mut State,
        sum: &mut u64,
    ) -> Result<(), DecodeError> {
        self.run_noting::<CHECK>(reader, state, sum, |_, _| ())
    }

    /// The same; `note` is called with the index of each run and the bit where it begins.
    ///
    /// # Errors
    ///
    /// As above.
    #[inline(always)]
    pub fn run_noting<const CHECK: bool>(
        &self,
        reader: &mut BitReader<'_>,
        state: &mut State,
        sum: &mut u64,
        mut note: impl FnMut(usize, u64),
    ) -> Result<(), DecodeError> {
        for (index, Step { run, then }) in self.steps.iter().enumerate() {
            if run.alignment > 0 {
                reader.align(run.alignment)?;
                let start = reader.position();
                note(index, start);
                reader.skip(u64::from(run.bits))?;
                if CHECK {
                    let loads = self.loads.get(run.first as usize..run.last as usize);
                    *sum = sum.wrapping_add(load_all(reader, start, loads.unwrap_or_default()));
                }
            }
            match then {
                Then::Nothing => {}
                Then::Noted(class) => *sum = sum.wrapping_add(state.integer(class, reader)?),
                Then::String => {
                    reader.align(8)?;
                    *sum = sum.wrapping_add(reader.string()?.len() as u64);
                }
                Then::Text { length } => {
                    reader.align(8)?;
                    let count = array_length(length, Some(8), state, reader)?;
                    *sum = sum.wrapping_add(reader.bytes(count)?.len() as u64);
                }
                Then::Numbers { load, alignment, length } => {
                    reader.align(*alignment)?;
                    let count = array_length(length, Some(u64::from(load.size())), state, reader)?;
                    let start = reader.position();
                    reader.skip(count.saturating_mul(u64::from(load.size())))?;
                    if CHECK {
                        *sum = sum.wrapping_add(load_array(reader, start, *load, count));
                    }
                }
                Then::Field(class) if CHECK => check(class, reader, state)?,
                Then::Field(class) => skip(class, reader, state)?,
            }
        }
        Ok(())
    }
}

/// Decodes the numbers of a run that was found to fit; the sum of their values.
#[inline]
fn load_all(reader: &BitReader<'_>, start: u64, loads: &[Load]) -> u64 {
    loads.iter().fold(0u64, |sum, load| sum.wrapping_add(load.value(reader.data(), start)))
}

fn load_array(reader: &BitReader<'_>, start: u64, load: Load, count: u64) -> u64 {
    let size = u64::from(load.size());
    (0..count)
        .fold(0u64, |sum, index| sum.wrapping_add(load.value(reader.data(), start + index * size)))
}

struct Compiler<'a> {
    program: Program,
    run: Run,
    /// The integer whose place is asked for.
    wanted: Option<&'a FieldClass>,
    found: Option<NumberPlace>,
}

impl Compiler<'_> {
    fn field(&mut self, class: &FieldClass) {
        match &class.kind {
            FieldKind::Integer(integer) | FieldKind::Enumeration(integer, _) => {
                if integer.noted || !(1..=64).contains(&integer.size) {
                    self.step(Then::Noted(integer.clone()));
                } else {
                    let load = self.number(integer.size, integer.alignment, integer.order);
                    if self.wanted.is_some_and(|wanted| std::ptr::eq(wanted, class)) {
                        let step = self.program.steps.len();
                        self.found = NumberPlace::new(step, load, integer);
                    }
                }
            }
            FieldKind::Float { size, alignment, order } if *size <= 64 => {
                self.number(*size, *alignment, *order);
            }
            FieldKind::String => self.step(Then::String),
            FieldKind::Structure { members, alignment } => {
                self.align(*alignment);
                members.iter().for_each(|member| self.field(&member.class));
            }
            FieldKind::Array { element, length, text } => {
                let array = array(element, length, *text, class.alignment());
                self.step(array.unwrap_or_else(|| Then::Field(Box::new(class.clone()))));
            }
            FieldKind::Text(TextClass { length: Some(length), encoding: StringEncoding::Utf8 }) => {
                self.step(Then::Text { length: length.clone() });
            }
            FieldKind::Blob(blob) if blob.expected.is_none() => {
                self.step(Then::Text { length: blob.length.clone() });
            }
            _ => self.step(Then::Field(Box::new(class.clone()))),
        }
    }

    /// Aligns the next field: inside the run when its start is aligned well enough for the
    /// distance to be known, else by a new run.
    fn align(&mut self, alignment: u32) {
        let alignment = alignment.max(1);
        if self.run.alignment < alignment || self.run.bits >= MAX_RUN {
            if self.run.bits > 0 {
                self.step(Then::Nothing);
            }
            // A run without a field yet may as well begin with the greater alignment.
            self.run.alignment = self.run.alignment.max(alignment);
        }
        self.run.bits = self.run.bits.next_multiple_of(alignment);
    }

    fn number(&mut self, size: u32, alignment: u32, order: ByteOrder) -> Load {
        self.align(alignment);
        let load = Load::new(self.run.bits, size, order, self.run.alignment);
        self.program.loads.push(load);
        self.run.bits += size;
        self.run.last = self.program.loads.len() as u32;
        load
    }

    /// Ends the run with a field that is not one of it.
    fn step(&mut self, then: Then) {
        self.program.steps.push(Step { run: self.run, then });
        let next = self.program.loads.len() as u32;
        self.run = Run { first: next, last: next, ..Run::default() };
    }
}

/// The step of an array of bytes of text, or of numbers that follow each other without gaps.
fn array(element: &FieldClass, length: &Length, text: bool, alignment: u32) -> Option<Then> {
    let (size, packing, order) = match &element.kind {
        FieldKind::Integer(class) if !class.noted => (class.size, class.alignment, class.order),
        FieldKind::Float { size, alignment, order } if *size <= 64 => (*size, *alignment, *order),
        _ => return None,
    };
    if !(1..=64).contains(&size) {
        return None;
    }
    let length = length.clone();
    if text && alignment == 8 {
        return Some(Then::Text { length });
    }
    let load = Load::new(0, size, order, if size % 8 == 0 { alignment } else { 1 });
    (size % packing.max(1) == 0).then_some(Then::Numbers { load, alignment, length })
}
