//! What it costs to drain a chunk, while a thread fills chunks as fast as memory is.
//!
//! `cargo run --release -p vestige-collector --example drain_cost [CHUNKS [KIB [FOLDER]]]`
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::fs::File;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;
use std::{env, fs, ptr, thread};

use common::{Folder, Program};
use vestige_collector::collector::Collector;
use vestige_collector::drain::Reach;
use vestige_collector::recording::Limits;
use vestige_collector::sys::{self, Span};

/// Nanoseconds in `pwritev`.
static WRITING: AtomicU64 = AtomicU64::new(0);

/// Nanoseconds on a processor of the calling thread.
fn cpu_ns() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

#[allow(unsafe_code)]
fn fill(program: &Program, chunk: u32) {
    let bytes = u64::from(program.geometry.chunk_bytes) - 192;
    let place = program.memory.pointer(program.chunk_at(chunk) + 192, bytes).unwrap();
    // SAFETY: inside the arena; nobody reads it before it is committed.
    unsafe { ptr::write_bytes(place, 7, bytes as usize) };
}

fn main() {
    let number =
        |place: usize, or: u64| env::args().nth(place).map_or(or, |text| text.parse().unwrap());
    let (count, kib) = (number(1, 20_000), number(2, 64) as u32);
    let folder = Folder::new();
    let mut plan = common::plan();
    plan.chunk_bytes = kib << 10;
    plan.chunk_count = (256 << 10) / kib;
    plan.ring_chunks = 64;
    let write = |file: &File, head: &[u8], body: Option<Span<'_>>, tail: &[u8], at| {
        let started = Instant::now();
        let done = sys::write_parts(file, head, body, tail, at);
        WRITING.fetch_add(started.elapsed().as_nanos() as u64, Ordering::Relaxed);
        done
    };
    let write = Box::new(write);
    let limits = Limits::default();
    let collector =
        Collector::new(&folder.trace(), &folder.memory(), &plan, limits, write).unwrap();
    let recording = collector.recording();
    let program = Program::of(&folder);
    let is_over = AtomicBool::new(false);
    let started = Instant::now();
    let (drained, spent, passes) = thread::scope(|scope| {
        scope.spawn(|| {
            let mut thread = program.thread(7, 8);
            for _ in 0..count {
                while !thread.switch() {
                    thread::yield_now();
                }
                fill(&program, thread.chunk);
                let end = program.geometry.chunk_bytes;
                program.chunk(thread.chunk).committed().store(end, Ordering::Release);
            }
            is_over.store(true, Ordering::Release);
        });
        let before = cpu_ns();
        let (mut drained, mut passes) = (0, 0);
        while !is_over.load(Ordering::Acquire) {
            let found = recording.pass(0, Reach::Complete);
            recording.keep_ahead();
            drained += u64::from(found.work);
            passes += 1;
            if found.work == 0 {
                thread::yield_now();
            }
        }
        (drained, cpu_ns() - before, passes)
    });
    let seconds = started.elapsed().as_secs_f64();
    let writing = WRITING.load(Ordering::Relaxed);
    println!(
        "{drained} chunks of {kib} KiB in {seconds:.2} s, {passes} passes: {:.1} us of CPU a chunk, \
         {:.1} us of it in pwritev",
        spent as f64 / 1e3 / drained as f64,
        writing as f64 / 1e3 / drained as f64,
    );
}
