//! The threads that collect: one leads, others help where writing is slow.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::str;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::arenas::Arenas;
use crate::drain::Reach;
use crate::pass::Found;
use crate::sys;

const MOST_HELPERS: usize = 4;
/// Writing a chunk takes some 20 µs; where it takes so long, others may write meanwhile.
const SLOW_NS: u64 = 200_000;
/// After work, the leader looks again soon; then more and more seldom.
const BUSY: Duration = Duration::from_millis(1);
const CALM: Duration = Duration::from_millis(10);
const IDLE: Duration = Duration::from_millis(50);
/// Looks that find nothing are so many times as far apart as they take.
const LOOKS_APART: u64 = 20;
const BUSY_NS: u64 = 50_000_000;
const CALM_NS: u64 = 1_000_000_000;

/// What the threads tell each other.
#[derive(Default)]
pub struct Signals {
    is_ending: AtomicBool,
    /// Helpers that may make a pass.
    wanted: Mutex<usize>,
    changed: Condvar,
}

impl Signals {
    fn wanted(&self) -> MutexGuard<'_, usize> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets all of them end.
    pub fn end(&self) {
        self.is_ending.store(true, Ordering::Release);
        self.changed.notify_all();
    }

    fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Acquire)
    }
}

/// How long the calling thread was ready to run, and had no processor.
#[derive(Default)]
struct Delay(Option<File>);

impl Delay {
    fn of_this_thread() -> Self {
        // Not everywhere; then it was held up for as long.
        Self(File::open("/proc/thread-self/schedstat").ok())
    }

    /// Nanoseconds in which it ran, or waited for a processor.
    fn active(&self) -> u64 {
        let mut text = [0; 64];
        let read = self.0.as_ref().and_then(|file| file.read_at(&mut text, 0).ok());
        let waited = read
            .and_then(|bytes| str::from_utf8(text.get(..bytes)?).ok())
            .and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok());
        waited.unwrap_or(0) + sys::processor_time()
    }
}

/// The thread that looks at all slots, and its helpers.
pub struct Leader {
    arenas: Arc<Arenas>,
    signals: Arc<Signals>,
    helpers: Vec<JoinHandle<()>>,
    worked_at: u64,
    /// Where the next pass begins: not always with a slot that cannot be written.
    first: u32,
    delay: Delay,
    /// When all is written for viewers, and until which time by the clock of the trace; before
    /// that the clock is read.
    show_at: u64,
    show_until: Option<u64>,
}

impl Leader {
    /// It does nothing yet.
    pub fn new(arenas: Arc<Arenas>, signals: Arc<Signals>) -> Self {
        Self {
            arenas,
            signals,
            helpers: Vec::new(),
            worked_at: 0,
            first: 0,
            delay: Delay::default(),
            show_at: u64::MAX,
            show_until: None,
        }
    }

    /// Collects until it is to end.
    pub fn run(mut self) {
        self.delay = Delay::of_this_thread();
        self.show_at = self.arenas.trace.timers.next_show(self.arenas.trace.now());
        self.arenas.keep_ahead();
        while !self.signals.is_ending() {
            if self.arenas.trace.is_slow() {
                self.call_helpers();
            }
            let started = self.arenas.trace.now();
            // After a second without work no writing holds it up, and it need not ask.
            let is_busy = started.saturating_sub(self.worked_at) < CALM_NS;
            let active = is_busy.then(|| self.delay.active());
            let found = self.arenas.pass(0, self.first, Reach::Complete);
            self.first = if found.stalled > 0 { self.first.wrapping_add(1) % 65_536 } else { 0 };
            let spent = self.arenas.trace.now() - started;
            if let Some(active) = active {
                self.measure(found, spent, self.delay.active() - active);
            }
            self.arenas.keep_ahead();
            self.show_when_due();
            self.rest(found, spent);
        }
        self.signals.changed.notify_all();
        for helper in self.helpers {
            if helper.join().is_err() {
                self.arenas.trace.add_problem("a thread of the collector ended by itself".into());
            }
        }
    }

