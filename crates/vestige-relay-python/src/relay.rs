//! The threads.

use std::ffi::OsString;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyList;
use vestige_relay::index::IndexVersion;
use vestige_relay::server::Server;
use vestige_relay::store as inner;

use crate::events::event_tuple;
use crate::stream::{exception, Chunk, Directory, Stream};

#[doc = core_doc!(Relay)]
#[pyclass(frozen, module = "vestige.relay._relay")]
pub struct Relay(Server);

#[pymethods]
impl Relay {
    #[new]
    fn new(threads: usize, most_files: usize, most_memory: usize) -> PyResult<Self> {
        let started = Server::start(threads, most_files, most_memory);
        started.map(Self).map_err(|error| exception(&error))
    }

    #[doc = core_doc!(Relay.fileno)]
    fn fileno(&self) -> i32 {
        self.0.events().as_raw_fd()
    }

    #[doc = core_doc!(Relay.take)]
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for event in self.0.events().take() {
            if let vestige_relay::events::Event::Closed { connection, .. } = &event {
                self.0.forget(*connection);
            }
            list.append(event_tuple(py, event)?)?;
        }
        Ok(list)
    }

    #[doc = core_doc!(Relay.add_control)]
    fn add_control(&self, descriptor: i32, peer: &str) -> PyResult<u64> {
        self.0.add(descriptor, Some(peer)).map_err(|error| exception(&error))
    }

    #[doc = core_doc!(Relay.add_data)]
    fn add_data(&self, descriptor: i32) -> PyResult<u64> {
        self.0.add(descriptor, None).map_err(|error| exception(&error))
    }

    #[doc = core_doc!(Relay.idle)]
    fn idle(&self) -> Vec<(u64, f64)> {
        let seconds = |(number, since): (u64, Duration)| (number, since.as_secs_f64());
        self.0.idle().into_iter().map(seconds).collect()
    }

    #[doc = core_doc!(Relay.is_running)]
    fn is_running(&self) -> bool {
        self.0.is_running()
    }

    #[doc = core_doc!(Relay.memory)]
    #[getter]
    fn memory(&self) -> usize {
        self.0.store().memory().used()
    }

    #[doc = core_doc!(Relay.reply)]
    #[pyo3(signature = (connection, reply, session = None))]
    fn reply(&self, connection: u64, reply: Vec<u8>, session: Option<u64>) {
        self.0.reply(connection, reply, session);
    }

    #[doc = core_doc!(Relay.end_connection)]
    fn end_connection(&self, connection: u64, problem: String) {
        self.0.drop_connection(connection, problem);
    }

    #[doc = core_doc!(Relay.new_chunk)]
    fn new_chunk(&self, number: u64) -> Chunk {
        Chunk(Arc::new(inner::Chunk::new(number, Arc::clone(self.0.events()))))
    }

    #[doc = core_doc!(Relay.add_stream)]
    #[pyo3(signature = (
        session, directory, channel, *, is_metadata, index_minor, file_bytes, file_count, most_metadata
    ))]
    // As many as a stream has properties.
    #[allow(clippy::too_many_arguments)]
    fn add_stream(
        &self,
        py: Python<'_>,
        session: u64,
        directory: &Directory,
        channel: Vec<u8>,
        is_metadata: bool,
        index_minor: Option<u32>,
        file_bytes: u64,
        file_count: u64,
        most_metadata: u64,
    ) -> PyResult<Stream> {
        let layout = inner::Layout {
            session,
            channel: OsString::from_vec(channel).into(),
            is_metadata,
            index: index_minor.map(IndexVersion::of_protocol),
            file_bytes,
            file_count,
            most_metadata,
        };
        let added = py.detach(|| self.0.store().add(layout, &directory.0));
        added.map(Stream).map_err(|error| exception(&error))
    }

    #[doc = core_doc!(Relay.stop)]
    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.0.stop());
    }
}
