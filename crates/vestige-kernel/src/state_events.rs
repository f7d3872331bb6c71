//! Events that tell what becomes of threads, from buffers of their own.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::facts::{Change, Facts, NAME_BYTES};
use crate::ids::{self, Asked};
use crate::page::{Page, Record};
use crate::record_header::{self, bytes as array, number};
use crate::spaces::SpacesRead;
use crate::thread_table::ThreadTable;

/// What an event tells, and where; places are those of the kernel's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateEvent {
    Born {
        thread: usize,
        name: usize,
        flags: usize,
    },
    Renamed {
        thread: usize,
        name: usize,
    },
    Executed,
    /// A system call for other users or groups begins; where its arguments are.
    IdsAsked {
        is_group: bool,
        arguments: [usize; 3],
        count: usize,
    },
    /// It ends; where its result is.
    IdsChanged {
        result: usize,
    },
    /// A system call for other namespaces begins; where their flags are, and whether they are made.
    SpacesAsked {
        flags: Option<usize>,
        is_new: bool,
    },
    /// It ends; where its result is.
    SpacesChanged {
        result: usize,
    },
    /// Where it has no word for it, the end of the first thread is that of the process.
    Ended {
        is_last: Option<usize>,
    },
}

/// All threads, and the buffers that tell of them.
pub struct Processes {
    events: HashMap<u16, StateEvent>,
    /// Gives pages, and does not wait; with room for one.
    files: Mutex<(Vec<File>, Vec<u8>)>,
    table: Mutex<ThreadTable>,
    /// Where users of threads are read that begin a program; `None`: nobody asks for them.
    proc: Mutex<Option<File>>,
    /// How often the table has changed.
    generation: AtomicU64,
    /// How often events were lost.
    lost: AtomicU64,
}

impl Processes {
    /// The buffers of what happens to threads, with the size of their pages.
    #[must_use]
    pub fn new(events: HashMap<u16, StateEvent>, files: Vec<File>, page: usize) -> Self {
        Self {
            events,
            files: Mutex::new((files, vec![0; page])),
            table: Mutex::default(),
            proc: Mutex::default(),
            generation: AtomicU64::new(0),
            lost: AtomicU64::new(0),
        }
    }

    /// Takes what was read of threads at times.
    pub fn know(&self, threads: Vec<(i32, u64, Facts)>) {
        let mut table = self.table();
        for (thread, time, facts) in threads {
            table.add(thread, time, Change::Read(Box::new(facts)));
        }
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Takes what was told up to now. Whoever has read a record calls it before asking for what was
    /// before that record.
    ///
    /// # Errors
    ///
    /// A buffer cannot be read.
    pub fn refresh(&self) -> io::Result<()> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = self.take_all(&mut files)?;
        self.look_at(begun, &mut files)
    }

    /// Reads users of those who have begun a program, if anybody asks for these.
    fn look_at(&self, begun: Vec<(i32, u64)>, files: &mut (Vec<File>, Vec<u8>)) -> io::Result<()> {
        let proc = self.proc.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(proc) = proc.as_ref().filter(|_| !begun.is_empty()) else { return Ok(()) };
        let of_one = |(thread, time)| Some((thread, time, ids::read(proc, thread)?));
        let read: Vec<_> = begun.into_iter().filter_map(of_one).collect();
        // What they have done before they were read is told by now. Who begins meanwhile is not
        // read: this would have no end.
        self.take_all(files)?;
        let mut table = self.table();
        for (thread, time, ids) in read {
            table.read_ids(thread, time, ids);
        }
        Ok(())
    }

    /// Takes what was told up to now; returns who has begun a program, and when.
    fn take_all(&self, files: &mut (Vec<File>, Vec<u8>)) -> io::Result<Vec<(i32, u64)>> {
        let (files, room) = files;
        let mut begun = Vec::new();
        for file in files {
            while let Some(bytes) = next_page(file, room)? {
                begun.extend(self.add_page(room.get(..bytes).unwrap_or_default()));
            }
        }
        Ok(begun)
    }

