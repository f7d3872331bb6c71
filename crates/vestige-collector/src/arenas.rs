//! The arenas of a recording: one for each user whose programs are recorded.
//!
//! The first is that of the user who records. Those of others are made when a program of them
//! asks, which takes the rights of root: a file belongs to the user who may write to it, and
//! nobody maps memory of somebody else.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::arena::{Arena, Plan};
use crate::classes;
use crate::drain::Reach;
use crate::file_error::at_path;
use crate::files::Write;
use crate::files::METADATA;
use crate::layout::MOST_CLASSES;
use crate::owner::Place;
use crate::pass::{Found, LiveSlot};
use crate::pool::Pool;
use crate::recording::{Limits, Recording};
use crate::register::Register;
use crate::sys;
use crate::trace::Trace;

/// Users of a recording, with the one who records.
const MOST_ARENAS: usize = 64;

/// Makes and opens the arenas of a trace.
struct Maker {
    trace: Arc<Trace>,
    shared_memory: PathBuf,
    plan: Plan,
}

#[derive(Default)]
struct Others {
    all: Vec<(u32, Arc<Recording>)>,
    is_closed: bool,
}

/// All arenas that are written to one trace.
pub struct Arenas {
    pub trace: Arc<Trace>,
    maker: Maker,
    first: Arc<Recording>,
    others: Mutex<Others>,
}

impl Maker {
    fn place(&self) -> Place {
        self.trace.files.place()
    }

    fn register(&self) -> Register {
        Register::new(self.place())
    }

    fn make(&self, plan: &Plan, is_first: bool) -> io::Result<Arc<Recording>> {
        let arena = self.make_file(plan)?;
        let path = arena.path().to_owned();
        let made = self.fill(arena, plan, is_first).inspect_err(|_| {
            // Nobody knows of it yet; the first error is the one to tell.
            Arena::remove_files(&path);
            let _ = self.register().remove(&path);
        })?;
        Ok(Arc::new(made))
    }

    /// In shared memory or, failing that, in the directory of the trace.
    fn make_file(&self, plan: &Plan) -> io::Result<Arena> {
        let refusal = match Arena::make_in_memory(&self.shared_memory, plan) {
            Ok(arena) => return Ok(arena),
            Err(refusal) => refusal,
        };
        if self.place().owner.is_some() {
            // What is noted of an arena is ours, and no file of the owner.
            return Err(refusal);
        }
        let arena = Arena::make_in_directory(&self.place().path, plan)?;
        if !arena.is_in_memory() {
            self.trace.add_problem(format!(
                "{}: the memory of the recording is a file in the directory of the trace, \
                 which the kernel writes to the disk from time to time",
                without_number(&refusal)
            ));
        }
        Ok(arena)
    }

    fn fill(&self, arena: Arena, plan: &Plan, is_first: bool) -> io::Result<Recording> {
        let pool = Pool::new(&arena);
        let limit = self.trace.budget().most();
        arena.set_max_bytes(limit);
        arena.accounts().keep_wishes(self.trace.rollover, self.trace.timers);
        arena.accounts().keep_channel(&self.trace.channel);
        arena.accounts().keep_kept(self.trace.is_kept);
        // Its owner could take pages of it away.
        let is_guarded = arena.guard().is_set() && arena.accounts().is_guarded();
        if !is_guarded && plan.user != sys::effective_user() {
            return Err(io::Error::other("there are too many arenas"));
        }
        if !is_first {
            arena.hold_life()?;
        }
        arena.set_directory(&self.place().path)?;
        let recording = Recording::new(arena, pool, Arc::clone(&self.trace), plan.first_class);
        let path = recording.arena.path();
        recording.make_first();
        if let Some(error) = recording.stock().failure.take() {
            return Err(at_path(&error, path));
        }
        let register = self.register();
        register
            .add(&recording.arena, plan.user, plan.first_class)
            .map_err(|error| at_path(&error, register.path()))?;
        // Last of all: from here on nothing in it is to be trusted.
        recording.arena.give_to(plan.user).map_err(|error| at_path(&error, path))?;
        Ok(recording)
    }

