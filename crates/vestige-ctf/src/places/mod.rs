//! Who ran where: the process, the thread and the code address of event records.
//!
//! * [`origin`] knows where the records of a stream class have them, and reads them: for
//!   places here, and for [`crate::calls`];
//! * [`kinds`] knows which records have a place: all with the contexts for it, or those of
//!   function calls;
//! * [`kernel`] knows where those of the kernel have theirs;
//! * [`scan`] reads the records of a merge on all cores;
//! * [`stacks`] knows the function that an exit leaves whose record does not tell;
//! * [`known`] gives each address of a process image a number;
//! * [`column`] makes columns of these, and stops where images change;
//! * [`recorded_stacks`] gives call stacks numbers that records of the kernel have;
//! * [`stack_fields`] reads one;
//! * [`user_stacks`] knows where they have those of programs;
//! * [`thread_names`] knows what threads are called, where packets or records tell;
//! * [`value`] is what is told of a place.

mod column;
mod found;
mod kernel;
mod kinds;
mod known;
pub(crate) mod origin;
mod recorded_stacks;
pub(crate) mod scan;
mod stack_fields;
mod stacks;
mod thread_names;
mod user_stacks;
mod value;

pub use column::{Pending, PlaceColumn, StateRecord, OF_KERNEL, USER};
pub use kernel::KERNEL;
pub use kinds::{has_places, uses_call_stacks};
pub use known::NO_PLACE;
pub use stack_fields::Frame;
pub use thread_names::{NamedThread, ThreadNames};
pub use user_stacks::{has_user_stacks, stack_text, USER_STACKS};
pub use value::{place_class, place_texts, place_value};
