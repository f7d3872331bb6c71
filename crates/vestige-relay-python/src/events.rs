//! Events as tuples.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use vestige_relay::control::{AddStream, CreateSession};
use vestige_relay::events::{Decision, Event};

/// What, of which connection, stream or trace chunk, the version of the protocol, the rest.
pub type EventTuple<'py> = (&'static str, u64, u32, Bound<'py, PyTuple>);

/// An event as a tuple.
pub fn event_tuple<'py>(py: Python<'py>, event: Event) -> PyResult<EventTuple<'py>> {
    let none = PyTuple::empty(py);
    Ok(match event {
        Event::Asked { connection, minor, decision } => {
            let (name, members) = decision_tuple(py, decision)?;
            (name, connection, minor, members)
        }
        Event::Closed { connection, problem } => {
            ("closed", connection, 0, (problem,).into_pyobject(py)?)
        }
        Event::StreamFull { stream } => ("stream-full", stream, 0, none),
        Event::StreamEnded { stream } => ("stream-ended", stream, 0, none),
        Event::ChunkLeft { chunk } => ("chunk-left", chunk, 0, none),
    })
}

fn decision_tuple<'py>(
    py: Python<'py>,
    decision: Decision,
) -> PyResult<(&'static str, Bound<'py, PyTuple>)> {
    Ok(match decision {
        Decision::CreateSession(session) => ("create-session", session_tuple(py, &session)?),
        Decision::AddStream(AddStream { channel, path, file_bytes, file_count }) => {
            let (channel, path) = (PyBytes::new(py, &channel), PyBytes::new(py, &path));
            ("add-stream", (channel, path, file_bytes, file_count).into_pyobject(py)?)
        }
        Decision::StreamsSent => ("streams-sent", PyTuple::empty(py)),
        Decision::RotateStreams(rotation) => {
            ("rotate-streams", (rotation.chunk, rotation.streams).into_pyobject(py)?)
        }
        Decision::CreateChunk { chunk, time, name } => {
            let name = name.map(|name| PyBytes::new(py, &name));
            ("create-chunk", (chunk, time, name).into_pyobject(py)?)
        }
        Decision::CloseChunk { chunk, time, action } => {
            ("close-chunk", (chunk, time, action).into_pyobject(py)?)
        }
        Decision::ChunkExists { chunk } => ("chunk-exists", (chunk,).into_pyobject(py)?),
        Decision::Configuration { flags } => ("configuration", (flags,).into_pyobject(py)?),
    })
}

fn session_tuple<'py>(py: Python<'py>, session: &CreateSession) -> PyResult<Bound<'py, PyTuple>> {
    let names = [&session.session_name, &session.host_name, &session.base_path];
    let [name, host, path] = names.map(|name| PyBytes::new(py, name));
    let daemon = session.daemon.map(|daemon| PyBytes::new(py, &daemon));
    let members = (
        name,
        host,
        path,
        session.live_timer,
        session.is_snapshot,
        session.is_dated,
        daemon,
        session.number,
        session.creation_time,
        session.chunk,
    );
    members.into_pyobject(py)
}
