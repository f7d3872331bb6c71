//! What event records of any kind tell: how many there are, when, and of which threads.
//!
//! * [`fields`] knows where the records of a class tell who made them, and reads numbers and
//!   texts there;
//! * [`who`] is the thread, else the CPU, else the data stream of a record;
//! * [`table`] counts the records of each class and thread, on all cores.

pub(crate) mod fields;
mod table;
mod who;

pub use table::{EventCount, EventRow, EventTable};
pub use who::Who;
