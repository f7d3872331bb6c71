//! Call stacks rebuilt from the entries and exits of functions, folded into call trees.
//!
//! A recording of ten million calls has some hundred different call paths. So the records
//! are not kept: each thread has a stack of open calls, and each call that ends is added to
//! the node of its path ([`tree`]).
//!
//! * [`scan`] reads kind, time, thread and addresses of each record, on all cores;
//! * [`plain`] and [`plain_fold`] read them one after the other instead, where nothing but
//!   numbers at fixed places has to be read;
//! * [`codes`] knows the functions of interpreters, which the trace describes;
//! * [`thread`] pushes and pops, and decides what an exit ends when it is not the innermost
//!   call, or when records were lost; [`thread_ends`] what is open when nothing more
//!   comes, with what [`alive`] knows;
//! * [`keeper`] keeps what an index of the trace is made of, and [`resume`] begins where that says;
//! * [`marks`] are made of single records, for whoever shows these; [`machines`] knows of which
//!   threads the kernel tells;
//! * [`steps`] has what was noted of each call, for whoever asks for that;
//! * [`turns`] has what the scheduler did to threads, where that is known;
//! * [`fold`] drives both through merges, and stops where process images change; [`results`]
//!   has what came out.
//!
//! What is not known is counted as such: calls without exit, exits without entry, and calls
//! between whose ends records were lost.

mod alive;
mod codes;
pub mod fold;
mod keeper;
mod long_calls;
mod machines;
mod marks;
mod plain;
mod plain_fold;
mod process;
mod results;
mod resume;
mod scan;
mod steps;
mod thread;
mod thread_ends;
pub mod tree;
mod turns;

pub use codes::{Code, CodeName};
pub use fold::{CallFold, CallSite, NewFunction, ThreadChoice};
pub use marks::{Mark, MarkKind};
pub use process::ThreadKey;
pub use results::ThreadSummary;
pub use scan::CallEvents;
pub use steps::{CallStep, Step};
pub use turns::{Shares, State, Turns};
