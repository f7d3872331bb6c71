//! Any bytes as pages of the kernel's ring buffers, and as events whose records are anything. Nothing
//! may panic, and what comes out are whole packets.
//!
//! The bytes are cut into pages; each event has operations of all kinds. They are also taken for pages
//! that tell of threads, and for the text of the kernel's symbols.

#![no_main]

use std::collections::HashMap;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use vestige_kernel::kallsyms::functions_at;
use vestige_kernel::packet::{Facts, Header};
use vestige_kernel::plan::{EventPlan, NewThread, Operation, Plans, Tells};
use vestige_kernel::stacks::{Side, StackPlan};
use vestige_kernel::state_events::{Processes, StateEvent};
use vestige_kernel::stats::Counts;
use vestige_kernel::stream::{Shared, Stream};
use vestige_kernel::texts::TextsPlan;
use vestige_kernel::threads::Threads;

const PAGE: usize = 4096;

fn operations() -> [Vec<Operation>; 4] {
    [
        vec![Operation::Copy { at: 4, bytes: 12 }, Operation::Subtract { at: 8, value: 100 }],
        vec![
            Operation::Text { at: 8, is_relative: false },
            Operation::Text { at: 12, is_relative: true },
            Operation::Text { at: 28, is_relative: false },
        ],
        vec![
            Operation::Sequence { at: 8, is_relative: false, element: 8 },
            Operation::Sequence { at: 12, is_relative: true, element: 0 },
            Operation::RequestBits { at: 8, bytes: 8 },
        ],
        vec![
            Operation::Address { at: 8 },
            Operation::KernelStack,
            Operation::UserStack,
            Operation::Groups { parent: 8, child: 12 },
            Operation::Zeros { bytes: 3 },
            Operation::Counter { place: 1, number: Some(7) },
            Operation::Line { at: 16 },
        ],
    ]
}

/// What becomes of threads, by the same bytes; and what was at some time.
fn follow_threads(data: &[u8]) {
    let events = HashMap::from([
        (0, StateEvent::Born { thread: 8, name: 12, flags: 28 }),
        (1, StateEvent::Renamed { thread: 8, name: 12 }),
        (2, StateEvent::Executed),
        (3, StateEvent::IdsAsked { is_group: false, arguments: [8, 12, 16], count: 2 }),
        (4, StateEvent::IdsChanged { result: 8 }),
        (5, StateEvent::SpacesChanged { result: 8 }),
        (6, StateEvent::Ended { is_last: Some(8) }),
        (7, StateEvent::IdsAsked { is_group: true, arguments: [8, 12, 16], count: 3 }),
        (8, StateEvent::SpacesAsked { flags: Some(8), is_new: true }),
    ]);
    let processes = Processes::new(events, Vec::new(), PAGE);
    for page in data.chunks(PAGE) {
        for (thread, time) in processes.add_page(page) {
            let (_, until) = processes.facts(thread, time);
            assert!(until >= time);
        }
    }
}

/// The bytes as names of functions: these are in order, and none is in another.
fn name_functions(data: &[u8]) {
    let addresses: Vec<u64> = (0..64).map(|bit| 1 << bit).collect();
    let modules = [("loop".to_owned(), 1 << 40, 1 << 12)];
    let found = functions_at(data, &modules, &addresses);
    assert!(found.iter().all(|one| one.begin < one.end));
    assert!(found.windows(2).all(|two| matches!(two, [a, b] if a.end <= b.begin)));
}

fuzz_target!(|data: &[u8]| {
    let events = operations().into_iter().zip(0_u16..).map(|(operations, id)| {
        let tells = match id {
            0 => Some(Tells::NewThread(NewThread { thread: 8, flags: 12 })),
            1 => Some(Tells::GetsTexts(TextsPlan { at: 24, count: 3 })),
            _ => None,
        };
        (id, EventPlan { class: Some(u32::from(id)), operations, tells })
    });
    // Of every second input, records wait for call stacks.
    let stack = |side, count| Tells::Stack(StackPlan { side, count, addresses: 12 });
    let stacks = [(3, stack(Side::Kernel, Some(8))), (4, stack(Side::User, None))];
    let are_recorded = data.first().is_some_and(|one| one % 2 == 0);
    let stacks = stacks.into_iter().filter(|_| are_recorded);
    let told = stacks.chain([(5, Tells::Text { at: 8, token: 0 })]);
    let events = events.chain(told.map(|(id, tells)| {
        (id, EventPlan { class: None, operations: Vec::new(), tells: Some(tells) })
    }));
    // The thread of the seeds is one of the recorder's own, in some inputs.
    let others = (data.len() % 3 == 0).then(|| HashMap::from([(1, Some(8)), (2, None)]));
    let threads = Threads::default();
    threads.leave_out([(7, 0)]);
    threads.addresses.note_from(1 << 32);
    let shared = Shared::new(Plans::new(events).with_others(others), Arc::new(threads));
    let header = if data.len() % 2 == 0 { Header::Compact } else { Header::Large };
    let facts = Facts { uuid: [1; 16], stream: 0, cpu: 0, header };
    let mut stream = Stream::new(Arc::new(shared), facts, 0, Vec::new(), Vec::new());
    for page in data.chunks(PAGE) {
        stream.add_page(page);
    }
    let text = String::from_utf8_lossy(data);
    let (outcome, output) = stream.end(u64::MAX, Counts::read(&text));
    assert_eq!(output.len() as u64, outcome.bytes);
    assert_eq!(output.len() % PAGE, 0);
    assert!(outcome.packets > 0);
    follow_threads(data);
    name_functions(data);
});
