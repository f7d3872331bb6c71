//! What is kept of calls as intervals of time, while they are folded.
//!
//! Each costs the same for every call, and nothing where nobody asked for it; none of them
//! grows with the number of calls.
//!
//! * [`histogram`] says how the durations of the calls of a function are distributed;
//! * [`longest`] has the longest calls of each function;
//! * [`durations`] is both;
//! * [`pyramid`] has calls as [`blocks`] of a timeline, at several levels of detail;
//! * [`grouped`] has blocks as a page in a browser takes them;
//! * [`sinks`] says which of these are wanted;
//! * [`checkpoints`] and [`addresses`] say what a reading that begins anywhere must know;
//! * [`index_file`] is all of it as the bytes of a file, made of numbers in few bytes
//!   ([`packing`]), of which blocks may stay where they are ([`packed_bytes`]).

pub mod addresses;
pub mod blocks;
pub mod checkpoints;
pub mod columns;
pub mod durations;
pub mod function_ids;
pub mod grouped;
pub mod histogram;
pub mod index_file;
pub mod longest;
pub mod packed_bytes;
pub mod packing;
pub mod pyramid;
pub mod sinks;
#[cfg(test)]
mod testing;

pub use blocks::Block;
pub use checkpoints::CheckPoints;
pub use durations::{Durations, FunctionDurations};
pub use index_file::IntervalIndex;
pub use longest::LongCall;
pub use packed_bytes::Stored;
pub use pyramid::{Levels, Pyramid};
pub use sinks::{Call, Calls, Sinks, NO_ENTRY};
