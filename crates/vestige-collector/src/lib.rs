//! The collector of a recording: takes full packets out of memory that programs share, and
//! writes the files of the trace.
//!
//! Traced programs write to an *arena*, and open no file. Each thread has a *slot* there, with
//! a ring of *chunks*; the collector notes in a *ledger* what it has done for a slot. See
//! `docs/formats/arena.md`.

pub mod abandoned;
pub mod account;
pub mod accounts;
pub mod adopt;
pub mod agreement;
pub mod append;
pub mod arena;
pub mod arenas;
pub mod budget;
pub mod class_text;
pub mod classes;
pub mod collector;
pub mod copy;
pub mod cut;
pub mod drain;
pub mod fault;
pub mod file_error;
pub mod files;
pub mod fill;
pub mod full_packets;
pub mod geometry;
pub mod indexes;
pub mod inherited;
pub mod kept;
pub mod layout;
pub mod leader;
pub mod life;
pub mod live;
pub mod loaded;
pub mod loaded_state;
pub mod looks;
pub mod mapping;
pub mod overwriting;
pub mod owner;
pub mod packet;
pub mod packet_follower;
pub mod pass;
pub mod pool;
pub mod presence;
pub mod process_maps;
pub mod progress;
pub mod recording;
pub mod recovery;
pub mod register;
pub mod requests;
pub mod rollover;
pub mod server;
pub mod snapshot;
pub mod state;
pub mod streams;
pub mod sys;
pub mod timers;
pub mod trace;
pub mod unreached;
pub mod views;
pub mod watch;
pub mod word;
