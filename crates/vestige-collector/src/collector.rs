//! A collector: its arenas, its threads, and what becomes of a recording.

use std::io::{self, Write as _};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::arena::Plan;
use crate::arenas::Arenas;
use crate::drain::Reach;
use crate::files::{Files, Write};
use crate::inherited::{Entrance, Inherited};
use crate::leader::{Leader, Signals};
use crate::loaded::Loaded;
use crate::loaded_state::{Dump, Told};
use crate::owner::Place;
use crate::pass::LiveSlot;
use crate::progress::Progress;
use crate::recording::{Failure, Limits, Recording};
use crate::requests::{Request, Requests};
use crate::server::{self, Secret, Server};
use crate::snapshot::{Snapshot, Taken};
use crate::sys;
use crate::trace::Trace;
use crate::unreached::Unreached;

/// Between attempts to write what a disk refuses, at the end.
const RETRY: Duration = Duration::from_millis(20);

/// What a recording holds.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub streams: u64,
    pub packets: u64,
    pub bytes: u64,
    /// Event records that were lost and counted.
    pub lost: u64,
    /// Of those: the ones that no data stream tells.
    pub lost_unplaced: u64,
    /// And those of threads that never had a packet.
    pub lost_unbegun: u64,
    /// And those that no packet tells yet: a collector that takes over counts them again.
    pub lost_untold: u64,
    pub overwritten: u64,
    /// Packets that rings have given up for newer ones.
    pub lost_packets: u64,
    pub problems: Vec<String>,
    /// Programs that are not recorded, as was told when they were started.
    pub unreached: Vec<Unreached>,
    /// How many more there were.
    pub more_unreached: u64,
    /// Whether the size limit was reached.
    pub is_full: bool,
    /// Whether programs damaged an arena: records may be lost that nobody has counted.
    pub is_damaged: bool,
    /// The highest slot of a thread: some hundred more than there were at one time.
    pub most_threads: u32,
    /// Threads that may go on.
    pub running: Vec<LiveSlot>,
    /// Whether nothing is left in the arena, which is removed then.
    pub is_drained: bool,
    pub failure: Option<Failure>,
}

impl Outcome {
    /// What is known of a recording now.
    pub fn of(trace: &Trace, unplaced: u64, is_drained: bool, running: Vec<LiveSlot>) -> Self {
        let tallies = &trace.tallies;
        let unreached = trace.unreached().clone();
        Self {
            streams: tallies.streams.load(Ordering::Relaxed),
            packets: tallies.packets.load(Ordering::Relaxed),
            bytes: tallies.bytes.load(Ordering::Relaxed),
            lost: tallies.lost.load(Ordering::Relaxed).saturating_add(unplaced),
            lost_unplaced: unplaced,
            lost_untold: 0,
            lost_unbegun: tallies.lost_unbegun.load(Ordering::Relaxed),
            overwritten: trace.budget().overwritten(),
            lost_packets: tallies.lost_packets.load(Ordering::Relaxed),
            problems: trace.problems(),
            unreached: unreached.kept,
            more_unreached: unreached.more,
            is_full: trace.was_full(),
            is_damaged: trace.was_damaged(),
            most_threads: 0,
            running,
            is_drained,
            failure: trace.failure(),
        }
    }

    /// Says so if a program took memory of an arena away.
    pub fn add_damage(&mut self, recording: &Recording) {
        if recording.arena.guard().is_damaged() {
            let path = recording.arena.path().display();
            self.is_damaged = true;
            self.problems.push(format!("{path}: a program took memory of the arena away"));
        }
    }
}

/// The threads of a collector that runs.
struct Threads {
    leader: JoinHandle<()>,
    server: JoinHandle<()>,
    /// Written to when the server is to end.
    end: UnixStream,
}

/// Takes full packets out of arenas, until they are closed.
pub struct Collector {
    arenas: Arc<Arenas>,
    signals: Arc<Signals>,
    secret: Secret,
    /// Until the threads have it; none where there can be no socket.
    server: Mutex<Option<Server>>,
    has_socket: bool,
    inherited: Mutex<Option<Inherited>>,
    requests: Mutex<Option<Arc<Requests>>>,
    threads: Mutex<Option<Threads>>,
    process: u32,
    is_closed: AtomicBool,
}

