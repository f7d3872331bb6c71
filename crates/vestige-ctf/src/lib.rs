//! Reading and writing of Common Trace Format 1.8 and 2 traces: metadata, packets, event records, text.
//!
//! The path of the bytes, and the module that owns each step:
//!
//! * [`metadata`] turns the `metadata` file into a [`model::TraceClass`];
//! * [`stream`] reads the packets of a data stream into [`stream::Batch`]es: event records
//!   that are still encoded, each with its offset, its class and its time;
//! * [`muxer`] merges the batches of many data streams by time;
//! * [`merge_order`] merges merges;
//! * [`messages`] goes through what the muxer gives, with beginnings and ends of packets;
//! * [`merge_builder`] makes merges of event records that are not read but made;
//! * [`record`] decodes the fields of one record, for whoever wants them;
//! * [`scope`] says which field a name means, and which ones tell thread, process and CPU;
//! * [`places`] finds the code addresses in records, for whoever resolves them;
//! * [`calls`] folds entries and exits of functions into call trees;
//! * [`events`] counts the records of each class and thread;
//! * [`intervals`] keeps what is wanted of calls as intervals of time, while they are folded;
//! * [`resources`] follows what library calls do to mutexes and to memory;
//! * [`filter`] runs filter expressions on records;
//! * [`text`] renders records without building values in between;
//! * [`trimmer`] cuts merges to a range of time, where no reader can;
//! * [`details`] renders all that a trace holds, with beginnings and ends of packets;
//! * [`columns`] decodes records into columns;
//! * [`viewers`] writes what other programs show;
//! * [`encode`] writes event records, packets and data streams;
//! * [`copy`] writes records that were read, mostly as they are, into a trace of its own.
//!
//! The crate knows no paths and no Python. Bytes come through [`source::ReadAt`], and
//! nothing here may panic on them, whatever they are.

pub mod bits;
pub mod calls;
pub mod columns;
pub mod copy;
pub mod counts;
pub mod derived;
pub mod details;
pub mod encode;
pub mod error;
pub mod events;
pub mod filter;
pub mod intervals;
pub mod kernel_symbols;
mod keyed_hash;
pub mod merge_builder;
pub mod merge_filter;
pub mod merge_order;
pub mod message_counts;
pub mod messages;
pub mod metadata;
pub mod model;
pub mod muxer;
pub mod places;
pub mod record;
pub mod repair;
pub mod resources;
pub mod scope;
pub mod source;
pub mod stream;
pub mod text;
pub mod trimmer;
pub mod viewers;

pub use error::{CtfError, ErrorKind, Result};
