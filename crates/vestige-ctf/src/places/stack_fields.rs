//! Call stacks as fields of event records: sequences of addresses in the common context.

use crate::bits::BitReader;
use crate::model::{FieldClass, FieldKind, IntegerClass};
use crate::record::{array_length, skip, State};
use crate::stream::{Batch, Record};

/// The address that stands for those that are missing.
pub const MORE: u64 = u64::MAX;

/// An address of a stack, and its place; [`super::NO_PLACE`] for what stands for those that are
/// missing.
pub type Frame = (u64, u32);

/// Where records of a stream class have a call stack.
pub trait StackKinds: Send + Sync {
    /// Appends the addresses of a record's stack, innermost first, and returns its process.
    fn read(
        &self,
        batch: &Batch,
        record: &Record,
        state: &mut State,
        addresses: &mut Vec<u64>,
    ) -> Option<i64>;
}

/// Goes to the first address that a member of a structure has; their type, and how many there are.
pub fn begin_addresses<'a>(
    context: &'a FieldClass,
    member: usize,
    reader: &mut BitReader<'_>,
    state: &mut State,
) -> Option<(&'a IntegerClass, u64)> {
    reader.align(context.alignment()).ok()?;
    let (before, stack) = context.members().split_at_checked(member)?;
    for member in before {
        skip(&member.class, reader, state).ok()?;
    }
    let class = &stack.first()?.class;
    let FieldKind::Array { element, length, .. } = &class.kind else { return None };
    reader.align(class.alignment()).ok()?;
    let integer = element.as_integer()?;
    let count = array_length(length, element.fixed_size, state, reader).ok()?;
    Some((integer, count))
}

/// Appends the addresses that a member of a structure has.
pub fn push_addresses(
    context: &FieldClass,
    member: usize,
    reader: &mut BitReader<'_>,
    state: &mut State,
    addresses: &mut Vec<u64>,
) -> Option<()> {
    let (integer, count) = begin_addresses(context, member, reader, state)?;
    for _ in 0..count {
        addresses.push(state.integer(integer, reader).ok()?);
    }
    Some(())
}