impl Collector {
    /// Makes an arena for the trace in a directory.
    pub fn new(
        place: impl Into<Place>,
        shared_memory: &Path,
        plan: &Plan,
        limits: Limits,
        write: Box<Write>,
    ) -> io::Result<Self> {
        let secret = Secret::new()?;
        let arenas = Arenas::make(place.into(), shared_memory, plan, limits, write)?;
        for one in arenas.all() {
            one.arena.set_socket(secret.bytes());
        }
        Ok(Self::of(arenas, secret))
    }

    fn of(arenas: Arenas, secret: Secret) -> Self {
        let server = Server::new(secret)
            .map_err(|error| {
                arenas.trace.add_problem(format!(
                    "programs of other users cannot be recorded: no socket: {error}"
                ));
            })
            .ok();
        Self {
            arenas: Arc::new(arenas),
            signals: Arc::default(),
            secret,
            has_socket: server.is_some(),
            inherited: Mutex::default(),
            requests: Mutex::default(),
            server: Mutex::new(server),
            threads: Mutex::new(None),
            process: std::process::id(),
            is_closed: AtomicBool::new(false),
        }
    }

    /// Takes over the arenas of a trace whose collector is gone, while programs may go on to
    /// write to them.
    pub fn attach(
        place: impl Into<Place>,
        shared_memory: &Path,
        write: Box<Write>,
    ) -> io::Result<Self> {
        let arenas = Arenas::take_over(place.into(), shared_memory, write)?;
        let secret = Secret::of(arenas.first().arena.socket());
        Ok(Self::of(arenas, secret))
    }

    /// Writes what is there, and stops, so that another process can take the arenas over.
    pub fn hand_over(&self) -> Outcome {
        self.arenas.stop();
        self.stop();
        // At once: a program that finds its collector dead does not wait for it.
        if !self.is_closed.swap(true, Ordering::AcqRel) {
            self.arenas.let_go();
        }
        let found = self.arenas.pass(0, 0, Reach::Snapshot);
        self.arenas.unlock();
        let running = self.arenas.live_slots();
        let pending = self.arenas.pending_losses();
        let mut outcome = self.outcome(found.stalled == 0 && running.is_empty(), running);
        outcome.lost = outcome.lost.saturating_add(pending);
        // The count of those without a slot is in the arena, and stays there.
        outcome.lost_untold = pending.saturating_add(outcome.lost_unplaced);
        outcome
    }

    /// The first arena and its trace.
    pub fn recording(&self) -> Arc<Recording> {
        self.arenas.first()
    }

    /// All arenas.
    pub fn arenas(&self) -> &Arenas {
        &self.arenas
    }

    /// Where the arena is of the user who records.
    pub fn arena_path(&self) -> PathBuf {
        self.recording().arena.path().to_owned()
    }

    /// The name of the socket where programs ask for an arena, and what they have to say there.
    pub fn socket(&self) -> Option<(String, String)> {
        self.has_socket.then(|| (self.secret.name(), self.secret.token_text()))
    }

