//! Whether a process is there of which only its number in its own PID namespace is known.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const OWN_NAMESPACE: &str = "/proc/self/ns/pid";
/// In `proc_pid_status(5)`: its numbers, from the outermost namespace to its own.
const NUMBERS: &str = "NSpid:";

/// Whether a process is there, or has ended and nobody has waited for it.
///
/// A namespace of 0 is taken for ours. Processes of others are looked for among all, some 10 us
/// each; those that may not be looked at are not there.
pub fn is_there(vpid: u32, pid_namespace: u64) -> bool {
    let own = fs::metadata(OWN_NAMESPACE).map_or(0, |found| found.ino());
    if pid_namespace == 0 || pid_namespace == own {
        return Path::new("/proc").join(vpid.to_string()).exists();
    }
    let Ok(all) = fs::read_dir("/proc") else { return false };
    all.flatten().any(|one| is_in_namespace(&one.path(), vpid, pid_namespace))
}

fn is_in_namespace(process: &Path, vpid: u32, pid_namespace: u64) -> bool {
    fs::metadata(process.join("ns/pid")).is_ok_and(|found| found.ino() == pid_namespace)
        && fs::read_to_string(process.join("status")).is_ok_and(|text| {
            let numbers = text.lines().find_map(|line| line.strip_prefix(NUMBERS));
            numbers.and_then(|line| line.split_whitespace().last()) == Some(&vpid.to_string())
        })
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
        assert!(is_there(here, own) && is_there(here, 0));
        assert!(!is_there(here, own + 1) && !is_there(u32::MAX, own));
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
            assert!(is_there(1, namespace) && !is_there(2, namespace));
        }
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
