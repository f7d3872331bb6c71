//! In which lines the scopes of a trace class are defined, for messages about them.

use std::collections::HashMap;

/// Where the scopes of a stream and of its events are defined.
#[derive(Debug, Default)]
pub struct StreamLines {
    /// Packet context, event header and event context; the `stream` block where one is absent.
    pub scopes: [u32; 3],
    /// Context and payload of each event, in the order of its classes.
    pub events: Vec<[u32; 2]>,
}

/// Where all scopes are defined.
#[derive(Debug, Default)]
pub struct ScopeLines {
    /// The packet header.
    pub packet_header: u32,
    /// The streams by their ID.
    pub streams: HashMap<u64, StreamLines>,
}

impl ScopeLines {
    /// The line of a scope: of a stream class, of one of its events, and by its index in the
    /// order of decoding.
    #[must_use]
    pub fn of(&self, stream: u64, event: usize, scope: usize) -> Option<u32> {
        let stream = self.streams.get(&stream);
        let line = match scope {
            0 => Some(self.packet_header),
            1..=3 => stream.and_then(|lines| lines.scopes.get(scope - 1)).copied(),
            _ => {
                let event = stream.and_then(|lines| lines.events.get(event));
                event.and_then(|lines| lines.get(scope.wrapping_sub(4))).copied()
            }
        };
        line.filter(|line| *line > 0)
    }
}
