//! What each record tells besides its fields: the process that runs, and in which state.

use crate::facts::Facts;
use crate::record_header::{counts, flags, INTERRUPTS_OFF, NEED_RESCHEDULE};

/// Bytes of the name of a machine with its zero, as LTTng has it.
pub const HOST_BYTES: usize = 65;
/// What an unknown priority is: no priority.
pub const NO_PRIORITY: i32 = i32::MIN;
/// What the kernel has in addition to LTTng's priorities, and to its own nice values.
const FIRST_PRIORITY: i32 = 100;
const FIRST_NICE: i32 = 120;

/// A context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    Process,
    Parent,
    /// Process, thread and parent in the namespace of the process.
    Inner(usize),
    Name,
    Priority,
    Nice,
    Host,
    Interruptible,
    Preemptible,
    /// Whether a system call may be preempted where it begins and ends: older kernels count
    /// their tracer's own lock.
    PreemptibleCall,
    NeedReschedule,
    Migratable,
    Cpu,
    /// Users and groups: real, effective, saved.
    Id(usize),
    /// The same as the process sees them.
    InnerId(usize),
    Namespace(usize),
}

const IDS: [&str; 6] = ["uid", "euid", "suid", "gid", "egid", "sgid"];
const INNER_IDS: [&str; 6] = ["vuid", "veuid", "vsuid", "vgid", "vegid", "vsgid"];
const INNER: [&str; 3] = ["vpid", "vtid", "vppid"];
const NAMESPACES: [&str; 8] =
    ["cgroup_ns", "ipc_ns", "mnt_ns", "net_ns", "pid_ns", "time_ns", "user_ns", "uts_ns"];

impl Context {
    /// The context of a name of LTTng's.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let place = |names: &[&str]| names.iter().position(|one| *one == name);
        Some(match name {
            "pid" => Self::Process,
            "ppid" => Self::Parent,
            "procname" => Self::Name,
            "prio" => Self::Priority,
            "nice" => Self::Nice,
            "hostname" => Self::Host,
            "interruptible" => Self::Interruptible,
            "preemptible" => Self::Preemptible,
            "preemptible-call" => Self::PreemptibleCall,
            "need_reschedule" => Self::NeedReschedule,
            "migratable" => Self::Migratable,
            "cpu_id" => Self::Cpu,
            _ => {
                let ids = place(&IDS).map(Self::Id);
                let inner_ids = place(&INNER_IDS).map(Self::InnerId);
                let spaces = place(&NAMESPACES).map(Self::Namespace);
                return ids.or(inner_ids).or(spaces).or(place(&INNER).map(Self::Inner));
            }
        })
    }

    /// Whether it is of a process, which the kernel's record does not tell.
    #[must_use]
    pub fn is_of_process(self) -> bool {
        matches!(
            self,
            Self::Process
                | Self::Parent
                | Self::Inner(_)
                | Self::Name
                | Self::Id(_)
                | Self::InnerId(_)
                | Self::Namespace(_)
        )
    }
}

/// What contexts are made of.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    pub record: &'a [u8],
    pub cpu: u32,
    pub host: &'a [u8; HOST_BYTES],
    /// The kernel's priority of the thread, if it is known.
    pub priority: Option<i32>,
    pub facts: &'a Facts,
}

