//! An expression that is bound to an event record class, and the machine that runs it.

use super::agreement::EXPRESSION_DEPTH;
use super::fetch::Fetched;
use super::guard::Guards;
use super::pattern::Pattern;
use super::step::{Bits, Change, Comparison, Operand, Step};
use super::walk::Walk;
use crate::bits::BitReader;
use crate::record::{NumberPlace, RunStarts, State};

/// A bound expression.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The steps of the machine; skips only lead forward.
    pub steps: Vec<Step>,
    /// Constant texts.
    pub texts: Vec<Vec<u8>>,
    /// Patterns.
    pub patterns: Vec<Pattern>,
    /// How its fields are found.
    pub walk: Walk,
    /// The fields of the record that it asks for: where those lie that need no walk.
    pub places: Vec<Option<NumberPlace>>,
    /// What must hold before it has to run.
    pub guards: Guards,
}

/// The stack of the machine.
pub type Stack = [Operand; EXPRESSION_DEPTH];

/// The fields of one record, as far as they were asked for.
pub struct Fields<'a, 'b> {
    /// Where the next step of the walk begins.
    pub reader: BitReader<'a>,
    /// Where the runs of the record begin.
    pub starts: &'b RunStarts,
    /// What fields leave behind for others.
    pub state: &'b mut State,
    /// A place for each field.
    pub slots: &'b mut Vec<Fetched<'a>>,
    /// The fields that do not stand in the record.
    pub outer: &'b [Fetched<'a>],
}

impl Program {
    /// Whether it is true for a record.
    #[inline]
    pub fn is_true(&self, fields: Fields<'_, '_>, stack: &mut Stack) -> bool {
        fields.slots.resize(self.places.len(), Fetched::Pending);
        fields.slots.fill(Fetched::Pending);
        let mut machine = Machine { program: self, fields, walked: 0, stack, depth: 0 };
        machine.run().unwrap_or(false)
    }

    /// Lets one step do what most comparisons take three for: a field and an integer.
    pub fn join_steps(&mut self) {
        for place in 0..self.steps.len() {
            let three = self.steps.get(place..place + 3);
            let Some([Step::Field(slot), Step::Push(Operand::Integer(value)), step]) = three else {
                continue;
            };
            let Step::Compare(comparison) = *step else { continue };
            // All steps stay in their places, so that skips lead where they did.
            let joined = Step::CompareField(comparison, *slot, *value);
            if let Some(step) = self.steps.get_mut(place) {
                *step = joined;
            }
        }
    }
}

struct Machine<'a, 'b, 'p> {
    program: &'p Program,
    fields: Fields<'a, 'b>,
    /// How many steps of the walk are done.
    walked: usize,
    stack: &'b mut Stack,
    depth: usize,
}

