//! How many event records of each class there are, and when: without decoding their fields.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::TraceClass;
use crate::muxer::Merge;

/// The event records of one data stream by class.
struct StreamCounts {
    trace: Arc<TraceClass>,
    class: usize,
    classes: Vec<u64>,
}

/// Counts the event records of merges.
#[derive(Default)]
pub struct Counts {
    /// By the number of the data stream with its classes.
    streams: HashMap<u64, StreamCounts>,
    span: Option<(i64, i64)>,
}

impl Counts {
    /// Counts the event records of a merge.
    pub fn add(&mut self, merge: &Merge) {
        for run in &merge.runs {
            let Some((batch, records)) = merge.run(run) else { continue };
            let stream = &batch.stream;
            let counts = self.streams.entry(stream.classes()).or_insert_with(|| {
                let classes = batch.stream_class().map_or(0, |class| class.event_classes.len());
                let (trace, classes) = (Arc::clone(&stream.trace), vec![0; classes]);
                StreamCounts { trace, class: stream.class, classes }
            });
            for record in records {
                if let Some(count) = counts.classes.get_mut(record.class as usize) {
                    *count += 1;
                }
            }
            if let (true, [first, .., last] | [first @ last]) = (stream.has_clock(), records) {
                let (first, last) = (batch.nanoseconds(first), batch.nanoseconds(last));
                let (begin, end) = self.span.unwrap_or((first, last));
                self.span = Some((begin.min(first), end.max(last)));
            }
        }
    }

    /// The number of event records by the name of their class, sorted by name.
    #[must_use]
    pub fn by_name(&self) -> Vec<(Option<&str>, u64)> {
        let mut names: HashMap<Option<&str>, u64> = HashMap::new();
        for StreamCounts { trace, class, classes } in self.streams.values() {
            let Some(class) = trace.stream_classes.get(*class) else { continue };
            for (event, count) in class.event_classes.iter().zip(classes) {
                if *count > 0 {
                    *names.entry(event.name.as_deref()).or_default() += count;
                }
            }
        }
        let mut sorted: Vec<_> = names.into_iter().collect();
        sorted.sort_unstable();
        sorted
    }

    /// The earliest and the latest time, nanoseconds from the origin of the clock.
    #[must_use]
    pub fn time_span(&self) -> Option<(i64, i64)> {
        self.span
    }
}