    /// Reads users and groups of who begins a program from now on, in a directory `/proc`.
    pub fn read_ids(&self, proc: File) {
        *self.proc.lock().unwrap_or_else(PoisonError::into_inner) = Some(proc);
    }

    /// Takes namespaces that were read of threads, each between two times.
    ///
    /// # Errors
    ///
    /// A buffer cannot be read.
    pub fn know_spaces(&self, all: Vec<(i32, (u64, u64), SpacesRead)>) -> io::Result<()> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = self.take_all(&mut files)?;
        let mut table = self.table();
        for (thread, times, read) in all {
            table.read_spaces(thread, times, read);
        }
        drop(table);
        self.generation.fetch_add(1, Ordering::Release);
        self.look_at(begun, &mut files)
    }

    /// Takes a page of these events; returns who has begun a program, and when.
    pub fn add_page(&self, bytes: &[u8]) -> Vec<(i32, u64)> {
        let mut page = Page::new(bytes);
        let mut table = self.table();
        if page.lost().is_some() {
            table.clear();
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        let (mut ended, mut begun) = (Vec::new(), Vec::new());
        for record in page.by_ref() {
            if let Some((thread, change)) = self.change(&record) {
                match change {
                    Change::Ended { is_last: true } => ended.push((thread, record.time)),
                    Change::Executed => begun.push((thread, record.time)),
                    _ => {}
                }
                table.add(thread, record.time, change);
            }
        }
        table.settle(&ended);
        self.generation.fetch_add(1, Ordering::Release);
        begun
    }

    fn change(&self, record: &Record<'_>) -> Option<(i32, Change)> {
        let body = record.body;
        let event = self.events.get(&record_header::event(body)?)?;
        let current = record_header::thread(body)?;
        Some(match *event {
            StateEvent::Born { thread, name, flags } => {
                let flags = u64::from_le_bytes(array(body, flags)?);
                let name = array(body, name)?;
                (number(body, thread)?, Change::Born { by: current, flags, name })
            }
            StateEvent::Renamed { thread, name } => {
                (number(body, thread)?, Change::Renamed(array::<NAME_BYTES>(body, name)?))
            }
            StateEvent::Executed => (current, Change::Executed),
            StateEvent::IdsAsked { is_group, arguments, count } => {
                // What is in 64 bits there has 32 bits for the kernel, too.
                let [one, two, three] = arguments.map(|at| array(body, at).map(u32::from_le_bytes));
                let asked = match count {
                    1 => Asked::One(one?),
                    2 => Asked::Two([one?, two?]),
                    _ => Asked::Three([one?, two?, three?]),
                };
                (current, Change::IdsAsked { is_group, asked })
            }
            StateEvent::IdsChanged { result } => {
                let is_done = i64::from_le_bytes(array(body, result)?) == 0;
                (current, Change::IdsChanged { is_done })
            }
            StateEvent::SpacesAsked { flags, is_new } => {
                let said = flags.map_or(Some(0), |at| array(body, at).map(u64::from_le_bytes))?;
                // Who wants to be in some that are there need not say of which kind.
                let flags = if said == 0 && !is_new { u64::MAX } else { said };
                (current, Change::SpacesAsked { flags, is_new })
            }
            StateEvent::SpacesChanged { result } => {
                let is_done = i64::from_le_bytes(array(body, result)?) == 0;
                (current, Change::SpacesChanged { is_done })
            }
            StateEvent::Ended { is_last } => {
                let said = is_last.map_or(Some(false), |at| body.get(at).map(|one| *one != 0));
                (current, Change::Ended { is_last: said? })
            }
        })
    }

    /// How often the table has changed; what was asked for before may be otherwise by now.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// How often events of threads were lost: nothing was known then.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// What is known of a thread at a time, and until when.
    #[must_use]
    pub fn facts(&self, thread: i32, time: u64) -> (Facts, u64) {
        let table = self.table();
        (table.facts(thread, time), table.until(thread, time))
    }

    fn table(&self) -> MutexGuard<'_, ThreadTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads a page; `None`: there is none now.
fn next_page(file: &mut File, room: &mut [u8]) -> io::Result<Option<usize>> {
    loop {
        return match file.read(room) {
            Ok(0) => Ok(None),
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
    }
}
