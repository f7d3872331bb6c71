//! Namespaces of threads: which ones flags are of, and what was read of them.

/// How many kinds there are.
pub const SPACES: usize = 8;
/// A namespace that nobody knows.
pub const UNKNOWN: u32 = 0;
/// The user namespace of the machine (`PROC_USER_INIT_INO`).
pub const FIRST_USER_SPACE: u32 = 0xefff_fffd;
/// Places in an array of all kinds.
pub const PID_SPACE: usize = 4;
pub const TIME_SPACE: usize = 5;
pub const USER_SPACE: usize = 6;
/// By place: cgroup, ipc, mnt, net, pid, time, user, uts (`linux/sched.h`).
const FLAGS: [u64; SPACES] = [
    0x0200_0000,
    0x0800_0000,
    0x0002_0000,
    0x4000_0000,
    0x2000_0000,
    0x0000_0080,
    0x1000_0000,
    0x0400_0000,
];

/// What was read of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpacesRead {
    pub spaces: [u32; SPACES],
    /// Process and thread in their namespace, if that is not the machine's.
    pub inner: Option<[i32; 2]>,
}

/// The flag of a kind of namespaces, as clone(2) and its like have it; 0: there is no such kind.
#[must_use]
pub const fn flag(place: usize) -> u64 {
    if place < SPACES {
        #[allow(clippy::indexing_slicing)]
        return FLAGS[place];
    }
    0
}

/// Lets nobody know the namespaces of some flags.
pub fn forget(spaces: &mut [u32; SPACES], flags: u64) {
    for (space, flag) in spaces.iter_mut().zip(FLAGS) {
        if flags & flag != 0 {
            *space = UNKNOWN;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_of_the_flags_are_forgotten() {
        let mut spaces = [1, 2, 3, 4, 5, 6, 7, 8];
        forget(&mut spaces, flag(2) | flag(TIME_SPACE) | 0x100);

        assert_eq!(spaces, [1, 2, 0, 4, 5, 0, 7, 8]);
        assert_eq!((flag(PID_SPACE), flag(SPACES)), (0x2000_0000, 0));
    }
}
