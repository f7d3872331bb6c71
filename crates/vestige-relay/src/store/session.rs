//! What is known of a session where its bytes come in.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::memory::Account;
use crate::store::stream::Stream;

/// The streams of a session, and whether more can come for them.
#[derive(Debug, Default)]
pub(super) struct SessionStreams {
    /// Whose memory they use.
    pub account: Option<Arc<Account>>,
    /// By their numbers.
    pub streams: BTreeMap<u64, Arc<Stream>>,
    /// Data connections that are there.
    pub data_connections: usize,
    /// Whether its control connection has ended.
    pub is_gone: bool,
}
