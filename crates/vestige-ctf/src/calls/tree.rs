//! The call tree: a node for each path of calls, with what all calls on it add up to.
//!
//! It is bounded, whatever the trace: below [`MAX_DEPTH`] levels all deeper calls of a
//! function share a node, and once there are [`MAX_NODES`] nodes, new paths of a thread
//! share one node for each function, and in the end one for all.

use super::codes::{Code, Codes, Told};
use super::process::Process;
use crate::intervals::addresses::Addresses;
use crate::keyed_hash::KeyedMap;

/// How many levels of calls have nodes of their own.
pub const MAX_DEPTH: u32 = 512;
/// How many paths have nodes of their own.
pub const MAX_NODES: usize = 1 << 20;
/// How many nodes there are at most, those for new paths of a thread included.
const MOST_NODES: usize = MAX_NODES + MAX_NODES / 2;
/// How many functions are told apart.
const MAX_FUNCTIONS: usize = 1 << 20;

/// In place of a function: the root of a thread.
pub const ROOT: u32 = u32::MAX;
/// In place of a function: calls after records were lost, whose caller is not known.
pub const AFTER_LOSS: u32 = u32::MAX - 1;
/// In place of a function: calls on paths beyond the limit.
pub const MERGED: u32 = u32::MAX - 2;

/// What all calls on a path add up to. Times are in nanoseconds.
#[derive(Debug, Clone)]
pub struct Node {
    /// Index of the caller's node; of itself at a root.
    pub parent: u32,
    /// Index of the function, or what is in its place.
    pub function: u32,
    /// How many calls there were, as far as an entry or an exit was seen.
    pub calls: u64,
    /// Of these, how many have both, and no loss in between.
    pub complete: u64,
    /// Of these, how many have both, with a loss in between.
    pub across_loss: u64,
    /// Of these, how many have no exit; their time is the least it can have been.
    pub no_exit: u64,
    /// Of these, how many have no entry; they have no time.
    pub no_entry: u64,
    /// Of these, how many the range of time cuts; their time is what is in it.
    pub clipped: u64,
    /// The time of all calls; of calls within each other, that of the outermost.
    pub total: u64,
    /// The same without the time of the calls that these made.
    pub own: u64,
    /// The time of the complete calls, each for itself.
    pub complete_total: u64,
    /// The shortest complete call.
    pub shortest: u64,
    /// The longest complete call.
    pub longest: u64,
    /// How many levels it is below the root.
    depth: u32,
    /// How many of its calls are open.
    open: u32,
}

/// How many pairs of a caller and an address are remembered, a power of two.
const RECENT: usize = 1 << 10;

/// What a caller called at an address.
#[derive(Debug, Clone, Copy, Default)]
struct Recent {
    address: u64,
    caller: u32,
    epoch: u32,
    /// Its node; 0, which is a root, in place of none.
    node: u32,
}

/// The nodes that were asked for last, each in the place of its caller and address.
#[derive(Debug, Clone, Default)]
struct Recents(Vec<Recent>);

impl Recents {
    #[inline(always)]
    fn place(caller: u32, address: u64) -> usize {
        let mixed = (address as u32 ^ caller.rotate_left(16)).wrapping_mul(0x9E37_79B9);
        (mixed >> 22) as usize ^ (caller as usize & (RECENT - 1))
    }

    #[inline(always)]
    fn find(&self, caller: u32, address: u64, epoch: u32) -> Option<u32> {
        let one = self.0.get(Self::place(caller, address))?;
        let is_it = (one.address, one.caller, one.epoch) == (address, caller, epoch);
        (is_it && one.node != 0).then_some(one.node)
    }

    fn learn(&mut self, one: Recent) {
        if self.0.is_empty() {
            self.0 = vec![Recent::default(); RECENT];
        }
        if let Some(place) = self.0.get_mut(Self::place(one.caller, one.address)) {
            *place = one;
        }
    }
}

/// What ends a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Its exit.
    Complete,
    /// Its exit, after a loss.
    AcrossLoss,
    /// Something whose exit was not seen: an exception, a jump, the end of the trace.
    NoExit,
    /// The end of the range of time, or its exit after an entry before the range.
    Clipped,
    /// Something before the range of time: it does not count.
    Before,
}

impl End {
    /// It as a number. 3 is that of calls that were not seen to begin, see `NO_ENTRY`, and
    /// 4 that of a beginning where steps are told.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::Complete => 0,
            Self::AcrossLoss => 1,
            Self::NoExit => 2,
            Self::Clipped | Self::Before => 5,
        }
    }
}

