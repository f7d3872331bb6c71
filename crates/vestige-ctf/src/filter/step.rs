//! What the machine of an expression can do: steps, and what they work on.

/// A step of the machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// The end: the top is the answer.
    Return,
    /// Push an operand.
    Push(Operand),
    /// Push a field of the record.
    Field(u32),
    /// Push a field that does not stand in the record.
    Outer(u32),
    /// Change the top.
    Change(Change),
    /// Put one value in place of two integers.
    Bits(Bits),
    /// Put 0 or 1 in place of two values.
    Compare(Comparison),
    /// Compare a field of the record with a constant; the two steps behind it are done, too.
    CompareField(Comparison, u32, i64),
    /// Compare the top with the pattern of an index; the answer that counts as true.
    Matches(u32, bool),
    /// If the top is as wanted, leave it as 0 or 1 and go on at a step; otherwise drop it.
    Skip(bool, u32),
}

/// What becomes of one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The opposite.
    Minus,
    /// Whether it is zero.
    Not,
    /// All bits turned.
    Complement,
    /// An integer, without its fraction.
    ToInteger,
}

/// What becomes of two integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bits {
    /// Shifted to the left.
    ShiftLeft,
    /// Shifted to the right.
    ShiftRight,
    /// What both have.
    And,
    /// What one of them has.
    Xor,
    /// What any has.
    Or,
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// Less than.
    Less,
    /// At most.
    LessEqual,
    /// Greater than.
    Greater,
    /// At least.
    GreaterEqual,
    /// The same.
    Equal,
    /// Not the same.
    NotEqual,
}

/// A value on the stack. Texts stay where they are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Operand {
    /// An integer.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// The constant text of an index.
    Constant(u32),
    /// The text of a field of the record.
    FieldText(u32),
    /// The text of a field that does not stand in the record.
    OuterText(u32),
}
