//! Connections, on threads of their own.

mod control;
mod data;
mod listener;
mod pace;
mod worker;

pub use control::ControlConnection;
pub use data::DataConnection;
pub use listener::Server;
