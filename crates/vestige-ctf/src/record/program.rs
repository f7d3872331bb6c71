//! The body of an event record class as a flat list of steps.
//!
//! Walking the tree of field classes costs more than reading the fields. Most fields are
//! integers and floats at a known distance from the last field of unknown size: such a
//! *run* is one step with one comparison against the data that is left, and a list of
//! loads. What a step cannot express goes through the tree, as everything did before.

use super::state::{array_length, DecodeError, State};
use super::{check, skip};
use crate::bits::{read_bits, BitReader};
use crate::model::{ByteOrder, FieldClass, FieldKind, IntegerClass, Length};

/// The steps through the fields of an event record class.
#[derive(Debug, Clone, Default)]
pub struct Program {
    steps: Vec<Step>,
    loads: Vec<Load>,
}

/// One step.
#[derive(Debug, Clone)]
enum Step {
    /// Fields at known distances.
    Run {
        alignment: u32,
        bits: u64,
        /// Its part of the loads.
        first: u32,
        last: u32,
    },
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

/// How a number is read.
#[derive(Debug, Clone, Copy)]
struct Load {
    /// Bits from the start of its run.
    offset: u32,
    size: u32,
    order: ByteOrder,
    width: Width,
}

/// Whether a number is one of those that a machine loads at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Width {
    One,
    Two,
    Four,
    Eight,
    Other,
}

/// Greatest distance in a run, bits; arrays of more bits are steps of their own.
const MAX_RUN: u64 = 1 << 16;

impl Program {
    /// Compiles the scopes of a record's body.
    #[must_use]
    pub fn new<'a>(scopes: impl IntoIterator<Item = &'a FieldClass>) -> Self {
        let mut compiler = Compiler { program: Self::default(), run: None };
        scopes.into_iter().for_each(|scope| compiler.field(scope));
        compiler.end_run();
        compiler.program
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
        for step in &self.steps {
            match step {
                Step::Run { alignment, bits, first, last } => {
                    reader.align(*alignment)?;
                    let start = reader.position();
                    reader.skip(*bits)?;
                    if CHECK {
                        let loads = self.loads.get(*first as usize..*last as usize);
                        *sum = sum.wrapping_add(load_all(reader, start, loads.unwrap_or_default()));
                    }
                }
                Step::Noted(class) => *sum = sum.wrapping_add(state.integer(class, reader)?),
                Step::String => {
                    reader.align(8)?;
                    *sum = sum.wrapping_add(reader.string()?.len() as u64);
                }
                Step::Text { length } => {
                    reader.align(8)?;
                    let count = array_length(length, Some(8), state, reader)?;
                    *sum = sum.wrapping_add(reader.bytes(count)?.len() as u64);
                }
                Step::Numbers { load, alignment, length } => {
                    reader.align(*alignment)?;
                    let count = array_length(length, Some(u64::from(load.size)), state, reader)?;
                    let start = reader.position();
                    reader.skip(count.saturating_mul(u64::from(load.size)))?;
                    if CHECK {
                        *sum = sum.wrapping_add(load_array(reader, start, *load, count));
                    }
                }
                Step::Field(class) if CHECK => check(class, reader, state)?,
                Step::Field(class) => skip(class, reader, state)?,
            }
        }
        Ok(())
    }
}

/// Decodes the numbers of a run that was found to fit; the sum of their values.
#[inline]
fn load_all(reader: &BitReader<'_>, start: u64, loads: &[Load]) -> u64 {
    let mut sum = 0u64;
    for load in loads {
        sum = sum.wrapping_add(value(reader.data(), start + u64::from(load.offset), *load));
    }
    sum
}

fn load_array(reader: &BitReader<'_>, start: u64, load: Load, count: u64) -> u64 {
    let size = u64::from(load.size);
    (0..count)
        .fold(0u64, |sum, index| sum.wrapping_add(value(reader.data(), start + index * size, load)))
}

