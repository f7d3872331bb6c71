//! From the pages of the kernel's ring buffers to packets of CTF in LTTng's layout.
//!
//! `page` reads a page, `plan` says what becomes of an event record, `packet` lays records out, and
//! `collect` does this for each CPU from descriptors that it is given. Nothing here opens a path, but
//! more files are made in directories that are open. No page makes it panic: what events there are and
//! what they are called was decided before.
//! `rights` has what a process does about its own before and after it opens these.

pub mod addresses;
pub mod bpf;
pub mod collect;
pub mod contexts;
pub mod counters;
pub mod cpu;
pub mod facts;
pub mod groups;
pub mod ids;
pub mod kallsyms;
pub mod kept;
pub mod making;
pub mod memory;
pub mod memory_fields;
pub mod output;
pub mod own_threads;
pub mod packet;
pub mod page;
pub mod perf_events;
pub mod plan;
pub mod record_header;
pub mod request_bits;
pub mod rights;
pub mod spaces;
pub mod spool;
pub mod stacks;
pub mod state_events;
pub mod stats;
pub mod stream;
pub mod sys;
pub mod texts;
pub mod thread_table;
pub mod threads;
pub mod tracking;
