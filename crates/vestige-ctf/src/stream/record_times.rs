//! Looks for records at some time of a data stream, without reading what is before it.

use std::sync::Arc;

use super::batch::Batch;
use super::data_stream::DataStream;
use super::reader::{Item, StreamReader};
use super::selection::{PacketUse, Selection};

/// The records behind a time, nanoseconds.
pub fn batches_behind(stream: &Arc<DataStream>, time: i64) -> impl Iterator<Item = Batch> {
    let selection = Selection { begin: time.checked_add(1), ..Selection::default() };
    batches(StreamReader::new(Arc::clone(stream), selection))
}

/// The index of the packet with records before a time, nanoseconds, that reaches up to it or
/// beyond.
#[must_use]
pub fn packet_around(stream: &Arc<DataStream>, time: i64) -> Option<usize> {
    let from = Selection { begin: Some(time), ..Selection::default() };
    let is_read = |index: &usize| from.use_of(stream, *index) != PacketUse::Before;
    let index = (0..stream.packets.len()).find(is_read)?;
    let before = Selection { end: time.checked_sub(1), ..Selection::default() };
    let reader = StreamReader::of_packets(Arc::clone(stream), before, index..index + 1);
    let is_there = batches(reader).any(|batch| !batch.records.is_empty());
    is_there.then_some(index)
}

fn batches(mut reader: StreamReader) -> impl Iterator<Item = Batch> {
    std::iter::from_fn(move || reader.next_item()).filter_map(|item| match item {
        Item::Batch(batch) => Some(batch),
        _ => None,
    })
}