    /// Writes all that there is each period, if anybody may be watching.
    fn show_when_due(&mut self) {
        let trace = &self.arenas.trace;
        let now = trace.now();
        if now < self.show_at {
            return;
        }
        let grace = trace.timers.grace_ns();
        if let Some(time) = self.show_until.take() {
            self.show_at = trace.timers.next_show(self.show_at).saturating_sub(grace).max(now);
            self.arenas.show(time);
        } else {
            self.show_until = Some(trace.loaded_state.now());
            self.show_at = now + grace;
        }
    }

    /// Whether writing holds this thread up just now; that others have the processors does not
    /// count.
    fn measure(&self, found: Found, spent: u64, active: u64) {
        let held_up = spent.saturating_sub(active);
        if found.work > 0 && held_up / u64::from(found.work) > SLOW_NS {
            self.arenas.trace.set_slow();
        }
    }

    /// Lets as many threads help as there are other slots with something to write.
    fn call_helpers(&mut self) {
        let wanted = self.arenas.pressed_slots().saturating_sub(1).min(MOST_HELPERS);
        while self.helpers.len() < wanted {
            let arenas = Arc::clone(&self.arenas);
            let signals = Arc::clone(&self.signals);
            let place = self.helpers.len() as u32 + 1;
            let name = format!("vestige-help-{place}");
            let help = move || help(&arenas, &signals, place);
            match thread::Builder::new().name(name).spawn(help) {
                Ok(helper) => self.helpers.push(helper),
                Err(_) => break,
            }
        }
        *self.signals.wanted() = wanted.min(self.helpers.len());
        self.signals.changed.notify_all();
    }

    /// Waits for work: threads ring when half of their ring is full.
    fn rest(&mut self, found: Found, spent: u64) {
        let now = self.arenas.trace.now();
        if found.work > 0 {
            self.worked_at = now;
        }
        let since = now - self.worked_at;
        let time = match since {
            0..BUSY_NS => BUSY,
            BUSY_NS..CALM_NS => CALM,
            _ => IDLE,
        };
        // Looking at thousands of slots in vain takes a while itself.
        if since >= CALM_NS {
            self.arenas.give_memory_back();
        }
        let looked = if found.work == 0 { spent * LOOKS_APART } else { 0 };
        let timers = &self.arenas.trace.timers;
        let time = timers.rest(time.max(Duration::from_nanos(looked)).min(IDLE));
        let time = time.min(Duration::from_nanos(self.show_at.saturating_sub(now)));
        if !timers.has_bells() {
            // Threads would call the kernel to ring.
            thread::sleep(time);
            return;
        }
        let all = self.arenas.all();
        let shared: Vec<_> = all.iter().map(|one| one.arena.shared()).collect();
        let bells: Vec<_> = shared
            .iter()
            .map(|one| (one.doorbell(), one.doorbell().load(Ordering::Acquire)))
            .collect();
        if self.signals.is_ending() {
            return;
        }
        shared.iter().for_each(|one| one.asleep().store(1, Ordering::SeqCst));
        sleep(&bells, time);
        shared.iter().for_each(|one| one.asleep().store(0, Ordering::SeqCst));
    }
}

/// Waits until somebody rings.
fn sleep(bells: &[(&AtomicU32, u32)], time: Duration) {
    match bells {
        [(bell, value)] => sys::futex_wait(bell, *value, time),
        // Before Linux 5.16 nobody can wait for more than one.
        [(bell, value), ..] if sys::futex_wait_any(bells, time).is_err() => {
            sys::futex_wait(bell, *value, time.min(CALM));
        }
        _ => {}
    }
}

/// Makes a pass each time that the leader wants one.
fn help(arenas: &Arenas, signals: &Signals, place: u32) {
    loop {
        let mut wanted = signals.wanted();
        while *wanted == 0 && !signals.is_ending() {
            wanted = signals.changed.wait(wanted).unwrap_or_else(PoisonError::into_inner);
        }
        if signals.is_ending() {
            return;
        }
        *wanted -= 1;
        drop(wanted);
        // Where slots are in use, they are the first ones; each begins at another.
        arenas.pass(place as usize, place, Reach::Complete);
        arenas.keep_ahead();
    }
}