impl Machine<'_, '_, '_> {
    /// The answer, or `None` where something is not there or of no fitting type.
    fn run(&mut self) -> Option<bool> {
        let mut next = 0;
        loop {
            let step = *self.program.steps.get(next)?;
            next += 1;
            match step {
                Step::Push(operand) => self.push(operand)?,
                Step::Field(slot) => {
                    let operand = self.field(slot)?;
                    self.push(operand)?;
                }
                Step::Outer(slot) => {
                    let value = self.fields.outer.get(slot as usize)?;
                    self.push(operand(value, Operand::OuterText(slot))?)?;
                }
                Step::CompareField(comparison, slot, value) => {
                    let answer = match self.field(slot)? {
                        Operand::Integer(field) => ordered(comparison, &field, &value),
                        Operand::Real(field) => ordered(comparison, &field, &(value as f64)),
                        _ => return None,
                    };
                    next += 2;
                    self.push(Operand::Integer(i64::from(answer)))?;
                }
                Step::Change(change) => {
                    let top = self.pop()?;
                    self.push(changed(change, top)?)?;
                }
                Step::Bits(bits) => {
                    let (left, right) = self.two()?;
                    let (Operand::Integer(left), Operand::Integer(right)) = (left, right) else {
                        return None;
                    };
                    self.push(Operand::Integer(combined(bits, left, right)?))?;
                }
                Step::Compare(comparison) => {
                    let (left, right) = self.two()?;
                    let answer = self.compared(comparison, left, right)?;
                    self.push(Operand::Integer(i64::from(answer)))?;
                }
                Step::Matches(pattern, wanted) => {
                    let top = self.pop()?;
                    let text = self.text(top)?;
                    let answer = self.program.patterns.get(pattern as usize)?.matches(text);
                    self.push(Operand::Integer(i64::from(answer == wanted)))?;
                }
                Step::Skip(wanted, target) => {
                    let top = self.pop()?.as_integer()? != 0;
                    if top == wanted {
                        self.push(Operand::Integer(i64::from(wanted)))?;
                        next = target as usize;
                    }
                }
                Step::Return => return Some(self.pop()?.as_integer()? != 0),
            }
        }
    }

    #[inline]
    fn push(&mut self, operand: Operand) -> Option<()> {
        *self.stack.get_mut(self.depth)? = operand;
        self.depth += 1;
        Some(())
    }

    #[inline]
    fn pop(&mut self) -> Option<Operand> {
        self.depth = self.depth.checked_sub(1)?;
        self.stack.get(self.depth).copied()
    }

    #[inline]
    fn two(&mut self) -> Option<(Operand, Operand)> {
        let right = self.pop()?;
        Some((self.pop()?, right))
    }

    /// A field of the record; where its place is not known, those before it are stepped over.
    #[inline]
    fn field(&mut self, slot: u32) -> Option<Operand> {
        let index = slot as usize;
        if let Some(Some(place)) = self.program.places.get(index) {
            let value = place.value(self.fields.reader.data(), self.fields.starts);
            return Some(Operand::Integer(value));
        }
        while matches!(self.fields.slots.get(index)?, Fetched::Pending)
            && self.walked < self.program.walk.len()
        {
            let Fields { reader, state, slots, .. } = &mut self.fields;
            let step = self.program.walk.step(self.walked, reader, state, slots);
            self.walked = if step.is_ok() { self.walked + 1 } else { usize::MAX };
        }
        operand(self.fields.slots.get(index)?, Operand::FieldText(slot))
    }

    fn text(&self, operand: Operand) -> Option<&[u8]> {
        match operand {
            Operand::Constant(index) => self.program.texts.get(index as usize).map(Vec::as_slice),
            Operand::FieldText(slot) => self.fields.slots.get(slot as usize)?.as_text(),
            Operand::OuterText(slot) => self.fields.outer.get(slot as usize)?.as_text(),
            Operand::Integer(_) | Operand::Real(_) => None,
        }
    }

    fn compared(&self, comparison: Comparison, left: Operand, right: Operand) -> Option<bool> {
        match (left, right) {
            (Operand::Integer(left), Operand::Integer(right)) => {
                Some(ordered(comparison, &left, &right))
            }
            (Operand::Integer(_) | Operand::Real(_), Operand::Integer(_) | Operand::Real(_)) => {
                Some(ordered(comparison, &left.as_real()?, &right.as_real()?))
            }
            _ => {
                let (left, right) = (self.text(left)?, self.text(right)?);
                match comparison {
                    Comparison::Equal => Some(left == right),
                    Comparison::NotEqual => Some(left != right),
                    _ => None,
                }
            }
        }
    }
}

impl Operand {
    fn as_integer(self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(value),
            _ => None,
        }
    }

    fn as_real(self) -> Option<f64> {
        match self {
            Self::Integer(value) => Some(value as f64),
            Self::Real(value) => Some(value),
            _ => None,
        }
    }
}

#[inline]
fn operand(value: &Fetched<'_>, text: Operand) -> Option<Operand> {
    match value {
        Fetched::Integer(value) => Some(Operand::Integer(*value)),
        Fetched::Real(value) => Some(Operand::Real(*value)),
        Fetched::Text(_) | Fetched::Converted(_) => Some(text),
        Fetched::Pending | Fetched::Missing => None,
    }
}

#[inline]
fn changed(change: Change, top: Operand) -> Option<Operand> {
    Some(match (change, top) {
        (Change::Minus, Operand::Integer(value)) => Operand::Integer(value.wrapping_neg()),
        (Change::Minus, Operand::Real(value)) => Operand::Real(-value),
        (Change::Not, Operand::Integer(value)) => Operand::Integer(i64::from(value == 0)),
        (Change::Not, Operand::Real(value)) => Operand::Integer(i64::from(value == 0.0)),
        (Change::Complement, Operand::Integer(value)) => Operand::Integer(!value),
        (Change::ToInteger, Operand::Integer(_)) => top,
        (Change::ToInteger, Operand::Real(value)) => Operand::Integer(to_integer(value)),
        _ => return None,
    })
}

/// As processors do it: what 64 bits do not hold is the lowest integer.
fn to_integer(real: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&real) {
        real as i64
    } else {
        i64::MIN
    }
}

#[inline]
fn combined(bits: Bits, left: i64, right: i64) -> Option<i64> {
    Some(match bits {
        Bits::And => left & right,
        Bits::Xor => left ^ right,
        Bits::Or => left | right,
        Bits::ShiftLeft => left.checked_shl(u32::try_from(right).ok()?)?,
        // Zeros follow.
        Bits::ShiftRight => (left as u64).checked_shr(u32::try_from(right).ok()?)? as i64,
    })
}

#[inline]
fn ordered<T: PartialOrd>(comparison: Comparison, left: &T, right: &T) -> bool {
    match comparison {
        Comparison::Less => left < right,
        Comparison::LessEqual => left <= right,
        Comparison::Greater => left > right,
        Comparison::GreaterEqual => left >= right,
        Comparison::Equal => left == right,
        Comparison::NotEqual => left != right,
    }
}
