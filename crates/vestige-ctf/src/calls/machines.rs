//! Which data streams tell of the same boot of a machine: threads have one ID there, in the
//! traces of programs and in that of the kernel.

use std::collections::HashMap;

use crate::model::TraceClass;
use crate::stream::DataStream;

/// What tells the boot of a machine from others, as far as traces have it: the UUID of the
/// clock, and the name of the host.
type Boot = (Option<[u8; 16]>, Option<String>);

/// The machines of traces.
#[derive(Debug, Clone, Default)]
pub struct Machines {
    numbers: HashMap<Boot, u32>,
    /// By process space: the machine, and whether its kernel made the trace.
    spaces: HashMap<u32, (u32, bool)>,
}

impl Machines {
    /// Takes note of a data stream.
    pub fn add(&mut self, stream: &DataStream) {
        let space = stream.identity.process_space;
        if self.spaces.contains_key(&space) {
            return;
        }
        let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(boot_of(stream)).or_insert(next);
        self.spaces.insert(space, (number, is_of_kernel(&stream.trace)));
    }

    /// The machine of a process space.
    pub fn of(&self, space: u32) -> Option<u32> {
        self.spaces.get(&space).map(|(machine, _)| *machine)
    }

    /// The machine whose kernel made the trace that has a process space.
    pub fn of_kernel(&self, space: u32) -> Option<u32> {
        self.spaces.get(&space).filter(|(_, is_of_kernel)| *is_of_kernel).map(|one| one.0)
    }
}

/// Whether the kernel of a machine made a trace.
pub fn is_of_kernel(trace: &TraceClass) -> bool {
    trace.environment_string("domain") == Some("kernel")
}

fn boot_of(stream: &DataStream) -> Boot {
    let trace = &stream.trace;
    let class = trace.stream_classes.get(stream.class);
    let clock = class.and_then(|class| trace.clocks.get(class.clock?));
    let host = trace.environment_string("hostname").map(ToOwned::to_owned);
    (clock.and_then(|clock| clock.uuid), host)
}
