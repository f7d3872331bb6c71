//! Filter expressions on event records that are read.
//!
//! The byte code is that of the tracer (`src/vestige/expressions`), and so is what it does:
//! `tracer/rules/expression_bind.c` and `expression_run.c` have the same rules. It is *bound*
//! once to each event record class: names become steps to their fields, types are checked,
//! and a class in which an expression can never be true is known before any record is read.
//! Then a stack machine without loops runs at each record. It decodes the fields that it
//! asks for, in the order in which they stand, and nothing behind them.
//!
//! This happens where records are found, as long as it is known where their runs begin: most
//! integers are at a fixed distance from one. Comparisons of these that can make the expression
//! false are done first, and few records are left for the machine.

mod agreement;
mod bind;
mod body_filter;
mod code;
mod fetch;
mod guard;
mod path;
mod pattern;
mod program;
mod step;
mod stream_filter;
mod walk;

pub use body_filter::BodyFilter;
pub use code::{Expression, Instruction, Operation, Value};
pub use stream_filter::{Evaluator, StreamFilter};
