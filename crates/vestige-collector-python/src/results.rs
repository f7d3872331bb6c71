//! What the collector tells.

use pyo3::prelude::*;
use vestige_collector::collector as inner;
use vestige_collector::pass::LiveSlot;
use vestige_collector::progress;
use vestige_collector::recording::Failure;
use vestige_collector::unreached::Unreached;

use crate::errors::os_text;

/// Process, thread, PID namespace, name.
pub type SlotTuple = (u32, u32, u64, String);
/// Process, parent, PID namespace, reason, name.
type UnreachedTuple = (u32, u32, u64, u32, String);
type FailureTuple = (Option<i32>, String, String);

/// A thread that records.
pub fn slot_tuple(slot: &LiveSlot) -> SlotTuple {
    let thread = &slot.identity;
    let name = thread.procname.split(|byte| *byte == 0).next().unwrap_or_default();
    let name = String::from_utf8_lossy(name).into_owned();
    (thread.vpid, thread.vtid, thread.pid_namespace, name)
}

fn unreached_tuple(one: &Unreached) -> UnreachedTuple {
    (one.process, one.parent, one.pid_namespace, one.reason, one.name.clone())
}

fn failure_tuple(failure: &Failure) -> FailureTuple {
    let text = failure.errno.map_or_else(|| failure.text.clone(), |n| os_text(&failure.text, n));
    (failure.errno, text, failure.path.to_string_lossy().into_owned())
}

/// A class whose properties are fields of what it holds.
macro_rules! properties {
    ($class:ident { $($field:ident: $kind:ty,)* } $($more:tt)*) => {
        #[pymethods]
        impl $class {
            $(#[doc = core_doc!($class.$field)]
            #[getter]
            fn $field(&self) -> $kind {
                self.0.$field.clone()
            })*

            #[doc = core_doc!($class.failure)]
            #[getter]
            fn failure(&self) -> Option<FailureTuple> {
                self.0.failure.as_ref().map(failure_tuple)
            }

            $($more)*
        }
    };
}

#[doc = core_doc!(Progress)]
#[pyclass(frozen, module = "vestige.record._collector")]
pub struct Progress(pub progress::Progress);

properties! {
    Progress {
        bytes: u64, packets: u64, lost: u64, lost_packets: u64, unwritten: u64, fullest: u64,
        streams: u64, live: u32, chunks: u32, free_chunks: u32, is_full: bool, is_damaged: bool,
    }
}

#[doc = core_doc!(Outcome)]
#[pyclass(frozen, module = "vestige.record._collector")]
pub struct Outcome(pub inner::Outcome);

properties! {
    Outcome {
        streams: u64, packets: u64, bytes: u64, lost: u64, lost_unplaced: u64,
        lost_unbegun: u64, lost_untold: u64, most_threads: u32,
        overwritten: u64, lost_packets: u64, problems: Vec<String>, more_unreached: u64, is_full: bool,
        is_damaged: bool, is_drained: bool,
    }
    #[doc = core_doc!(Outcome.unreached)]
    #[getter]
    fn unreached(&self) -> Vec<UnreachedTuple> {
        self.0.unreached.iter().map(unreached_tuple).collect()
    }
    #[doc = core_doc!(Outcome.running)]
    #[getter]
    fn running(&self) -> Vec<SlotTuple> {
        self.0.running.iter().map(slot_tuple).collect()
    }
}
