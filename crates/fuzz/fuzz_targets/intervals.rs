//! Reading any bytes as an index of intervals must not panic, nor may asking for all of it; and
//! what is read is written as it was.

#![no_main]

use libfuzzer_sys::fuzz_target;
use vestige_ctf::calls::{CallEvents, CallFold};
use vestige_ctf::intervals::IntervalIndex;

fuzz_target!(|data: &[u8]| {
    let Some(index) = IntervalIndex::from_bytes(data) else {
        return;
    };
    for level in 0..3 {
        let _ = index.blocks(level, i64::MIN, i64::MAX);
    }
    for range in [(0, i64::MAX), (i64::MAX, i64::MAX), (0, 1 << 40), (i64::MIN, 0)] {
        let (mut fold, _) = CallFold::resume(CallEvents::default(), &index, range);
        fold.keep_all_calls();
        let open = fold.open_threads();
        fold.add_going_on(open);
        fold.finish();
        let _ = fold.take_calls();
        let _ = (fold.threads(), fold.nodes());
    }
    let read = IntervalIndex::from_bytes(&index.to_bytes());
    assert!(read.is_some_and(|read| read.facts == index.facts));
});
