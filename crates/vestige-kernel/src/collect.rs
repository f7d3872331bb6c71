//! Reads the buffers of channels, a thread for each CPU, and tells these what to do.

use std::collections::HashMap;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use crate::cpu::{Cpu, Order, Pair, Reader, Recording, Told};
use crate::output::Limits;
use crate::plan::Plans;
use crate::stream::{Outcome, OwnRecord, Shared};
use crate::threads::Threads;

/// The channels of a trace.
#[derive(Default)]
pub struct Collector {
    threads: Arc<Threads>,
    channels: Vec<Channel>,
}

struct Channel {
    shared: Arc<Shared>,
    cpus: Vec<Thread>,
}

struct Thread {
    orders: Sender<Told>,
    bell: UnixStream,
    outcome: Arc<Mutex<Outcome>>,
    handle: JoinHandle<()>,
}

impl Collector {
    /// Learns the thread groups of threads.
    pub fn learn(&self, groups: HashMap<i32, i32>) {
        self.threads.groups.learn(groups);
    }

    /// What all channels know of threads.
    #[must_use]
    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    /// Begins to read the buffers of a channel, with records to be put among those of the first.
    ///
    /// # Errors
    ///
    /// A thread cannot be started, a file not be written, or the files are not as many as the CPUs.
    pub fn add(
        &mut self,
        recording: Recording,
        plans: Plans,
        cpus: Vec<Cpu>,
        files: Vec<Pair>,
        own: Vec<OwnRecord>,
    ) -> io::Result<()> {
        let wanted = if recording.kept.is_some() { 0 } else { cpus.len() };
        check(files.len(), wanted)?;
        let shared = Arc::new(Shared::new(plans, Arc::clone(&self.threads)));
        let (mut files, mut own) = (files.into_iter(), own);
        let made = cpus.into_iter().map(|cpu| {
            let (orders, told) = mpsc::channel();
            let (bell, rung) = UnixStream::pair()?;
            bell.set_nonblocking(true)?;
            rung.set_nonblocking(true)?;
            let outcome = Arc::default();
            let name = format!("kernel-{}", cpu.number);
            let seen = Arc::clone(&outcome);
            let shared = Arc::clone(&shared);
            let mut reader = Reader::new(cpu, recording, shared, files.next(), seen)?;
            reader.put(std::mem::take(&mut own));
            let run = move || reader.run(&told, &rung);
            let handle = thread::Builder::new().name(name).spawn(run)?;
            Ok(Thread { orders, bell, outcome, handle })
        });
        let cpus = made.collect::<io::Result<_>>()?;
        self.channels.push(Channel { shared, cpus });
        Ok(())
    }

    /// Lets other things become of the events of a channel.
    ///
    /// # Errors
    ///
    /// There is no such channel.
    pub fn set_plans(&self, channel: usize, plans: Plans) -> io::Result<()> {
        let channel = self.channels.get(channel).ok_or(io::ErrorKind::InvalidInput)?;
        channel.shared.set_plans(plans);
        Ok(())
    }

    /// Reads on, but lets pages wait for records that will be put among theirs.
    pub fn wait_for_own(&self) {
        self.tell_all(|_| Order::WaitForOwn);
    }

    /// Puts records among those of the first CPU of a channel, of which all up to a value of the clock
    /// are there now; other CPUs wait no longer.
    ///
    /// # Errors
    ///
    /// There is no such channel, or a thread of it has ended.
    pub fn put(&self, channel: usize, records: Vec<OwnRecord>, until: u64) -> io::Result<()> {
        let channel = self.channels.get(channel).ok_or(io::ErrorKind::InvalidInput)?;
        let mut told = (records, until);
        for cpu in &channel.cpus {
            let (records, until) = std::mem::replace(&mut told, (Vec::new(), u64::MAX));
            cpu.tell(Order::Put { records, until }).recv().map_err(ended)?;
        }
        Ok(())
    }

    /// Writes all that there is up to a value of the clock.
    pub fn flush(&self, end: u64, is_stopped: bool) -> Vec<Vec<Outcome>> {
        self.tell_all(|_| Order::Flush { end, is_stopped })
    }

    /// Writes what there is, where anything is: nothing that is older than `end` comes later.
    pub fn flush_some(&self, end: u64) {
        self.tell_all(|_| Order::FlushSome { end });
    }

