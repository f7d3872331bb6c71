//! Plans for the entries of functions: how a jump to a recorder takes their place.
//!
//! A plan is made from an ELF object alone and applied by a tracer in the process, which
//! needs no disassembler and decides nothing: see [`Plan`]. Each function of an object is
//! either planned, by a [`Method`], or left alone for a [`Reason`]; some objects are left
//! alone as a whole, for a [`Refusal`].
//!
//! The rules are those without which programs crash or count wrongly: what is jumped over
//! must be no target of a branch, the return address must be on top of the stack, and code
//! that moves must do at its new place what it did at its old one. All input is taken as
//! hostile, as in `vestige-symbols`, which reads it.

mod agreement;
mod branches;
mod code;
mod entry;
mod functions;
mod moved;
mod object;
mod plan;
mod reason;
mod sites;
mod unwind;

pub use plan::{choose, Choice, Plan, PlannedFunction};
pub use reason::{Method, Reason, Refusal};
