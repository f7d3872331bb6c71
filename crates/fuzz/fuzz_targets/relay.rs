//! Any bytes as what a peer of a relay daemon sends on both of its connections, in any portions.
//! Nothing may panic, and an index never leads behind the end of its data file.
//!
//! Each portion begins with a byte that says on which connection it comes, and two with its length.

#![no_main]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use libfuzzer_sys::fuzz_target;
use vestige_relay::events::{Decision, Events};
use vestige_relay::index::IndexVersion;
use vestige_relay::memory::Memory;
use vestige_relay::server::{ControlConnection, DataConnection};
use vestige_relay::store::{Chunk, Directory, Layout, Pool, Store};

const SESSION: u64 = 1;

/// A directory in memory for this process.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| PathBuf::from(format!("/dev/shm/relay-fuzz-{}", std::process::id())))
}

fn directory(name: &str, events: &Arc<Events>) -> Arc<Directory> {
    let path = folder().join(name);
    fs::create_dir_all(&path).expect("memory");
    let chunk = Arc::new(Chunk::new(1, Arc::clone(events)));
    Arc::new(Directory::new(File::open(path).expect("memory"), chunk))
}

fn layout(channel: &str, files: u64) -> Layout {
    Layout {
        session: SESSION,
        channel: channel.into(),
        is_metadata: channel == "metadata",
        index: Some(IndexVersion::of_protocol(11)),
        file_bytes: files * 256,
        file_count: files,
        most_metadata: 4096,
    }
}

/// The version of the protocol, 2.11.
fn agreement() -> Vec<u8> {
    let mut bytes = vec![0; 8];
    bytes.extend(8_u64.to_be_bytes());
    bytes.extend([0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 11]);
    bytes
}

fn check(path: &Path) {
    let index = path.join("index");
    for entry in fs::read_dir(&index).into_iter().flatten().flatten() {
        let whole = fs::read(entry.path()).expect("memory");
        let name = entry.file_name().into_string().expect("a name");
        let data = path.join(name.trim_end_matches(".idx"));
        let end = fs::metadata(data).map_or(0, |file| file.len());
        for entry in whole.get(16..).unwrap_or_default().chunks_exact(72) {
            let offset = u64::from_be_bytes(entry[..8].try_into().expect("eight bytes"));
            assert!(offset <= end, "a packet behind the end of its file");
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let events = Arc::new(Events::new().expect("a descriptor"));
    // Little, so that it is used up at times.
    let memory = Memory::new(256 << 10);
    let account = memory.account("peer");
    let store = Store::new(Arc::new(Pool::new(2)), Arc::clone(&events), memory);
    store.begin_session(SESSION, Arc::clone(&account));
    let first = directory("0", &events);
    let layouts = [layout("a", 0), layout("b", 2), layout("metadata", 0)];
    for one in layouts {
        store.add(one, &first).expect("memory");
    }
    let mut control = ControlConnection::new(&account).expect("memory");
    let mut packets = DataConnection::default();
    control.feed(&agreement()).expect("memory");
    assert!(matches!(control.run(&store), Ok(None)));
    control.set_session(SESSION);
    let mut rest = data;
    let mut turn = 0;
    while let [kind, high, low, bytes @ ..] = rest {
        let length = usize::from(u16::from_be_bytes([*high, *low])).min(bytes.len());
        let (now, after) = bytes.split_at(length);
        rest = after;
        if kind % 2 == 0 {
            if packets.feed(&store, now).is_err() {
                break;
            }
            continue;
        }
        if control.feed(now).is_err() {
            break;
        }
        while let Ok(Some(decision)) = control.run(&store) {
            turn += 1;
            if let Decision::RotateStreams(rotation) = decision {
                let next = rotation.chunk.map(|_| directory(&turn.to_string(), &events));
                for (number, at) in rotation.streams {
                    if let Some(stream) = store.get_of(number, SESSION) {
                        let _ = stream.rotate(at, next.clone());
                    }
                }
            }
        }
        control.output.clear();
    }
    packets.end(&store);
    store.end_session(SESSION);
    assert!(store.of_session(SESSION).is_empty(), "a stream goes on without connections");
    drop((control, first));
    assert_eq!(store.memory().used(), 0, "memory that is never given back");
    for chunk in 0..=turn {
        check(&folder().join(chunk.to_string()));
    }
    let _ = fs::remove_dir_all(folder());
});