/// The nodes of all threads.
#[derive(Clone, Default)]
pub struct Tree {
    /// The nodes; a parent comes before its children.
    pub nodes: Vec<Node>,
    recents: Recents,
    /// The node of a caller and a function.
    children: KeyedMap<(u32, u32), u32>,
    /// Functions by address, for each process.
    functions: KeyedMap<Process, KeyedMap<u64, u32>>,
    function_count: u32,
    /// Code objects, which mean the same function whatever their addresses and processes.
    pub codes: Codes,
    /// Functions of code objects, by name and distance from the first address.
    code_functions: KeyedMap<(u32, u64), u32>,
    /// New functions: process, address, and the code object there.
    pending: Vec<(Process, u64, Option<Code>)>,
    /// The functions in which call sites are, 0 where it is not known, for each process.
    sites: KeyedMap<Process, KeyedMap<u64, u64>>,
    /// The call site that was asked for last.
    last_site: Option<(Process, u64, u64)>,
    /// Grows when an address may have become another function.
    epoch: u32,
    /// Which function was at an address, and when, if that is kept.
    pub addresses: Option<Addresses>,
    /// The time of what changes a process image, nanoseconds.
    pub now: i64,
}

impl Tree {
    /// Adds the root of a thread.
    pub fn add_root(&mut self) -> u32 {
        let root = self.nodes.len() as u32;
        self.push(root, ROOT, 0)
    }

    /// The node of a caller and something in place of a function.
    pub fn special(&mut self, parent: u32, what: u32) -> u32 {
        self.child_of(parent, what)
    }

    /// The node for a call of the function at an address.
    #[inline]
    pub fn callee(&mut self, caller: u32, root: u32, process: Process, address: u64) -> u32 {
        if let Some(node) = self.recents.find(caller, address, self.epoch) {
            return node;
        }
        let node = self.find_callee(caller, root, process, address);
        self.recents.learn(Recent { address, caller, epoch: self.epoch, node });
        node
    }

    #[inline(never)]
    fn find_callee(&mut self, caller: u32, root: u32, process: Process, address: u64) -> u32 {
        let function = self.function(process, address);
        let (mut parent, depth) =
            self.nodes.get(caller as usize).map_or((root, 0), |node| (caller, node.depth));
        if depth > MAX_DEPTH {
            parent = self.nodes.get(caller as usize).map_or(root, |node| node.parent);
        }
        if self.has_room() || self.children.contains_key(&(parent, function)) {
            return self.child_of(parent, function);
        }
        let merged = self.child_of(root, MERGED);
        if self.nodes.len() < MOST_NODES {
            self.child_of(merged, function)
        } else {
            self.children.get(&(merged, function)).copied().unwrap_or(merged)
        }
    }

