//! The byte code of filter expressions.

pub use super::agreement::Operation;

impl Operation {
    /// The operation of a number.
    #[must_use]
    pub fn from_number(number: usize) -> Option<Self> {
        Self::ALL.get(number).copied()
    }
}

/// What an instruction carries.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number; 0 where none is needed.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// A string, a pattern or a name.
    Bytes(Vec<u8>),
}

/// One instruction.
#[derive(Debug, Clone, PartialEq)]
pub struct Instruction {
    /// What it does.
    pub operation: Operation,
    /// The index of an element, or of the instruction where to go on.
    pub argument: u32,
    /// A constant or a name.
    pub value: Value,
}

/// A compiled expression; nobody relies on it being right before it is bound.
pub type Expression = Vec<Instruction>;
