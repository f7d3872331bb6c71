//! Which thread runs on which CPU, and for how long, as records of switches say.

use std::collections::HashMap;

use super::key::Key;

/// How many threads of CPUs are told apart.
const MOST_ROWS: usize = 1 << 18;

/// A CPU: process space and number.
pub type Cpu = (u32, i64);

/// What runs on a CPU.
struct Current {
    thread: i64,
    since: i64,
    stream: u64,
}

/// What a thread ran on a CPU.
#[derive(Default)]
struct Ran {
    time: u64,
    turns: u64,
}

/// Follows switches.
#[derive(Default)]
pub struct Running {
    current: HashMap<Cpu, Current>,
    ran: HashMap<(Cpu, i64), Ran>,
    labels: HashMap<(u32, i64), Key>,
}

impl Running {
    /// Another thread runs on a CPU from now on.
    pub(super) fn switch(
        &mut self,
        cpu: Cpu,
        stream: u64,
        thread: i64,
        time: i64,
        label: Option<Key>,
    ) {
        let now = Current { thread, since: time, stream };
        if let Some(before) = self.current.insert(cpu, now) {
            let key = (cpu, before.thread);
            if self.ran.len() < MOST_ROWS || self.ran.contains_key(&key) {
                let ran = self.ran.entry(key).or_default();
                let duration = u64::try_from(time.saturating_sub(before.since)).unwrap_or(0);
                ran.time = ran.time.saturating_add(duration);
                ran.turns += 1;
            }
        }
        if let Some(label) = label {
            let key = (cpu.0, thread);
            let is_known = self.labels.get(&key) == Some(&label);
            if !is_known && (self.labels.len() < MOST_ROWS || self.labels.contains_key(&key)) {
                self.labels.insert(key, label);
            }
        }
    }

    /// Records of a data stream were lost: nobody knows what runs on its CPU.
    pub(super) fn lose(&mut self, stream: u64) {
        self.current.retain(|_, one| one.stream != stream);
    }

    /// The thread that runs on a CPU.
    pub(super) fn thread(&self, cpu: Cpu) -> Option<i64> {
        self.current.get(&cpu).map(|one| one.thread)
    }

    /// How long each thread ran on each CPU between two switches, nanoseconds, and how many
    /// times; in no order.
    #[must_use]
    pub fn rows(&self) -> Vec<(Cpu, i64, u64, u64)> {
        let row = |(&(cpu, thread), ran): (&(Cpu, i64), &Ran)| (cpu, thread, ran.time, ran.turns);
        self.ran.iter().map(row).collect()
    }

    /// The name of a thread of a process space: the last one it had.
    #[must_use]
    pub fn label(&self, space: u32, thread: i64) -> Option<&Key> {
        self.labels.get(&(space, thread))
    }
}
