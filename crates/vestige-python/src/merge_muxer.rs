//! `MergeMuxer`: merging merges, whoever made them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use vestige_ctf::merge_order::{MergeOrder, Step, StreamKey};

use crate::merge::Merge;
use crate::merge_builder::OwnedBuilder;

/// About how many messages make a merge.
const MERGE_MESSAGES: usize = 32_768;

/// What is merged, and from which merges it comes.
struct Inner {
    order: MergeOrder,
    merges: Vec<Option<Py<Merge>>>,
    ended: usize,
    builder: OwnedBuilder,
}

#[doc = core_doc!(MergeMuxer)]
#[pyclass(frozen, module = "vestige._core")]
pub struct MergeMuxer {
    inner: Mutex<Inner>,
}

impl MergeMuxer {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        // A panic cannot leave it half-changed.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl MergeMuxer {
    #[new]
    fn new(count: usize) -> Self {
        let inner = Inner {
            order: MergeOrder::new(count),
            merges: (0..count).map(|_| None).collect(),
            ended: 0,
            builder: OwnedBuilder::default(),
        };
        Self { inner: Mutex::new(inner) }
    }

    #[doc = core_doc!(MergeMuxer.put)]
    fn put(&self, index: usize, merge: Py<Merge>, keys: Vec<(Vec<u8>, Vec<u8>)>) {
        let keys = keys
            .into_iter()
            .map(|(identity, names)| StreamKey { identity: identity.into(), names: names.into() });
        let mut inner = self.inner();
        inner.order.put(index, &Arc::clone(&merge.get().inner), keys.collect());
        let before = inner.merges.get_mut(index).and_then(|place| place.replace(merge));
        drop(inner);
        // Without the lock: that may end the life of Python objects.
        drop(before);
    }

    #[doc = core_doc!(MergeMuxer.end)]
    fn end(&self, index: usize) {
        let mut inner = self.inner();
        inner.order.end(index);
        inner.ended += 1;
    }

    #[doc = core_doc!(MergeMuxer.needed)]
    #[getter]
    fn needed(&self) -> Vec<usize> {
        self.inner().order.needed().collect()
    }

    #[doc = core_doc!(MergeMuxer.has_ended)]
    #[getter]
    fn has_ended(&self) -> bool {
        let inner = self.inner();
        inner.ended >= inner.merges.len()
    }

    #[doc = core_doc!(MergeMuxer.merge)]
    fn merge(&self, py: Python<'_>) -> PyResult<Merge> {
        let mut inner = self.inner();
        let Inner { order, merges, builder, .. } = &mut *inner;
        while builder.len() < MERGE_MESSAGES {
            let Some((input, step)) = order.next_step() else { break };
            let Some(Some(merge)) = merges.get(input) else { continue };
            match step {
                Step::Event(batch, row, index) => {
                    builder.pass(py, merge.get(), (&batch, row), index)?;
                }
                Step::Notice(index) => builder.pass_notice(py, merge.get(), index)?,
            }
        }
        builder.finish(py)
    }
}
