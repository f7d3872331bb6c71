//! What is found of a record: its address, if it has one, and its process.

/// What a record has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// No address to resolve.
    Nothing,
    /// An address.
    Address,
    /// An address, and it may change a process image.
    State,
    /// No address, but it may change a process image.
    Change,
    /// The address of a function that is entered; only until stacks are settled.
    Enter,
    /// A function is left, which one only the stack tells; only until stacks are settled.
    Leave,
}

impl Kind {
    /// Whether there is an address to resolve.
    #[inline]
    pub fn has_address(self) -> bool {
        matches!(self, Self::Address | Self::State)
    }

    /// Whether the record may change a process image.
    #[inline]
    pub fn changes(self) -> bool {
        matches!(self, Self::State | Self::Change)
    }
}

/// The address of a record and its process.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    /// The address.
    pub ip: u64,
    /// Process ID.
    pub vpid: i64,
    /// Where the process ID counts, see `TraceIdentity::process_space`.
    pub space: u32,
    /// What the record has; the other members count only if it has something.
    pub kind: Kind,
}

/// What a record has that has nothing.
pub const NOTHING: Found = Found { ip: 0, vpid: 0, space: 0, kind: Kind::Nothing };

/// The thread of a packet: process and thread ID.
pub type Thread = (i64, i64);
