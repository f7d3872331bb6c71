//! How much work the sections of a file may ask for.

use gimli::SectionId;

use crate::budget::Budget;

/// Work that every file may ask for, however small it is.
const FREE_WORK: u64 = 1 << 16;
/// Honest producers write about one attribute for two bytes of an entry.
const ATTRIBUTES_PER_BYTE: u64 = 4;

/// Units share strings, and each has its own copy of those it uses.
const COPIES_OF_STRINGS: u64 = 16;

/// Bounds on the work that lookups in one object may do, over its life.
#[derive(Debug)]
pub(crate) struct Limits {
    pub(crate) range_entries: Budget,
    pub(crate) line_bytes: Budget,
    pub(crate) function_attributes: Budget,
    pub(crate) name_attributes: Budget,
    pub(crate) string_bytes: Budget,
    /// Bytes of the units in a file of split units, and of their abbreviations.
    pub(crate) split_bytes: Budget,
}

impl Limits {
    /// Whether a limit has cut something off.
    pub(crate) fn is_spent(&self) -> bool {
        let budgets = [
            &self.range_entries,
            &self.line_bytes,
            &self.function_attributes,
            &self.name_attributes,
            &self.string_bytes,
            &self.split_bytes,
        ];
        budgets.into_iter().any(Budget::is_spent)
    }

    /// Limits for sections of these sizes.
    pub(crate) fn of(size: impl Fn(SectionId) -> usize) -> Self {
        let size = |id| size(id) as u64;
        let (info, line) = (size(SectionId::DebugInfo), size(SectionId::DebugLine));
        let lists = size(SectionId::DebugRanges) + size(SectionId::DebugRngLists);
        let attributes = info * ATTRIBUTES_PER_BYTE + FREE_WORK;
        let strings = info + line + size(SectionId::DebugStr) + size(SectionId::DebugLineStr);
        Self {
            range_entries: Budget::new(lists + FREE_WORK),
            line_bytes: Budget::new(line * 4 + FREE_WORK),
            function_attributes: Budget::new(attributes),
            name_attributes: Budget::new(attributes * 4),
            string_bytes: Budget::new(strings * COPIES_OF_STRINGS + FREE_WORK),
            split_bytes: Budget::new((info + size(SectionId::DebugAbbrev)) * 4 + FREE_WORK),
        }
    }
}
