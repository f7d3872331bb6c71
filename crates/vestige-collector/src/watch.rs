//! What a collector tells those who watch it: how far the recording is, and of which processes.
//!
//! They ask at the socket where programs get their arena. No token is needed, since the kernel
//! says who asks: only the user who records gets an answer, and root. Nothing is done for it
//! while nobody asks. `docs/formats/arena.md` describes the answer.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream;

use crate::arenas::Arenas;
use crate::pass::LiveSlot;
use crate::sys::{self, Peer};

/// What they say in place of a token.
pub const QUESTION: &[u8; 16] = b"vestige-progress";
/// Processes of an answer, which has to have room in the buffer of a socket.
const MOST_PROCESSES: usize = 1000;

/// Whether somebody gets an answer.
pub fn is_allowed(peer: Peer) -> bool {
    peer.user == 0 || peer.user == sys::effective_user()
}

/// Answers who has asked; who does not read it gets none.
pub fn answer(arenas: &Arenas, mut connection: &UnixStream) -> io::Result<()> {
    connection.write_all(&told(arenas))
}

/// How far a recording is: words that end with a zero.
fn told(arenas: &Arenas) -> Vec<u8> {
    let trace = &arenas.trace;
    let progress = arenas.progress();
    let first = arenas.first();
    let geometry = first.arena.geometry();
    let ring = u64::from(geometry.ring_chunks) * u64::from(geometry.chunk_bytes);
    let mut told = b"directory=".to_vec();
    told.extend(trace.files.place().path.as_os_str().as_bytes());
    told.push(0);
    let numbers = [
        ("rotated", u64::from(trace.states.are_kept())),
        ("bytes", progress.bytes),
        ("lost", progress.lost),
        ("lost_packets", progress.lost_packets),
        ("unwritten", progress.unwritten),
        ("fullest", progress.fullest),
        ("ring", ring),
        ("rings", u64::from(progress.live)),
    ];
    for (name, number) in numbers {
        told.extend(format!("{name}={number}\0").bytes());
    }
    for ((namespace, process), name) in processes(&arenas.live_slots()) {
        told.extend(format!("process={process},{namespace},").bytes());
        told.extend(name);
        told.push(0);
    }
    told
}

/// The processes that record, with the name of the thread that is called as its process.
fn processes(threads: &[LiveSlot]) -> BTreeMap<(u64, u32), &[u8]> {
    let mut found = BTreeMap::new();
    for thread in threads {
        let who = &thread.identity;
        let key = (who.pid_namespace, who.vpid);
        if found.len() == MOST_PROCESSES && !found.contains_key(&key) {
            continue;
        }
        let name = who.procname.split(|byte| *byte == 0).next().unwrap_or_default();
        if who.vtid == who.vpid {
            found.insert(key, name);
        } else {
            found.entry(key).or_insert(name);
        }
    }
    found
}