    /// Goes on in more files when one has enough, of each CPU of a channel.
    ///
    /// # Errors
    ///
    /// There is no such channel, or the limits are not as many as its CPUs.
    pub fn limit(&self, channel: usize, limits: Vec<Limits>) -> io::Result<()> {
        let channel = self.channels.get(channel).ok_or(io::ErrorKind::InvalidInput)?;
        check(limits.len(), channel.cpus.len())?;
        for (cpu, limits) in channel.cpus.iter().zip(limits) {
            cpu.tell(Order::Limit(limits)).recv().map_err(ended)?;
        }
        Ok(())
    }

    /// Reads nothing for the moment, or goes on; what is recorded stays in the buffers.
    pub fn hold(&self, is_held: bool) {
        self.tell_all(|_| Order::Hold { is_held });
    }

    /// Writes all that there is, or throws it away; what comes from now on goes to other files.
    ///
    /// # Errors
    ///
    /// The files are not as many as the CPUs of channels that have any.
    pub fn cut(
        &self,
        end: u64,
        files: Vec<Vec<Pair>>,
        is_dropped: bool,
    ) -> io::Result<Vec<Vec<Outcome>>> {
        check(files.len(), self.channels.len())?;
        let mut files = files.into_iter().map(Vec::into_iter).collect::<Vec<_>>();
        Ok(self.tell_all(|channel| {
            let files = files.get_mut(channel).and_then(Iterator::next);
            Order::Cut { end, files, is_dropped }
        }))
    }

    /// Writes what channels keep, of each CPU the newest so many bytes.
    ///
    /// # Errors
    ///
    /// The files are not as many as the CPUs.
    pub fn copy(
        &self,
        end: u64,
        files: Vec<Vec<Pair>>,
        most: &[usize],
    ) -> io::Result<Vec<Vec<Outcome>>> {
        check(files.len(), self.channels.len())?;
        check(most.len(), self.channels.len())?;
        for (files, channel) in files.iter().zip(&self.channels) {
            check(files.len(), channel.cpus.len())?;
        }
        let waiting: Vec<Vec<_>> = self
            .channels
            .iter()
            .zip(files)
            .zip(most)
            .map(|((channel, files), most)| {
                let told = channel.cpus.iter().zip(files);
                told.map(|(cpu, files)| cpu.tell(Order::Copy { end, files, most: *most })).collect()
            })
            .collect();
        Ok(all(waiting))
    }

    /// Takes what buffers have now: all up to a value of the clock, or as far as their pages are full.
    pub fn look(&self, end: Option<u64>) {
        self.tell_all(|_| Order::Look { end });
    }

    /// What became of each channel's CPUs up to now.
    #[must_use]
    pub fn outcomes(&self) -> Vec<Vec<Outcome>> {
        let of = |one: &Thread| one.outcome.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.channels.iter().map(|one| one.cpus.iter().map(of).collect()).collect()
    }

    /// Writes all that there is up to a value of the clock, and ends.
    pub fn end(&mut self, end: u64) -> Vec<Vec<Outcome>> {
        let outcomes = self.tell_all(|_| Order::End { end });
        for thread in self.channels.drain(..).flat_map(|one| one.cpus) {
            let _ = thread.handle.join();
        }
        outcomes
    }

    fn tell_all(&self, mut order: impl FnMut(usize) -> Order) -> Vec<Vec<Outcome>> {
        let mut tell = |(number, channel): (usize, &Channel)| {
            channel.cpus.iter().map(|cpu| cpu.tell(order(number))).collect()
        };
        all(self.channels.iter().enumerate().map(&mut tell).collect())
    }
}

impl Thread {
    fn tell(&self, order: Order) -> mpsc::Receiver<Outcome> {
        let (done, told) = mpsc::channel();
        // One that has ended drops the other end: who waits is told.
        let _ = self.orders.send(Told { order, done });
        // A bell that is full has been rung.
        let _ = (&self.bell).write(b"+");
        told
    }
}

fn all(waiting: Vec<Vec<mpsc::Receiver<Outcome>>>) -> Vec<Vec<Outcome>> {
    let failed = || Outcome { failure: Some("a thread has ended".into()), ..Outcome::default() };
    let wait = |one: mpsc::Receiver<Outcome>| one.recv().unwrap_or_else(|_| failed());
    waiting.into_iter().map(|channel| channel.into_iter().map(wait).collect()).collect()
}

fn check(found: usize, wanted: usize) -> io::Result<()> {
    if found == wanted {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "expected as many files as CPUs"))
    }
}

fn ended(_: mpsc::RecvError) -> io::Error {
    io::Error::other("a thread has ended")
}
