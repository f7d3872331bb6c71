//! What is answered.

/// Numbers of outcomes, as LTTng counts its errors.
pub mod code {
    /// It was done.
    pub const OK: u32 = 10;
    /// It was not.
    pub const UNKNOWN: u32 = 11;
}

/// A reply that says only what came of a command.
pub fn status(code: u32) -> [u8; 4] {
    code.to_be_bytes()
}

/// The version of the protocol.
pub fn version(major: u32, minor: u32) -> Vec<u8> {
    [major.to_be_bytes(), minor.to_be_bytes()].concat()
}
