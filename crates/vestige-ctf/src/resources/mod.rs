//! What library calls do to mutexes and to memory, followed event by event.
//!
//! * [`rows`] reads who made a record, when, and some integers of its payload, on all cores;
//! * [`paths`] follows the calls of the program's functions, where they were recorded;
//! * [`fold`] tells a follower of each record in order: the thread, the site, the path;
//! * [`locks`] knows who has which mutex and who waits for it;
//! * [`memory`] knows which blocks of memory there are.
//!
//! What a site is called, and which threads are wanted, the caller knows: both are asked for
//! once, when a place or a thread is seen for the first time.

pub mod fold;
mod in_order;
pub mod locks;
pub mod memory;
mod paths;
pub mod rows;
