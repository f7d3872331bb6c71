//! What a relay daemon does with bytes: the messages of LTTng's relay protocol, and the files that
//! come of them.
//!
//! `control`, `data` and `index` know bytes only. `store` writes streams below directories that it
//! is given; `server` reads connections that it is given, and answers what needs no judgement.
//! Sessions, names and paths are decided elsewhere: such commands are handed on as they are.

pub mod control;
pub mod data;
pub mod events;
pub mod index;
pub mod memory;
pub mod numbers;
pub mod server;
pub mod store;
pub mod sys;
