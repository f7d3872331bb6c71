//! What is known of a data stream beside what is read of it.

/// What is known of a data stream beside what is read of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamFacts {
    /// Its ID.
    pub id: u64,
    /// Its name.
    pub name: Option<String>,
    /// The name of its trace.
    pub trace_name: Option<String>,
    /// The data streams of its trace: ID, and ID of the stream class.
    pub trace_streams: Vec<(u64, u64)>,
    /// For each clock class whether it counts from the Unix epoch.
    pub epoch_clocks: Vec<bool>,
}

impl StreamFacts {
    pub(super) fn is_epoch(&self, clock: usize) -> bool {
        self.epoch_clocks.get(clock).copied().unwrap_or(false)
    }
}