    fn adopt(&self, arena: Arena, first_class: u32) -> io::Result<Arc<Recording>> {
        if let Some(owner) = self.place().owner.as_ref() {
            // Who it is may have named the arena of somebody else.
            if arena.user()? != owner.user || !arena.guard().is_set() {
                let error = io::Error::from_raw_os_error(libc::EPERM);
                return Err(at_path(&error, arena.path()));
            }
        }
        let pool = Pool::of_old(&arena);
        arena.make_collector_life()?;
        arena.set_handed_over(false);
        arena.set_directory(&self.place().path)?;
        arena.set_collector();
        let recording = Recording::new(arena, pool, Arc::clone(&self.trace), first_class);
        recording.go_on(&self.place().path)?;
        recording.find_held();
        Ok(Arc::new(recording))
    }
}

impl Arenas {
    /// Makes the first arena.
    pub fn make(
        place: Place,
        shared_memory: &Path,
        plan: &Plan,
        limits: Limits,
        write: Box<Write>,
    ) -> io::Result<Self> {
        let maker = Maker {
            trace: Arc::new(Trace::open(place, plan.uuid, limits, write)?),
            shared_memory: shared_memory.to_owned(),
            plan: plan.clone(),
        };
        let first = maker.make(plan, true)?;
        Ok(Self { trace: Arc::clone(&maker.trace), maker, first, others: Mutex::default() })
    }

    /// Takes over those of a collector that is gone, while programs may go on to write to them.
    pub fn take_over(place: Place, shared_memory: &Path, write: Box<Write>) -> io::Result<Self> {
        let register = Register::new(place.clone());
        let entries = register.arenas().map_err(|error| at_path(&error, register.path()))?;
        let mut entries = entries.into_iter();
        let Some(entry) = entries.next() else {
            let error = io::Error::from_raw_os_error(libc::ENOENT);
            return Err(at_path(&error, register.path()));
        };
        let arena = Arena::open(&entry.path)?;
        let plan = arena.plan().map_err(|error| at_path(&error, arena.path()))?;
        let limits = Limits::of(&arena);
        let maker = Maker {
            trace: Arc::new(Trace::open(place, plan.uuid, limits, write)?),
            shared_memory: shared_memory.to_owned(),
            plan,
        };
        let first = maker.adopt(arena, entry.first_class)?;
        let mut others = Others::default();
        let trace = Arc::clone(&maker.trace);
        for entry in entries {
            // Its owner may have removed it, or put another file in its place: that must not
            // keep those of others from being collected.
            match Arena::open(&entry.path).and_then(|one| maker.adopt(one, entry.first_class)) {
                Ok(arena) => others.all.push((entry.user, arena)),
                Err(error) => {
                    trace.set_damaged();
                    trace.add_problem(format!("cannot be collected any more: {error}"));
                }
            }
        }
        Ok(Self { trace, maker, first, others: Mutex::new(others) })
    }

    fn list(&self) -> MutexGuard<'_, Others> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// That of the user who records.
    pub fn first(&self) -> Arc<Recording> {
        Arc::clone(&self.first)
    }

    /// Those of other users.
    pub fn others(&self) -> Vec<Arc<Recording>> {
        self.list().all.iter().map(|one| Arc::clone(&one.1)).collect()
    }

    /// All of them, the first one first.
    pub fn all(&self) -> Vec<Arc<Recording>> {
        let mut all = vec![self.first()];
        all.extend(self.others());
        all
    }

    /// Does something with all of them, while no other is made.
    pub fn all_while<T>(&self, work: impl FnOnce(&[Arc<Recording>]) -> T) -> T {
        let list = self.list();
        let others = list.all.iter().map(|one| Arc::clone(&one.1));
        let all: Vec<_> = std::iter::once(self.first()).chain(others).collect();
        work(&all)
    }