    /// Makes a socket for programs to inherit, before the start: the number of the descriptor,
    /// which is the collector's own.
    pub fn make_inherited(&self) -> io::Result<RawFd> {
        let made = Inherited::new()?;
        let number = made.theirs().map(AsRawFd::as_raw_fd);
        *lock(&self.inherited) = Some(made);
        number.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Goes on with that of a collector before, which has handed over its own end.
    pub fn set_inherited(&self, ours: UnixDatagram) {
        *lock(&self.inherited) = Some(Inherited::of(ours));
    }

    /// Our end of it, for a collector that takes over.
    pub fn inherited(&self) -> Option<RawFd> {
        lock(&self.inherited).as_ref().map(|one| one.ours().as_raw_fd())
    }

    /// Lets programs ask for plans, before the start: a descriptor that is readable when one has.
    pub fn open_requests(&self) -> io::Result<RawFd> {
        let requests = Arc::new(Requests::new()?);
        let bell = requests.bell();
        if let Some(server) = lock(&self.server).as_mut() {
            server.set_requests(Arc::clone(&requests));
        }
        *lock(&self.requests) = Some(requests);
        Ok(bell)
    }

    /// The next request.
    pub fn take_request(&self) -> Option<Request> {
        lock(&self.requests).as_ref()?.take()
    }

    /// Begins to collect; returns when programs may begin to record.
    pub fn start(&self) -> io::Result<()> {
        let mut threads = lock(&self.threads);
        if threads.is_some() || self.is_closed.load(Ordering::Relaxed) {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "it was started before"));
        }
        let (end, ends) = UnixStream::pair()?;
        let server = lock(&self.server).take();
        let entrance =
            lock(&self.inherited).as_ref().map(|one| Entrance::open(one, &ends)).transpose()?;
        let arenas = Arc::clone(&self.arenas);
        let server = begin("vestige-serve", move |tell| {
            // Apart from the life of the first one: what other users have changed in the
            // others must not keep the kernel from marking that.
            if tell(hold_lives(&arenas.others())) {
                server::serve(server.as_ref(), &arenas, entrance.as_ref(), &ends);
            }
        })?;
        let arenas = Arc::clone(&self.arenas);
        let signals = Arc::clone(&self.signals);
        let leader = begin("vestige-collect", move |tell| {
            if tell(hold_lives(&[arenas.first()])) {
                Leader::new(arenas, signals).run();
            }
        })?;
        *threads = Some(Threads { leader, server, end });
        Ok(())
    }

    /// How far the recording is.
    pub fn progress(&self) -> Progress {
        self.arenas.progress()
    }

    /// Leaves what threads record in the arenas for the moment, or goes on.
    pub fn hold(&self, is_held: bool) {
        self.arenas.trace.hold(is_held);
    }

    /// Lets the user who records, and root, ask how far that is; before the start.
    pub fn let_watch(&self) {
        if let Some(server) = lock(&self.server).as_mut() {
            server.let_watch();
        }
    }

    /// Copies what all rings hold to a directory, up to `most` chunks; threads go on.
    pub fn snapshot(&self, place: impl Into<Place>, most: usize) -> io::Result<Taken> {
        let trace = &self.arenas.trace;
        let files = Files::open(place.into(), Box::new(sys::write_parts))?;
        let mut snapshot = Snapshot::new(files, trace.uuid, trace.channel.clone(), most);
        for one in self.arenas.all() {
            one.snapshot(&mut snapshot)?;
        }
        snapshot.write_state(&trace.loaded_state)?;
        Ok(snapshot.taken)
    }

    /// Copies the trace, with what is in memory, to a directory; threads go on.
    pub fn copy(&self, place: impl Into<Place>) -> io::Result<Taken> {
        self.arenas.copy(&Files::open(place.into(), Box::new(sys::write_parts))?)
    }

    /// Threads that have a slot and live.
    pub fn live_slots(&self) -> Vec<LiveSlot> {
        self.arenas.live_slots()
    }

    /// Ends a chunk of the trace: what is recorded from now on goes to another directory.
    ///
    /// # Errors
    ///
    /// It cannot be written to, and all goes on as before.
    pub fn cut(&self, place: impl Into<Place>) -> io::Result<()> {
        self.arenas.cut(place.into(), Dump::default())
    }

    /// The same; the next chunk begins with what processes have loaded.
    ///
    /// # Errors
    ///
    /// As before. What is loaded is left out where it cannot be written.
    pub fn cut_with_state(
        &self,
        place: impl Into<Place>,
        processes: &[Told],
        loaded: &Loaded,
    ) -> io::Result<()> {
        self.arenas.cut(place.into(), self.dump(processes, loaded))
    }

    fn dump(&self, processes: &[Told], loaded: &Loaded) -> Dump {
        Dump::new(processes, loaded, self.recording().arena.has_cpu_rings())
    }

    /// Takes `CLOCK_MONOTONIC` for the clock of the trace, and not the counter.
    pub fn set_monotonic(&self) {
        self.arenas.trace.loaded_state.set_monotonic(true);
    }

    /// The time now, as records have it.
    pub fn now(&self) -> u64 {
        self.arenas.trace.loaded_state.now()
    }

    /// Tells what processes had loaded at a time, or, without one, when the present chunk began.
    /// A dump that was kept for snapshots is replaced.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn write_state(
        &self,
        processes: &[Told],
        loaded: &Loaded,
        time: Option<u64>,
    ) -> io::Result<()> {
        let trace = &self.arenas.trace;
        let _writing = trace.writing();
        let dump = self.dump(processes, loaded);
        match time {
            Some(time) if !trace.is_kept => {
                dump.write(trace.target(), &mut trace.streams(), time).map(drop)
            }
            _ => trace.loaded_state.write(dump, trace),
        }
    }

    /// Keeps what processes say of their state, for chunks that begin later; before the start.
    pub fn keep_states(&self) {
        self.arenas.trace.states.keep();
    }

    /// Moves what was recorded up to now to another directory.
    ///
    /// # Errors
    ///
    /// It cannot be moved.
    pub fn archive(&self, place: impl Into<Place>) -> io::Result<()> {
        self.arenas.archive(place.into())
    }

    /// Throws away what was recorded up to now.
    ///
    /// # Errors
    ///
    /// A file cannot be removed.
    pub fn clear(&self) -> io::Result<()> {
        self.arenas.clear()
    }

    /// Keeps memory for the first records of so many programs, which may begin at once.
    pub fn expect(&self, programs: u32) {
        self.recording().expect(programs);
    }

    /// Takes all threads of a process for ended.
    pub fn forget_process(&self, vpid: u32, pid_namespace: u64) {
        for one in self.arenas.all() {
            one.forget_process(vpid, pid_namespace);
        }
    }

    /// Writes all that there is, and ends the recording for programs that go on. What a disk
    /// refuses is tried again until the time is over, and stays in the arenas then.
    ///
    /// If `keeps_losses`, arenas stay that alone know of losses, until `remove`.
    pub fn close(&self, patience: Duration, keeps_losses: bool) -> Outcome {
        let deadline = Instant::now() + patience;
        // Once without it: programs that have just ended are drained while others go on.
        self.arenas.pass(0, 0, Reach::Complete);
        self.arenas.close();
        self.stop();
        let mut found = self.arenas.pass(0, 0, Reach::Snapshot);
        while found.stalled > 0 && Instant::now() < deadline {
            thread::sleep(RETRY);
            found = self.arenas.pass(0, 0, Reach::Snapshot);
        }
        self.arenas.trace.states.end(&self.arenas.trace);
        let running = self.arenas.live_slots();
        let is_drained = found.stalled == 0;
        // What found no room tells of losses, too.
        let pending = if is_drained { 0 } else { self.arenas.pending_losses() };
        let may_go = !keeps_losses || self.arenas.unplaced() == 0;
        if is_drained && may_go {
            self.remove();
        }
        let mut outcome = self.outcome(is_drained, running);
        outcome.lost = outcome.lost.saturating_add(pending);
        outcome
    }

    /// Removes the arenas, of which all is in files.
    pub fn remove(&self) {
        if !self.is_closed.swap(true, Ordering::AcqRel) {
            self.arenas.remove();
        }
    }

    fn outcome(&self, is_drained: bool, running: Vec<LiveSlot>) -> Outcome {
        let unplaced = self.arenas.unplaced();
        for one in self.arenas.all() {
            one.note_last_unreached();
        }
        if lock(&self.inherited).as_ref().is_some_and(Inherited::is_cut) {
            self.arenas.trace.add_problem(
                "a program has shut down the socket that all inherit, or connected it elsewhere: \
                 programs that began later in a network namespace of their own may be missing"
                    .into(),
            );
        }
        let mut outcome = Outcome::of(&self.arenas.trace, unplaced, is_drained, running);
        for one in self.arenas.all() {
            outcome.add_damage(&one);
            outcome.most_threads = outcome.most_threads.max(one.most_threads());
        }
        outcome
    }

    /// Ends the threads, and the socket with them.
    fn stop(&self) {
        self.signals.end();
        drop(lock(&self.server).take());
        let Some(threads) = lock(&self.threads).take() else { return };
        // The other end is there until the thread has ended.
        let _ = (&threads.end).write_all(b".");
        let first = self.recording();
        let shared = first.arena.shared();
        shared.doorbell().fetch_add(1, Ordering::AcqRel);
        sys::futex_wake(shared.doorbell());
        for thread in [threads.server, threads.leader] {
            if thread.join().is_err() {
                // What it left is written by who waits.
                self.arenas.trace.add_problem("a thread of the collector ended by itself".into());
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn hold_lives(recordings: &[Arc<Recording>]) -> io::Result<()> {
    recordings.iter().try_for_each(|one| one.arena.hold_life())
}

/// Starts a thread, and waits until it has told whether it could begin; `tell` says it, too.
fn begin(
    name: &str,
    work: impl FnOnce(&dyn Fn(io::Result<()>) -> bool) + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let (tell, told) = std::sync::mpsc::channel();
    let body = move || {
        work(&|result: io::Result<()>| {
            let is_good = result.is_ok();
            // Who asked waits for it, so there is somebody to take it.
            let _ = tell.send(result);
            is_good
        });
    };
    let thread = sys::without_signals(|| thread::Builder::new().name(name.to_owned()).spawn(body))?;
    told.recv().unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()))?;
    Ok(thread)
}

impl Drop for Collector {
    fn drop(&mut self) {
        // A forked child has the memory but not the threads.
        if self.process == std::process::id() && !self.is_closed.load(Ordering::Acquire) {
            self.arenas.close();
            self.stop();
        }
    }
}
