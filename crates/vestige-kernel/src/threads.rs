//! What all channels know of threads: whose they are, and which of them are wanted.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use crate::addresses::Addresses;
use crate::contexts::HOST_BYTES;
use crate::groups::ThreadGroups;
use crate::own_threads::OwnThreads;
use crate::state_events::Processes;
use crate::tracking::Tracked;

/// What is known of threads, and of the machine.
#[derive(Default)]
pub struct Threads {
    pub groups: ThreadGroups,
    /// Which addresses of the kernel's code are in records.
    pub addresses: Addresses,
    machine: OnceLock<Machine>,
    tracked: RwLock<Arc<Tracked>>,
    own: RwLock<Arc<OwnThreads>>,
}

/// What is told once.
pub struct Machine {
    /// Its name.
    pub host: [u8; HOST_BYTES],
    /// Whose threads there are, if anybody asks for it.
    pub processes: Option<Processes>,
}

const NO_HOST: [u8; HOST_BYTES] = [0; HOST_BYTES];

impl Threads {
    /// Learns what is told once; what is told after that is not.
    pub fn follow(&self, machine: Machine) {
        let _ = self.machine.set(machine);
    }

    /// Whose threads there are, if that is followed.
    #[must_use]
    pub fn processes(&self) -> Option<&Processes> {
        self.machine.get()?.processes.as_ref()
    }

    /// The name of the machine.
    #[must_use]
    pub fn host(&self) -> &[u8; HOST_BYTES] {
        self.machine.get().map_or(&NO_HOST, |one| &one.host)
    }

    /// Takes what is known of threads up to now, once a page was read.
    pub fn refresh(&self) {
        if let Some(processes) = self.processes() {
            // One that cannot be read tells nothing more.
            let _ = processes.refresh();
        }
    }

    /// The recorder's own.
    #[must_use]
    pub fn own(&self) -> Arc<OwnThreads> {
        Arc::clone(&self.own.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Leaves out more of the recorder's own, each from a value of the clock on.
    pub fn leave_out(&self, threads: impl IntoIterator<Item = (i32, u64)>) {
        let mut own = self.own.write().unwrap_or_else(PoisonError::into_inner);
        let own = Arc::make_mut(&mut own);
        for (thread, since) in threads {
            own.add(thread, since);
        }
    }

    /// Leaves out no more those that have ended, from a value of the clock on.
    pub fn end_own(&self, threads: impl IntoIterator<Item = i32>, until: u64) {
        let mut own = self.own.write().unwrap_or_else(PoisonError::into_inner);
        let own = Arc::make_mut(&mut own);
        for thread in threads {
            own.end(thread, until);
        }
    }

    /// Of whom records are wanted.
    #[must_use]
    pub fn tracked(&self) -> Arc<Tracked> {
        Arc::clone(&self.tracked.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Wants records of others from now on.
    pub fn track(&self, tracked: Tracked) {
        *self.tracked.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(tracked);
    }
}