    /// The arena of a user, which is made if it is not there; its life is then the calling
    /// thread's.
    pub fn of_user(&self, user: u32) -> io::Result<Arc<Recording>> {
        if user == self.maker.plan.user {
            return Ok(self.first());
        }
        let mut list = self.list();
        if let Some((_, found)) = list.all.iter().find(|one| one.0 == user) {
            return Ok(Arc::clone(found));
        }
        if list.is_closed {
            return Err(io::Error::other("the recording has ended"));
        }
        if self.maker.place().owner.is_some() {
            return Err(io::Error::other("the recording is of one user"));
        }
        if sys::effective_user() != 0 {
            return Err(io::Error::other("Vestige is not root"));
        }
        let number = list.all.len() + 1;
        if number == MOST_ARENAS {
            return Err(io::Error::other("there are too many users"));
        }
        // So that the IDs of all arenas differ, whatever their programs register.
        let first_class = self.maker.plan.first_class + number as u32 * MOST_CLASSES;
        let plan = Plan { user, first_class, ..self.maker.plan.clone() };
        let made = self.maker.make(&plan, false)?;
        list.all.push((user, Arc::clone(&made)));
        Ok(made)
    }

    /// A pass over all arenas, beginning at one of them and at a slot.
    pub fn pass(&self, first: usize, slot: u32, reach: Reach) -> Found {
        let all = self.all();
        let (before, after) = all.split_at(first % all.len().max(1));
        after.iter().chain(before).fold(Found::default(), |found, one| {
            let slots = one.pool.slots_ready().max(1);
            found.and(one.pass(slot % slots, reach))
        })
    }

    /// Keeps what programs need ahead of need.
    pub fn keep_ahead(&self) {
        for one in self.all() {
            one.keep_ahead();
        }
    }

    /// Gives back memory that nobody needs now.
    pub fn give_memory_back(&self) {
        for one in self.all() {
            one.give_memory_back();
        }
    }

    /// Slots with complete chunks.
    pub fn pressed_slots(&self) -> usize {
        self.all().iter().map(|one| one.pressed_slots()).sum()
    }

    /// Threads that have a slot and live.
    pub fn live_slots(&self) -> Vec<LiveSlot> {
        self.all().iter().flat_map(|one| one.live_slots()).collect()
    }

    /// Records that were lost where no slot was free.
    pub fn unplaced(&self) -> u64 {
        self.all().iter().map(|one| one.unplaced()).fold(0, u64::saturating_add)
    }

    /// Records that were lost, and that no packet has told yet.
    pub fn pending_losses(&self) -> u64 {
        self.all().iter().map(|one| one.pending_losses()).fold(0, u64::saturating_add)
    }

    /// Tells all programs to record nothing more; no arena is made from here on.
    pub fn close(&self) {
        self.list().is_closed = true;
        for one in self.all() {
            one.set_closed();
        }
    }

    /// Makes no arena from here on.
    pub fn stop(&self) {
        self.list().is_closed = true;
    }

    /// Lets go of the lives, when the threads that held them have ended: else programs would
    /// take the collector for dead, and not wait for the next one.
    ///
    /// To unlock a mutex would follow pointers in memory that others can write to.
    pub fn let_go(&self) {
        for one in self.all() {
            self.tell(one.arena.make_collector_life());
        }
    }

    /// Lets another process take them over.
    pub fn unlock(&self) {
        for one in self.all() {
            one.arena.set_handed_over(true);
            self.tell(one.arena.unlock());
        }
    }

    fn tell(&self, done: io::Result<()>) {
        if let Err(error) = done {
            self.trace.add_problem(error.to_string());
        }
    }

    /// Removes the arenas, of which nothing is needed any more.
    pub fn remove(&self) {
        if let Err(error) = classes::fill_gaps(&self.trace.files, self.maker.plan.first_class) {
            self.trace.add_failure(&error, METADATA);
        }
        self.hide();
        let register = self.maker.register();
        for one in self.all() {
            let path = one.arena.path();
            let removed = match one.arena.remove() {
                // Its owner may have done so.
                Err(error) if is_not_found(&error) => Ok(()),
                other => other,
            };
            let forget = || register.remove(path).map_err(|error| at_path(&error, register.path()));
            if let Err(error) = removed.and_then(|()| forget()) {
                if !is_not_found(&error) {
                    self.trace.add_problem(error.to_string());
                }
            }
        }
    }
}

/// An error of the system without its number.
fn without_number(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error ").next().unwrap_or_default().to_owned()
}

fn is_not_found(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}