/// The value of a number, 0 past the end of the data.
#[inline(always)]
fn value(data: &[u8], position: u64, load: Load) -> u64 {
    macro_rules! whole {
        ($kind:ty) => {{
            let byte = (position / 8) as usize;
            let raw = data.get(byte..byte.wrapping_add(size_of::<$kind>()));
            let raw = raw.and_then(|raw| raw.try_into().ok()).unwrap_or_default();
            u64::from(match load.order {
                ByteOrder::Little => <$kind>::from_le_bytes(raw),
                ByteOrder::Big => <$kind>::from_be_bytes(raw),
            })
        }};
    }
    match load.width {
        Width::One => whole!(u8),
        Width::Two => whole!(u16),
        Width::Four => whole!(u32),
        Width::Eight => whole!(u64),
        Width::Other => read_bits(data, position, load.size, load.order),
    }
}

/// A run that is being made.
struct Run {
    alignment: u32,
    bits: u64,
    first: u32,
}

struct Compiler {
    program: Program,
    run: Option<Run>,
}

impl Compiler {
    fn field(&mut self, class: &FieldClass) {
        match &class.kind {
            FieldKind::Integer(integer) | FieldKind::Enumeration(integer, _) => {
                if integer.noted {
                    self.step(Step::Noted(integer.clone()));
                } else {
                    self.number(integer.size, integer.alignment, integer.order);
                }
            }
            FieldKind::Float { size, alignment, order } if *size <= 64 => {
                self.number(*size, *alignment, *order);
            }
            FieldKind::String => self.step(Step::String),
            FieldKind::Structure { members, alignment } => {
                self.align(*alignment);
                members.iter().for_each(|member| self.field(&member.class));
            }
            FieldKind::Array { element, length, text } => {
                let step = array_step(element, length, *text);
                self.step(step.unwrap_or_else(|| Step::Field(Box::new(class.clone()))));
            }
            _ => self.step(Step::Field(Box::new(class.clone()))),
        }
    }

    /// Aligns the next field: inside the run when its start is aligned well enough for the
    /// distance to be known, else by a new run.
    fn align(&mut self, alignment: u32) {
        let mask = u64::from(alignment.max(1)) - 1;
        match &mut self.run {
            Some(run) if run.alignment >= alignment && run.bits < MAX_RUN => {
                run.bits = (run.bits + mask) & !mask;
            }
            _ => {
                self.end_run();
                let first = self.program.loads.len() as u32;
                self.run = Some(Run { alignment: alignment.max(1), bits: 0, first });
            }
        }
    }

    fn number(&mut self, size: u32, alignment: u32, order: ByteOrder) {
        self.align(alignment);
        if let Some(run) = &mut self.run {
            let whole_bytes = run.alignment >= 8 && run.bits % 8 == 0;
            let width = if whole_bytes { width(size) } else { Width::Other };
            self.program.loads.push(Load { offset: run.bits as u32, size, order, width });
            run.bits += u64::from(size);
        }
    }

    fn step(&mut self, step: Step) {
        self.end_run();
        self.program.steps.push(step);
    }

    fn end_run(&mut self) {
        if let Some(Run { alignment, bits, first }) = self.run.take() {
            let last = self.program.loads.len() as u32;
            if bits > 0 || alignment > 1 {
                self.program.steps.push(Step::Run { alignment, bits, first, last });
            }
        }
    }
}

fn width(size: u32) -> Width {
    match size {
        8 => Width::One,
        16 => Width::Two,
        32 => Width::Four,
        64 => Width::Eight,
        _ => Width::Other,
    }
}

/// The step of an array of bytes of text, or of numbers that follow each other without gaps.
fn array_step(element: &FieldClass, length: &Length, text: bool) -> Option<Step> {
    let (size, alignment, order) = match &element.kind {
        FieldKind::Integer(class) if !class.noted => (class.size, class.alignment, class.order),
        FieldKind::Float { size, alignment, order } if *size <= 64 => (*size, *alignment, *order),
        _ => return None,
    };
    let length = length.clone();
    if text {
        return Some(Step::Text { length });
    }
    let whole_bytes = alignment >= 8;
    let width = if whole_bytes { width(size) } else { Width::Other };
    let load = Load { offset: 0, size, order, width };
    (size % alignment.max(1) == 0).then_some(Step::Numbers { load, alignment, length })
}
