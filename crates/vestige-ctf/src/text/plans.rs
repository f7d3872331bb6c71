//! Plans that are made when they are first needed, and kept.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::model::{EventClass, TraceClass};
use crate::stream::DataStream;

/// What is the same for all text of a data stream, for each kind of data stream.
///
/// The trace classes are kept, so that no other one can have the address of one that is gone.
pub struct PlanTable<P>(HashMap<PlanKey, (Arc<TraceClass>, Arc<P>)>);

/// The address of a trace class, the index of a stream class in it, the name of the trace.
type PlanKey = (usize, usize, String);

impl<P> Default for PlanTable<P> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<P> PlanTable<P> {
    /// The plan of a data stream, which is made unless it is there.
    pub fn of(&mut self, stream: &DataStream, make: impl FnOnce() -> P) -> Arc<P> {
        let identity = Arc::as_ptr(&stream.trace) as usize;
        let key = (identity, stream.class, stream.identity.name.clone());
        let kept = || (Arc::clone(&stream.trace), Arc::new(make()));
        Arc::clone(&self.0.entry(key).or_insert_with(kept).1)
    }
}

/// The plans of the event record classes of a stream class: few classes of a kernel are seen.
pub struct EventPlans<E>(Vec<OnceLock<E>>);

impl<E> EventPlans<E> {
    /// Plans of the event record classes of a data stream, none of which is made.
    #[must_use]
    pub fn new(stream: &DataStream) -> Self {
        let class = stream.trace.stream_classes.get(stream.class);
        let count = class.map_or(0, |class| class.event_classes.len());
        Self((0..count).map(|_| OnceLock::new()).collect())
    }

    /// The plan of an event record class by its index.
    #[inline]
    pub fn get(
        &self,
        stream: &DataStream,
        index: u32,
        make: impl FnOnce(&EventClass) -> E,
    ) -> Option<&E> {
        let place = self.0.get(index as usize)?;
        match place.get() {
            Some(plan) => Some(plan),
            None => {
                let class = stream.trace.stream_classes.get(stream.class)?;
                let event = class.event_classes.get(index as usize)?;
                Some(place.get_or_init(|| make(event)))
            }
        }
    }
}
