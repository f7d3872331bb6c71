//! What becomes of a function, and why objects are left alone.

/// How the calls of a function are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The compiler left room at its entry.
    Site,
    /// Its first instructions move.
    Moved,
}

impl Method {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Site => "site",
            Self::Moved => "moved",
        }
    }
}

/// Why the calls of a function cannot be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It is a part of another one, which is jumped to.
    ColdPart,
    /// It is not entered by a call: there is no return address.
    NoReturnAddress,
    /// Nothing tells how it is unwound.
    NoUnwinding,
    /// It belongs to the start of programs, or chooses other functions.
    Start,
    /// The tracer calls it while it records.
    UsedByTracer,
    /// It is called again where it has already returned, as `setjmp` is.
    ReturnsTwice,
    /// It looks at its return address.
    ReadsReturnAddress,
    /// Something branches to what would be jumped over.
    BranchIntoEntry,
    /// A loop begins with its first instruction: each round would count as a call.
    LoopAtEntry,
    /// It is shorter than a jump, and what follows is no padding.
    TooShort,
    /// An instruction at its entry cannot be moved.
    NotMovable,
    /// Its bytes are no instructions.
    NotDecoded,
    /// It has no code in the file.
    NoCode,
}

impl Reason {
    /// Whether nobody would miss it: it is a part of another function, or the start of all
    /// programs.
    pub fn is_of_no_function(self) -> bool {
        matches!(self, Self::ColdPart | Self::NoReturnAddress | Self::Start)
    }

    /// The reason in words.
    pub fn text(self) -> &'static str {
        match self {
            Self::ColdPart => "a part of another function, which is jumped to",
            Self::NoReturnAddress => "not entered by a call",
            Self::NoUnwinding => "no unwind information",
            Self::Start => "runs before the program, or chooses other functions",
            Self::UsedByTracer => "called by the tracer itself",
            Self::ReturnsTwice => "returns more than once",
            Self::ReadsReturnAddress => "reads its return address",
            Self::BranchIntoEntry => "a branch leads into its first bytes",
            Self::LoopAtEntry => "a loop begins at its entry",
            Self::TooShort => "shorter than a jump",
            Self::NotMovable => "its first instructions cannot be moved",
            Self::NotDecoded => "its first bytes are no instructions",
            Self::NoCode => "its code is not in the file",
        }
    }
}

/// Why a whole object is left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Another machine, or another width of addresses.
    Machine,
    /// Its notes name no build ID: what is in memory could be another object.
    NoBuildId,
    /// No dynamic linker loads it.
    Static,
    /// Go unwinds its own stacks, and moves them.
    Go,
    /// The dynamic linker writes to its code.
    TextRelocations,
    /// Its functions have hooks already.
    Hooks,
    /// It is a part of the C library, an unwinder, a sanitizer or a tracer.
    Runtime,
}

impl Refusal {
    /// The reason in words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Machine => "is not for x86-64",
            Self::NoBuildId => "has no build ID: link it with --build-id",
            Self::Static => "is linked statically",
            Self::Go => "is a Go program",
            Self::TextRelocations => "has relocations in its code",
            Self::Hooks => "has hooks of its own at its functions",
            Self::Runtime => "is a part of what runs programs",
        }
    }
}
