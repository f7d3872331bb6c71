//! Connections, on threads of their own.

mod control;
mod data;
mod listener;
mod worker;

pub use listener::Server;