impl Seen<'_> {
    /// Appends a context; `None` if the record is too short to have flags.
    pub fn push(&self, context: Context, out: &mut Vec<u8>) -> Option<()> {
        let (flags, counts) = (flags(self.record)?, counts(self.record)?);
        let facts = self.facts;
        match context {
            Context::Process => out.extend_from_slice(&facts.process.to_le_bytes()),
            Context::Parent => out.extend_from_slice(&facts.parent.to_le_bytes()),
            Context::Inner(which) => out.extend_from_slice(&facts.inner.get(which)?.to_le_bytes()),
            Context::Name => out.extend_from_slice(&facts.name),
            Context::Priority => out.extend_from_slice(&self.less(FIRST_PRIORITY)),
            Context::Nice => out.extend_from_slice(&self.nice()),
            Context::Host => out.extend_from_slice(self.host),
            Context::Interruptible => out.push(u8::from(flags & INTERRUPTS_OFF == 0)),
            Context::Preemptible => {
                out.push(u8::from(counts & 0xf == 0 && flags & INTERRUPTS_OFF == 0));
            }
            Context::PreemptibleCall => out.push(1),
            Context::NeedReschedule => out.push(u8::from(flags & NEED_RESCHEDULE != 0)),
            Context::Migratable => out.push(u8::from(counts >> 4 == 0)),
            Context::Cpu => out.extend_from_slice(&self.cpu.to_le_bytes()),
            Context::Id(which) => out.extend_from_slice(&facts.ids.get(which)?.to_le_bytes()),
            Context::InnerId(which) => out.extend_from_slice(&facts.inner_id(which).to_le_bytes()),
            Context::Namespace(which) => {
                out.extend_from_slice(&facts.spaces.get(which)?.to_le_bytes());
            }
        }
        Some(())
    }

    fn less(&self, first: i32) -> [u8; 4] {
        let known = self.priority.map_or(NO_PRIORITY, |one| one.wrapping_sub(first));
        known.to_le_bytes()
    }

    /// The nice value, which real-time priorities hide.
    fn nice(&self) -> [u8; 4] {
        if self.priority.is_some_and(|one| one < FIRST_PRIORITY) {
            return NO_PRIORITY.to_le_bytes();
        }
        self.less(FIRST_NICE)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn pushed(names: &[&str], record: &[u8], priority: Option<i32>) -> Option<Vec<u8>> {
        let contexts: Vec<_> = names.iter().map(|one| Context::from_name(one).unwrap()).collect();
        let mut host = [0; HOST_BYTES];
        host[..2].copy_from_slice(b"me");
        let facts = Facts { process: 7, ids: [1, 2, 3, 4, 5, 6], ..Facts::default() };
        let seen = Seen { record, cpu: 3, host: &host, priority, facts: &facts };
        let mut out = Vec::new();
        contexts.iter().try_for_each(|one| seen.push(*one, &mut out)).map(|()| out)
    }

    #[test]
    fn the_header_tells_the_state() {
        let names = ["interruptible", "preemptible", "need_reschedule", "migratable"];

        assert_eq!(pushed(&names, &[0, 0, 0, 0], None).unwrap(), [1, 1, 0, 1]);
        assert_eq!(pushed(&names, &[0, 0, 5, 0x11], None).unwrap(), [0, 0, 1, 0]);
        assert_eq!(pushed(&names, &[0, 0, 4, 0x20], None).unwrap(), [1, 1, 1, 0]);
        assert_eq!(pushed(&["preemptible-call"], &[0, 0, 0, 1], None).unwrap(), [1]);
        assert_eq!(pushed(&names, &[0, 0, 0], None), None);
    }

    #[test]
    fn priorities_are_lttngs_or_unknown() {
        let two = |priority| {
            let bytes = pushed(&["prio", "nice"], &[0; 8], priority).unwrap();
            let of = |at: usize| i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
            (of(0), of(4))
        };

        assert_eq!(two(Some(120)), (20, 0));
        assert_eq!(two(Some(98)), (-2, NO_PRIORITY));
        assert_eq!(two(None), (NO_PRIORITY, NO_PRIORITY));
    }

    #[test]
    fn contexts_stand_in_the_order_that_is_asked_for() {
        let bytes = pushed(&["cpu_id", "pid", "egid"], &[0; 8], None).unwrap();

        assert_eq!(bytes, [3, 0, 0, 0, 7, 0, 0, 0, 5, 0, 0, 0]);
        assert_eq!(pushed(&["hostname"], &[0; 8], None).unwrap()[..3], *b"me\0");
        assert_eq!(Context::from_name("perf:cpu:cycles"), None);
    }
}
