//! The byte code of filter expressions.

/// What an instruction does; the numbers are those of `src/vestige/expressions/code.py`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// The end: the top is the answer.
    Return,
    /// Push a constant integer.
    Integer,
    /// Push a constant real number.
    Real,
    /// Push a constant text.
    Text,
    /// Push a field of the payload.
    Field,
    /// Push an element of a field of the payload.
    Element,
    /// Push a field of a context.
    Context,
    /// Negate the top.
    Minus,
    /// Is the top zero?
    Not,
    /// Turn all bits of the top.
    Complement,
    /// Shift bits to the left.
    ShiftLeft,
    /// Shift bits to the right; zeros follow.
    ShiftRight,
    /// Bits that both have.
    And,
    /// Bits that one of them has.
    Xor,
    /// Bits that any has.
    Or,
    /// Compare the two at the top.
    Less,
    /// As above.
    LessEqual,
    /// As above.
    Greater,
    /// As above.
    GreaterEqual,
    /// As above.
    Equal,
    /// As above.
    NotEqual,
    /// Compare the top with a pattern, in which a zero stands for any text.
    Matches,
    /// As above; other texts than those of the pattern.
    MatchesNot,
    /// Make the top an integer.
    ToInteger,
    /// Go on at an instruction if the top is zero, and leave 0; otherwise drop it.
    SkipIfFalse,
    /// Go on at an instruction if the top is not zero, and leave 1; otherwise drop it.
    SkipIfTrue,
}

use Operation as O;

/// In the order of their numbers.
const ALL: [Operation; 26] = [
    O::Return,
    O::Integer,
    O::Real,
    O::Text,
    O::Field,
    O::Element,
    O::Context,
    O::Minus,
    O::Not,
    O::Complement,
    O::ShiftLeft,
    O::ShiftRight,
    O::And,
    O::Xor,
    O::Or,
    O::Less,
    O::LessEqual,
    O::Greater,
    O::GreaterEqual,
    O::Equal,
    O::NotEqual,
    O::Matches,
    O::MatchesNot,
    O::ToInteger,
    O::SkipIfFalse,
    O::SkipIfTrue,
];

impl Operation {
    /// The operation of a number.
    #[must_use]
    pub fn from_number(number: usize) -> Option<Self> {
        ALL.get(number).copied()
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
