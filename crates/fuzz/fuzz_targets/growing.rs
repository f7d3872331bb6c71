//! Any bytes as what a peer sends of two data streams that grow: packets in any portions, times
//! and ends in between. It must always come to an end, with all records in order.
//!
//! Each step begins with a byte: the data stream, and what comes of it; a packet has its length
//! in two bytes before it.

#![no_main]

use std::sync::{Arc, OnceLock};

use libfuzzer_sys::fuzz_target;
use vestige_ctf::metadata;
use vestige_ctf::model::TraceClass;
use vestige_ctf::muxer::{Merge, Muxer};
use vestige_ctf::stream::{DataFile, DataStream, Selection, TraceIdentity};
use vestige_ctf::text::{Options, Renderer};

const METADATA: &[u8] = include_bytes!("../../../tests/data/hello/ust/uid/0/64-bit/metadata");

/// How many data streams there are.
const STREAMS: usize = 2;

fn trace() -> Arc<TraceClass> {
    static TRACE: OnceLock<Arc<TraceClass>> = OnceLock::new();
    let parse = || Arc::new(metadata::parse(METADATA).expect("embedded metadata"));
    Arc::clone(TRACE.get_or_init(parse))
}

fn take<'a>(data: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, rest) = data.split_at(count.min(data.len()));
    *data = rest;
    taken
}

fn number(data: &mut &[u8]) -> usize {
    take(data, 2).iter().fold(0, |number, &byte| number << 8 | usize::from(byte))
}

fuzz_target!(|data: &[u8]| {
    let (trace, mut data) = (trace(), data);
    let mut muxer = Muxer::new(Vec::new());
    let mut renderer = Renderer::new(Options::default(), Arc::new(|_| 3600));
    let mut streams = Vec::new();
    for index in 0..STREAMS {
        let identity = TraceIdentity::default();
        let stream = Arc::new(DataStream::new(Arc::clone(&trace), 0, Vec::new(), identity));
        streams.push(Arc::clone(&stream));
        // The later one is the first of a tie.
        let ranks: Vec<usize> = (0..=index).rev().collect();
        let boundaries = data.len() % 2 == 0;
        muxer.add(stream, Selection { boundaries, ..Selection::default() }, &ranks);
    }
    while let Some(&step) = take(&mut data, 1).first() {
        let index = usize::from(step) % STREAMS;
        match step / 64 {
            0 | 1 => {
                let length = number(&mut data);
                let packet = Arc::new(take(&mut data, length).to_vec());
                if let Ok(file) = DataFile::open_part(&trace, packet, 0) {
                    let part = streams[index].following(Arc::clone(&trace), vec![Arc::new(file)]);
                    muxer.append(index, Arc::new(part), Selection::default());
                }
            }
            2 => muxer.set_certain(index, number(&mut data) as i64 - 1024),
            _ => muxer.end(index),
        }
        until_waiting(&mut muxer, &mut renderer);
    }
    (0..STREAMS).for_each(|index| muxer.end(index));
    until_waiting(&mut muxer, &mut renderer);
    assert!(muxer.waiting().is_empty(), "all data streams have ended");
    assert!(muxer.next_merge().is_none(), "nothing is left");
});

/// Reads what there is.
fn until_waiting(muxer: &mut Muxer, renderer: &mut Renderer) {
    while let Some(merge) = muxer.next_merge() {
        render(renderer, &merge);
        if !muxer.waiting().is_empty() {
            return;
        }
    }
}

fn render(renderer: &mut Renderer, merge: &Merge) {
    let rendered = renderer.render(merge, 0..merge.runs.len(), 0, &[], &mut |_| true);
    assert_eq!(rendered, Ok(()), "a record that was found could not be rendered");
}
