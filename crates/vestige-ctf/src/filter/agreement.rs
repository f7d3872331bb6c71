//! What all that run filters agree on. Made by `tools/make_agreement.py` from
//! `tracer/agreement`: change it there, then say `make agreement`.

/// Values on the stack.
pub const EXPRESSION_DEPTH: usize = 24;

/// What an instruction does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum Operation {
    /// The end: the top is the answer.
    Return = 0,
    /// Push a constant integer.
    Integer = 1,
    /// Push a constant real number.
    Real = 2,
    /// Push a constant text.
    Text = 3,
    /// Push a field, by name.
    Field = 4,
    /// Push an element of a field.
    Element = 5,
    /// Push a context, by name.
    Context = 6,
    /// Negate the top.
    Minus = 7,
    /// Whether the top is zero.
    Not = 8,
    /// Turn all bits of the top.
    Complement = 9,
    /// Shift bits of 64-bit numbers to the left.
    ShiftLeft = 10,
    /// Shift bits to the right; zeros follow.
    ShiftRight = 11,
    /// Bits that both have.
    And = 12,
    /// Bits that one of them has.
    Xor = 13,
    /// Bits that any has.
    Or = 14,
    /// Compare the two at the top.
    Less = 15,
    /// As above.
    LessEqual = 16,
    /// As above.
    Greater = 17,
    /// As above.
    GreaterEqual = 18,
    /// As above.
    Equal = 19,
    /// As above.
    NotEqual = 20,
    /// Compare the top with a pattern, in which a zero stands for any text.
    Matches = 21,
    /// As above; other texts than those of the pattern.
    MatchesNot = 22,
    /// Make the top an integer.
    ToInteger = 23,
    /// Go on at an instruction if the top is zero, and leave 0; otherwise drop it.
    SkipIfFalse = 24,
    /// Go on at an instruction if the top is not zero, and leave 1; otherwise drop it.
    SkipIfTrue = 25,
}

impl Operation {
    /// In the order of their numbers.
    pub const ALL: [Self; 26] = [
        Self::Return,
        Self::Integer,
        Self::Real,
        Self::Text,
        Self::Field,
        Self::Element,
        Self::Context,
        Self::Minus,
        Self::Not,
        Self::Complement,
        Self::ShiftLeft,
        Self::ShiftRight,
        Self::And,
        Self::Xor,
        Self::Or,
        Self::Less,
        Self::LessEqual,
        Self::Greater,
        Self::GreaterEqual,
        Self::Equal,
        Self::NotEqual,
        Self::Matches,
        Self::MatchesNot,
        Self::ToInteger,
        Self::SkipIfFalse,
        Self::SkipIfTrue,
    ];
}
