//! Full packets of rings that programs of LTTng-UST write.

use pyo3::prelude::*;
use vestige_collector::full_packets::{self as inner, Files, Layout, Ring};
use vestige_collector::packet_follower::Follower;

use crate::errors::exception;

/// Descriptor, bytes, bytes of a sub-buffer, how many, where it says which are full, where they are.
type RingTuple = (i32, u64, u64, u64, u64, u64);
/// Descriptors of ring, data and index (both negative for none), bytes of the data, and that it may
/// still get, the number of the last packet that it has (negative for none).
type FilesTuple = (i32, i32, i32, u64, u64, i64);

fn made_rings(tuples: Vec<RingTuple>) -> PyResult<Vec<Ring>> {
    let made = tuples.into_iter().map(|(file, bytes, subbuffer, count, delivered, data)| {
        Ring::new(file, Layout { bytes, subbuffer, count, delivered, data })
    });
    made.collect::<Result<_, _>>().map_err(|error| exception(&error))
}

fn files(tuples: Vec<FilesTuple>) -> Vec<Files> {
    let made = |(ring, data, index, written, room, last)| {
        let last = u64::try_from(last).ok();
        Files { ring, data, index, written, room, last }
    };
    tuples.into_iter().map(made).collect()
}

#[doc = core_doc!(FullPackets)]
#[pyclass(frozen, module = "vestige.record._collector")]
pub struct FullPackets(Vec<Ring>);

#[pymethods]
impl FullPackets {
    #[new]
    fn new(rings: Vec<RingTuple>) -> PyResult<Self> {
        made_rings(rings).map(Self)
    }

    #[doc = core_doc!(FullPackets.copy)]
    fn copy(&self, py: Python<'_>, places: Vec<FilesTuple>) -> Vec<u64> {
        let mut files = files(places);
        py.detach(|| inner::copy(&self.0, &mut files))
    }
}

#[doc = core_doc!(PacketFollower)]
#[pyclass(frozen, module = "vestige.record._collector")]
pub struct PacketFollower(Follower);

#[pymethods]
impl PacketFollower {
    #[new]
    fn new(rings: Vec<RingTuple>, wakes: i32, wake: i32, left: i32) -> PyResult<Self> {
        let rings = made_rings(rings)?;
        Follower::new(rings, wakes, wake, left).map(Self).map_err(|error| exception(&error))
    }

    #[doc = core_doc!(PacketFollower.hold)]
    fn hold(&self, py: Python<'_>) -> Vec<u64> {
        py.detach(|| self.0.hold())
    }

    #[doc = core_doc!(PacketFollower.go_on)]
    fn go_on(&self, py: Python<'_>, places: Vec<FilesTuple>) {
        let files = files(places);
        py.detach(|| self.0.go_on(files));
    }

    #[doc = core_doc!(PacketFollower.end)]
    fn end(&self, py: Python<'_>) {
        py.detach(|| self.0.end());
    }
}
