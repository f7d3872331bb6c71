//! Which processes are there of which only the numbers in their own PID namespaces are known.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const OWN_NAMESPACE: &str = "/proc/self/ns/pid";
/// In `proc_pid_status(5)`: its numbers, from the outermost namespace to its own.
const NUMBERS: &str = "NSpid:";

/// The number of a process in its own PID namespace, and that namespace.
pub type Numbers = (u32, u64);

/// Those of some processes that are there, or have ended and nobody has waited for them.
///
/// A namespace of 0 is taken for ours. Where there are processes of others, all that there are
/// are looked through once, some 10 us each; those that may not be looked at are not there.
pub fn present(wanted: &HashSet<Numbers>) -> HashSet<Numbers> {
    let own = own_namespace();
    let is_own = |one: &Numbers| one.1 == 0 || one.1 == own;
    let is_there = |one: &Numbers| Path::new("/proc").join(one.0.to_string()).exists();
    let mut found: HashSet<Numbers> =
        wanted.iter().copied().filter(is_own).filter(is_there).collect();
    if !wanted.iter().all(is_own) {
        let all = fs::read_dir("/proc").into_iter().flatten().flatten();
        let others = all.filter_map(|one| numbers_of(&one.path()));
        found.extend(others.filter(|one| wanted.contains(one)));
    }
    found
}

/// The PID namespace of this process; 0 where it cannot be asked for.
#[must_use]
pub fn own_namespace() -> u64 {
    fs::metadata(OWN_NAMESPACE).map_or(0, |found| found.ino())
}

fn numbers_of(process: &Path) -> Option<Numbers> {
    let namespace = fs::metadata(process.join("ns/pid")).ok()?.ino();
    let status = fs::read_to_string(process.join("status")).ok()?;
    let numbers = status.lines().find_map(|line| line.strip_prefix(NUMBERS))?;
    Some((numbers.split_whitespace().last()?.parse().ok()?, namespace))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_is_known_by_its_namespace() {
        let own = fs::metadata(OWN_NAMESPACE).unwrap().ino();
        let here = std::process::id();
        let all = [(here, own), (here, 0), (here, own + 1), (u32::MAX, own)];
        assert_eq!(present(&HashSet::from(all)), HashSet::from([all[0], all[1]]));
    }

    #[test]
    fn processes_of_other_namespaces_are_found() {
        let mut command = Command::new("unshare");
        let words = ["--user", "--map-root-user", "--pid", "--kill-child", "sh", "-c"];
        let told = command.args(words).arg("echo; read end").stdin(Stdio::piped());
        let mut child = told.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut out, &mut line).unwrap();
        if line.is_empty() {
            eprintln!("not tried: a PID namespace cannot be made here");
        } else {
            let inner = format!("/proc/{}/ns/pid_for_children", child.id());
            let namespace = fs::metadata(inner).unwrap().ino();
            let all = [(1, namespace), (2, namespace)];
            assert_eq!(present(&HashSet::from(all)), HashSet::from([all[0]]));
        }
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
