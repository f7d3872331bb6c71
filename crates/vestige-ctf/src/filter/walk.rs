//! The steps through the fields of a record that an expression wants.

use super::fetch::{fetch, whole, Fetched};
use super::path::{Path, Segment};
use crate::bits::BitReader;
use crate::model::{FieldClass, FieldKind, IntegerClass};
use crate::record::{skip, DecodeError, State};

/// A field that is wanted, and the number under which it is asked for.
#[derive(Debug, Clone)]
pub struct Want {
    /// The way to it from where the reader is.
    pub path: Path,
    /// Its number.
    pub slot: u32,
}

/// The steps through a record, up to the last field that is wanted.
#[derive(Debug, Clone, Default)]
pub struct Walk {
    steps: Vec<Step>,
}

#[derive(Debug, Clone)]
enum Step {
    /// Fields of a known size.
    Skip { alignment: u32, bits: u64 },
    /// A text up to its zero.
    SkipText,
    /// Another field of unknown size.
    SkipField(Box<FieldClass>),
    /// An integer that is wanted.
    Integer { class: Box<IntegerClass>, slot: u32 },
    /// A field of which something is wanted.
    Fetch { class: Box<FieldClass>, wants: Vec<Want> },
}

impl Walk {
    /// The steps through scopes that follow each other.
    pub fn new<'a>(scopes: impl IntoIterator<Item = (&'a FieldClass, Vec<Want>)>) -> Self {
        let scopes: Vec<_> = scopes.into_iter().collect();
        let left = scopes.iter().map(|(_, wants)| wants.len()).sum();
        let mut compiler = Compiler { steps: Vec::new(), known: None, left };
        for (class, wants) in scopes {
            compiler.field(class, wants);
        }
        Self { steps: compiler.steps }
    }

    /// Takes the step at an index.
    ///
    /// # Errors
    ///
    /// When a field does not fit the data.
    #[inline]
    pub fn step<'a>(
        &self,
        index: usize,
        reader: &mut BitReader<'a>,
        state: &mut State,
        slots: &mut [Fetched<'a>],
    ) -> Result<(), DecodeError> {
        match self.steps.get(index) {
            Some(Step::Skip { alignment, bits }) => {
                reader.align(*alignment)?;
                reader.skip(*bits)?;
            }
            Some(Step::SkipText) => {
                reader.align(8)?;
                reader.string()?;
            }
            Some(Step::SkipField(class)) => skip(class, reader, state)?,
            Some(Step::Integer { class, slot }) => {
                let value = whole(class, reader, state)?;
                put(slots, *slot, Fetched::Integer(value));
            }
            Some(Step::Fetch { class, wants }) => {
                for want in wants {
                    // Those of the whole record were counted when it was found.
                    state.forget_empty_elements();
                    let value = fetch(class, &want.path, &mut reader.clone(), state)?;
                    put(slots, want.slot, value);
                }
                if index + 1 < self.steps.len() {
                    state.forget_empty_elements();
                    skip(class, reader, state)?;
                }
            }
            None => {}
        }
        Ok(())
    }

    /// How many steps there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.steps.len()
    }
}

#[inline]
fn put<'a>(slots: &mut [Fetched<'a>], slot: u32, value: Fetched<'a>) {
    if let Some(place) = slots.get_mut(slot as usize) {
        *place = value;
    }
}

struct Compiler {
    steps: Vec<Step>,
    /// Alignment and bits of the fields of known sizes that no step leads over yet.
    known: Option<(u32, u64)>,
    /// How many wanted fields are still to come.
    left: usize,
}

impl Compiler {
    fn field(&mut self, class: &FieldClass, wants: Vec<Want>) {
        if self.left == 0 {
            return;
        }
        match &class.kind {
            _ if wants.is_empty() => self.skip(class),
            FieldKind::Structure { members, alignment } => {
                self.fixed(*alignment, 0);
                let mut of_member = vec![Vec::new(); members.len()];
                for want in wants {
                    self.sort_in(class, want, &mut of_member);
                }
                for (member, wants) in members.iter().zip(of_member) {
                    self.field(&member.class, wants);
                }
            }
            FieldKind::Integer(integer) | FieldKind::Enumeration(integer, _)
                if wants.iter().all(|want| want.path.is_empty()) && wants.len() == 1 =>
            {
                self.left -= 1;
                let slot = wants.first().map_or(0, |want| want.slot);
                self.step(Step::Integer { class: Box::new(integer.clone()), slot });
            }
            _ => {
                self.left = self.left.saturating_sub(wants.len());
                self.step(Step::Fetch { class: Box::new(class.clone()), wants });
            }
        }
    }

    /// Gives what is wanted of a structure to its member.
    fn sort_in(&mut self, class: &FieldClass, want: Want, of_member: &mut [Vec<Want>]) {
        let mut path = want.path.into_iter();
        let index = match path.next() {
            Some(Segment::Member(name)) => class.member(&name).map(|(index, _)| index),
            _ => None,
        };
        match index.and_then(|index| of_member.get_mut(index)) {
            Some(wants) => wants.push(Want { path: path.collect(), slot: want.slot }),
            // It is nowhere, and stays pending.
            None => self.left = self.left.saturating_sub(1),
        }
    }

    fn skip(&mut self, class: &FieldClass) {
        match (class.fixed_size, &class.kind) {
            (Some(size), _) => self.fixed(class.alignment(), size),
            (None, FieldKind::String) => self.step(Step::SkipText),
            _ => self.step(Step::SkipField(Box::new(class.clone()))),
        }
    }

    /// Adds a field of a known size to those before it, if its place among them is known.
    fn fixed(&mut self, alignment: u32, size: u64) {
        let alignment = alignment.max(1);
        self.known = match self.known.take() {
            Some((first, bits)) if alignment <= first => {
                let bits = bits.next_multiple_of(u64::from(alignment)).saturating_add(size);
                Some((first, bits))
            }
            Some((_, 0)) => Some((alignment, size)),
            Some((first, bits)) => {
                self.steps.push(Step::Skip { alignment: first, bits });
                Some((alignment, size))
            }
            None => Some((alignment, size)),
        };
    }

    fn step(&mut self, step: Step) {
        if let Some((alignment, bits)) = self.known.take() {
            self.steps.push(Step::Skip { alignment, bits });
        }
        self.steps.push(step);
    }
}
