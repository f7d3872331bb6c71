//! The control protocol: commands of session daemons and consumers, and replies to them.

mod command;
mod header;
mod reply;

pub use command::{AddStream, Command, CreateSession, RotateStreams};
pub use header::{Header, HEADER_BYTES, LARGEST_PAYLOAD};
pub use reply::{code, status, version};

/// The protocol that this relay speaks; older minor versions are understood.
pub const MAJOR: u32 = 2;
/// As above.
pub const MINOR: u32 = 13;