    /// Whether new paths get nodes of their own.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.nodes.len() < MAX_NODES
    }

    fn child_of(&mut self, parent: u32, function: u32) -> u32 {
        if let Some(&node) = self.children.get(&(parent, function)) {
            return node;
        }
        let depth = self.nodes.get(parent as usize).map_or(0, |node| node.depth) + 1;
        let node = self.push(parent, function, depth);
        self.children.insert((parent, function), node);
        node
    }

    fn push(&mut self, parent: u32, function: u32, depth: u32) -> u32 {
        let index = self.nodes.len() as u32;
        self.nodes.push(Node {
            parent,
            function,
            calls: 0,
            complete: 0,
            across_loss: 0,
            no_exit: 0,
            no_entry: 0,
            clipped: 0,
            total: 0,
            own: 0,
            complete_total: 0,
            shortest: u64::MAX,
            longest: 0,
            depth,
            open: 0,
        });
        index
    }

    fn function(&mut self, process: Process, address: u64) -> u32 {
        let code = self.codes.find(process, address);
        let key = code.map(|code| (code.name, address - code.base));
        let known = match key {
            Some(key) => self.code_functions.get(&key),
            None => self.functions.entry(process).or_default().get(&address),
        };
        if let Some(&function) = known {
            if let Some(addresses) = self.addresses.as_mut().filter(|_| key.is_some()) {
                addresses.learn(process, address, function);
            }
            return function;
        }
        if self.function_count as usize >= MAX_FUNCTIONS {
            return MERGED;
        }
        let function = self.function_count;
        self.function_count += 1;
        match key {
            Some(key) => self.code_functions.insert(key, function),
            None => self.functions.entry(process).or_default().insert(address, function),
        };
        self.pending.push((process, address, code));
        if let Some(addresses) = &mut self.addresses {
            addresses.learn(process, address, function);
        }
        function
    }

    /// Tells which function is at an address from now on, whatever was there.
    pub fn set_function(&mut self, process: Process, address: u64, function: u32) {
        self.epoch = self.epoch.wrapping_add(1);
        self.functions.entry(process).or_default().insert(address, function);
        self.function_count = self.function_count.max(function.saturating_add(1));
    }

    /// Gives new functions numbers from some on.
    pub fn reserve_functions(&mut self, count: u32) {
        self.function_count = self.function_count.max(count);
    }

    fn forget_addresses(&mut self, process: Process, first: u64, last: u64) {
        if let Some(addresses) = &mut self.addresses {
            addresses.forget(process, first, last, self.now);
        }
    }

    /// The functions that call sites are in, as far as they are known.
    pub fn known_sites(&self) -> impl Iterator<Item = (Process, u64, u64)> + '_ {
        let of_process = |(process, sites): (&Process, &KeyedMap<u64, u64>)| {
            let process = *process;
            let sites: Vec<(u64, u64)> = sites.iter().map(|(&site, &at)| (site, at)).collect();
            sites.into_iter().map(move |(site, at)| (process, site, at))
        };
        self.sites.iter().flat_map(of_process)
    }

    /// Tells which function is at some addresses of a process from now on.
    pub fn add_code(&mut self, process: Process, base: u64, size: u64, told: &Told) {
        if let Some(more) = size.checked_sub(1) {
            self.forget_addresses(process, base, base.saturating_add(more));
        }
        self.codes.add(process, base, size, told);
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// Tells that the code objects of a process are gone. Returns whether there were any.
    pub fn forget_codes(&mut self, process: Process) -> bool {
        self.epoch = self.epoch.wrapping_add(1);
        self.forget_addresses(process, 0, u64::MAX);
        self.codes.forget(process, 0, u64::MAX)
    }

    /// Tells that addresses of a process, the last one included, may be other functions
    /// from now on.
    pub fn forget(&mut self, process: Process, first: u64, last: u64) {
        self.forget_addresses(process, first, last);
        if self.codes.forget(process, first, last) {
            self.epoch = self.epoch.wrapping_add(1);
        }
        if let Some(functions) = self.functions.get_mut(&process) {
            functions.retain(|address, _| !(first..=last).contains(address));
            self.epoch = self.epoch.wrapping_add(1);
        }
        if let Some(sites) = self.sites.get_mut(&process) {
            sites.retain(|site, _| !(first..=last).contains(site));
            self.last_site = None;
        }
    }

    /// The address of the function that a call site is in, if that is known.
    #[inline]
    pub fn caller(&mut self, process: Process, site: u64) -> Option<u64> {
        if site == 0 || self.sites.is_empty() {
            return None;
        }
        let caller = match self.last_site {
            Some((last, at, caller)) if (last, at) == (process, site) => caller,
            _ => {
                let caller = self.sites.get(&process)?.get(&site).copied()?;
                self.last_site = Some((process, site, caller));
                caller
            }
        };
        (caller != 0).then_some(caller)
    }

    /// Whether it was told before in which function a call site is.
    pub fn knows_site(&self, process: Process, site: u64) -> bool {
        self.sites.get(&process).is_some_and(|sites| sites.contains_key(&site))
    }

    /// Tells in which function a call site is, 0 if that is not known.
    pub fn add_site(&mut self, process: Process, site: u64, caller: u64) {
        let sites = self.sites.entry(process).or_default();
        if sites.len() < MAX_FUNCTIONS {
            sites.insert(site, caller);
        }
    }

    /// The functions that are new since the last call, in the order of their indexes.
    pub fn take_pending(&mut self) -> Vec<(Process, u64, Option<Code>)> {
        std::mem::take(&mut self.pending)
    }

    /// The function of a node, or what is in its place.
    #[inline]
    pub fn function_of(&self, node: u32) -> u32 {
        self.nodes.get(node as usize).map_or(ROOT, |node| node.function)
    }

    /// Begins a call.
    #[inline]
    pub fn begin(&mut self, node: u32) {
        if let Some(node) = self.nodes.get_mut(node as usize) {
            node.calls += 1;
            node.open += 1;
        }
    }

    /// Ends a call that took `time`, of which `inner` was spent in calls that it made. Returns
    /// whether it is within no other one of its node.
    #[inline]
    pub fn end(&mut self, node: u32, time: u64, inner: u64, end: End) -> bool {
        let Some(node) = self.nodes.get_mut(node as usize) else { return false };
        node.open = node.open.saturating_sub(1);
        let is_outermost = node.open == 0;
        if is_outermost {
            node.total = node.total.saturating_add(time);
        }
        node.own = node.own.saturating_add(time.saturating_sub(inner));
        match end {
            End::Complete => {
                node.complete += 1;
                node.complete_total = node.complete_total.saturating_add(time);
                node.shortest = node.shortest.min(time);
                node.longest = node.longest.max(time);
            }
            End::AcrossLoss => node.across_loss += 1,
            End::NoExit => node.no_exit += 1,
            End::Clipped => node.clipped += 1,
            End::Before => node.calls = node.calls.saturating_sub(1),
        }
        is_outermost
    }

    /// Counts a call without entry.
    pub fn end_unseen(&mut self, node: u32) {
        if let Some(node) = self.nodes.get_mut(node as usize) {
            node.calls += 1;
            node.no_entry += 1;
        }
    }

    /// Counts a call that is too deep to be followed.
    pub fn count_unfollowed(&mut self, node: u32) {
        if let Some(node) = self.nodes.get_mut(node as usize) {
            node.calls += 1;
            node.no_exit += 1;
        }
    }
}
