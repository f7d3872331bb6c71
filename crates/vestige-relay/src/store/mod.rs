//! Streams and their files.

mod directory;
mod follower;
mod parts;
mod pool;
mod rotation;
mod session;
mod stream;
mod streams;
mod written;

pub use directory::{Chunk, Directory};
pub use follower::Follower;
pub use pool::Pool;
pub use stream::{Layout, PacketEnd, Stream, StreamProgress};
pub use streams::Store;
