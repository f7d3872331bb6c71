//! The context of a packet that begins or ends between events.

use std::sync::Arc;

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use vestige_ctf::muxer::{self, Notice};
use vestige_ctf::record::build;
use vestige_ctf::stream::Packet;

use super::selection_builder::SelectionBuilder;
use crate::errors::exception;
use crate::event_view::builder;
use crate::merge::Merge;

#[doc = core_doc!(packet_of_notice)]
#[pyfunction]
pub fn packet_of_notice<'py>(
    py: Python<'py>,
    merge: &Bound<'py, Merge>,
    index: usize,
) -> PyResult<(usize, Option<Bound<'py, PyAny>>)> {
    let merge = &merge.get().inner;
    let (rank, packet) =
        find(merge, index).ok_or_else(|| PyIndexError::new_err("the notice is about no packet"))?;
    let number = Arc::as_ptr(packet) as usize;
    let stream = merge.streams.get(rank);
    let class = stream.and_then(|one| one.trace.stream_classes.get(one.class));
    let Some(class) = class.and_then(|class| class.packet_context.as_ref()) else {
        return Ok((number, None));
    };
    let mut builder = SelectionBuilder(builder(py)?);
    let mut state = packet.state();
    match build(class, &mut packet.context_reader(), &mut state, &mut builder) {
        Ok(values) => Ok((number, Some(values?))),
        Err(error) => Err(exception(py, "TraceFormatError", &error.to_string(), None, None)),
    }
}

fn find(merge: &muxer::Merge, index: usize) -> Option<(usize, &Arc<Packet>)> {
    match merge.notices.get(index)? {
        (rank, _, Notice::Boundary(boundary)) => Some((*rank, boundary.packet()?)),
        _ => None,
    }
}
