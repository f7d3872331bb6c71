//! Users and groups of threads: what system calls make of them, and what `/proc` says.

use std::fs::File;
use std::io::Read;

use crate::sys::open_below;

/// What nobody knows.
pub const NO_ID: u32 = u32::MAX;
/// In a system call: leave it as it is.
const KEPT: u32 = u32::MAX;
/// Bytes of a `status` that are looked at: users and groups are among the first lines.
const LOOKED_AT: u64 = 4096;

/// What a thread asks for: of its users, or of its groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// setuid(2)
    One(u32),
    /// setreuid(2): real, effective.
    Two([u32; 2]),
    /// setresuid(2): real, effective, saved.
    Three([u32; 3]),
}

impl Asked {
    /// What becomes of the real, effective and saved one, when it is done; by what the kernel does
    /// (`kernel/sys.c`), which tells of no capability.
    #[must_use]
    pub fn done(self, [real, effective, saved]: [u32; 3]) -> [u32; 3] {
        let or = |asked: u32, old: u32| if asked == KEPT { old } else { asked };
        match self {
            Self::Three([one, two, three]) => [or(one, real), or(two, effective), or(three, saved)],
            Self::Two([one, two]) => {
                let now = [or(one, real), or(two, effective)];
                let saved = match (one, two) {
                    (KEPT, KEPT) => saved,
                    (KEPT, _) if real == NO_ID => NO_ID,
                    (KEPT, _) if now[1] == real => saved,
                    _ => now[1],
                };
                [now[0], now[1], saved]
            }
            Self::One(id) => {
                // Whoever may not sets the effective one alone, to one of the two that he has.
                let is_allowed = real != NO_ID && saved != NO_ID && id != real && id != saved;
                let is_same = |old: u32| is_allowed || old == id;
                let or_unknown = |old: u32| if is_same(old) { id } else { NO_ID };
                [or_unknown(real), id, or_unknown(saved)]
            }
        }
    }
}

/// Reads users and groups of a thread: real, effective and saved; nothing: it has ended.
pub fn read(directory: &File, thread: i32) -> Option<[u32; 6]> {
    let file = open_below(directory, &format!("{thread}/status")).ok()?;
    let mut text = Vec::new();
    file.take(LOOKED_AT).read_to_end(&mut text).ok()?;
    // The name of a thread is any bytes.
    let text = String::from_utf8_lossy(&text);
    let [a, b, c] = three(&text, "Uid:")?;
    let [d, e, f] = three(&text, "Gid:")?;
    Some([a, b, c, d, e, f])
}

fn three(text: &str, key: &str) -> Option<[u32; 3]> {
    let line = text.lines().find_map(|one| one.strip_prefix(key))?;
    let mut words = line.split_whitespace().map(|one| one.parse().ok());
    Some([words.next()??, words.next()??, words.next()??])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn what_is_asked_for_is_done_as_the_kernel_does_it() {
        assert_eq!(Asked::Three([7, KEPT, 9]).done([0, 1, 2]), [7, 1, 9]);
        assert_eq!(Asked::Two([7, KEPT]).done([0, 1, 2]), [7, 1, 1]);
        assert_eq!(Asked::Two([KEPT, 7]).done([0, 1, 2]), [0, 7, 7]);
        assert_eq!(Asked::Two([KEPT, 0]).done([0, 1, 2]), [0, 0, 2]);
        assert_eq!(Asked::Two([KEPT, KEPT]).done([0, 1, 2]), [0, 1, 2]);
        assert_eq!(Asked::Two([KEPT, 7]).done([NO_ID, 1, 2]), [NO_ID, 7, NO_ID]);
    }

    #[test]
    fn one_user_is_all_of_who_may_and_the_effective_one_of_others() {
        assert_eq!(Asked::One(33).done([0, 0, 0]), [33, 33, 33]);
        // It is the real one in any case.
        assert_eq!(Asked::One(33).done([33, 0, 0]), [33, 33, NO_ID]);
        // Of a program of user 7 that user 33 has begun, and that goes back to 7.
        assert_eq!(Asked::One(7).done([33, 33, 7]), [NO_ID, 7, 7]);
        assert_eq!(Asked::One(33).done([0, NO_ID, NO_ID]), [NO_ID, 33, NO_ID]);
    }

    #[test]
    fn the_users_of_a_thread_are_read_whatever_it_is_called() {
        let directory = File::open("/proc").unwrap();
        let own = crate::sys::thread_id();
        std::fs::write("/proc/thread-self/comm", b"\xff\nUid: 7").unwrap();
        let owner = std::fs::metadata("/proc/self").unwrap();
        let found = read(&directory, own).unwrap();

        assert_eq!([found[1], found[4]], [owner.uid(), owner.gid()]);
        assert_eq!(read(&directory, i32::MAX), None);
    }
}
