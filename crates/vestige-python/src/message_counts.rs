//! `MessageCounter`: how many messages of each kind merges hold.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use vestige_ctf::message_counts::{self, MessageCounts};

use crate::merge::Merge;

#[doc = core_doc!(MessageCounter)]
#[pyclass(frozen, module = "vestige._core")]
pub struct MessageCounter {
    inner: Mutex<message_counts::MessageCounter>,
}

impl MessageCounter {
    fn lock(&self) -> MutexGuard<'_, message_counts::MessageCounter> {
        // A panic cannot leave the counts half-changed in a way that matters.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl MessageCounter {
    #[new]
    fn new(step: u64) -> Self {
        Self { inner: Mutex::new(message_counts::MessageCounter::new(step)) }
    }

    #[doc = core_doc!(MessageCounter.add)]
    fn add(&self, py: Python<'_>, merge: &Merge) -> Vec<[u64; 8]> {
        py.detach(|| {
            let mut told = Vec::new();
            self.lock().add(&merge.inner, &mut |counts: &MessageCounts| told.push(counts.all()));
            told
        })
    }

    #[doc = core_doc!(MessageCounter.finish)]
    fn finish(&self) -> (Vec<[u64; 8]>, Option<[u64; 8]>) {
        let mut told = Vec::new();
        let last = self.lock().finish(&mut |counts: &MessageCounts| told.push(counts.all()));
        (told, last.map(|counts| counts.all()))
    }

    #[doc = core_doc!(MessageCounter.counts)]
    #[getter]
    fn counts(&self) -> [u64; 8] {
        self.lock().counts().all()
    }
}
