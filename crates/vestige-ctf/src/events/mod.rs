//! What event records of any kind tell: how many there are, when, of which threads, and how
//! long it is between those that begin and those that end something.
//!
//! * [`fields`] knows where the records of a class have who made them, and reads numbers and
//!   texts there;
//! * [`who`] is the thread, else the CPU, else the data stream of a record;
//! * [`scan`] reads the records of a merge on all cores;
//! * [`pairs`] matches beginnings and ends; [`running`] knows which thread runs where;
//! * [`table`] counts the records of each class and thread, and drives the others.

mod count;
mod fields;
mod key;
mod pairs;
mod running;
mod scan;
mod table;
mod who;

pub use count::EventCount;
pub use key::Key;
pub use pairs::{Grouping, PairSpec, PairTimes, Pairs, Reach};
pub use running::Running;
pub use scan::SwitchSpec;
pub use table::{EventRow, EventTable};
pub use who::Who;
