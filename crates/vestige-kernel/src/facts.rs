//! What is known of a thread at some time, and what becomes of that by what happens to it.

use crate::ids::{Asked, NO_ID};
use crate::spaces::{
    self, SpacesRead, FIRST_USER_SPACE, PID_SPACE, SPACES, TIME_SPACE, USER_SPACE,
};

/// Bytes of the name of a thread (`TASK_COMM_LEN`).
pub const NAME_BYTES: usize = 16;
/// What nobody knows: no process, no user, no namespace.
pub const UNKNOWN: i32 = -1;
/// How many IDs are of users; those of groups follow.
const USERS: usize = 3;
/// Flags of clone(2).
pub(crate) const CLONE_VM: u64 = 0x100;
const CLONE_PARENT: u64 = 0x8000;
pub(crate) const CLONE_THREAD: u64 = 0x1_0000;
/// The flag of a namespace of time.
pub(crate) const TIME: u64 = spaces::flag(TIME_SPACE);

/// What is known of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    pub process: i32,
    /// The process that made it, or who has it now.
    pub parent: i32,
    /// Process, thread and parent, in the namespace of the process.
    pub inner: [i32; 3],
    pub name: [u8; NAME_BYTES],
    /// Users and groups: real, effective, saved.
    pub ids: [u32; 6],
    pub spaces: [u32; SPACES],
    /// Flags of the namespaces that its children are in, and it is not.
    pub ahead: u64,
    /// Whether its IDs in its namespace are those of the machine.
    pub is_outer: bool,
}

impl Default for Facts {
    fn default() -> Self {
        Self {
            process: UNKNOWN,
            parent: UNKNOWN,
            inner: [UNKNOWN; 3],
            name: [0; NAME_BYTES],
            ids: [NO_ID; 6],
            spaces: [spaces::UNKNOWN; SPACES],
            ahead: 0,
            is_outer: false,
        }
    }
}

impl Facts {
    /// A user or group, as the process sees it; known where it is in the machine's namespace.
    #[must_use]
    pub fn inner_id(&self, which: usize) -> u32 {
        if self.spaces.get(USER_SPACE) == Some(&FIRST_USER_SPACE) {
            return self.ids.get(which).copied().unwrap_or(NO_ID);
        }
        NO_ID
    }

    /// Runs another program: the real users and groups stay.
    fn execute(&mut self) {
        for which in [1, 2, 4, 5] {
            if let Some(one) = self.ids.get_mut(which) {
                *one = NO_ID;
            }
        }
        // Since Linux 6.1, a program begins in the time that was ahead.
        spaces::forget(&mut self.spaces, self.ahead & TIME);
    }

    /// Does what was asked for; numbers are known in the machine's namespace of users.
    fn set_ids(&mut self, is_group: bool, asked: Asked) {
        let is_outer = self.spaces.get(USER_SPACE) == Some(&FIRST_USER_SPACE);
        let of_all = self.ids.split_at_mut(USERS);
        let of_kind = if is_group { of_all.1 } else { of_all.0 };
        if let [real, effective, saved] = of_kind {
            let old = [*real, *effective, *saved];
            [*real, *effective, *saved] = if is_outer { asked.done(old) } else { [NO_ID; 3] };
        }
    }

    /// Is in other namespaces, or its children will be: those of time only where they are new.
    fn change_spaces(&mut self, flags: u64, is_new: bool) {
        let of_children = spaces::flag(PID_SPACE) | if is_new { TIME } else { 0 };
        spaces::forget(&mut self.spaces, flags & !of_children);
        self.ahead |= flags & of_children;
    }

    fn take_spaces(&mut self, read: &SpacesRead) {
        self.spaces = read.spaces;
        if let ([process, thread, _], Some(inner)) = (&mut self.inner, read.inner) {
            [*process, *thread] = inner;
        }
    }

    pub(crate) fn lose_parent(&mut self) {
        self.parent = UNKNOWN;
        let [_, _, parent] = &mut self.inner;
        *parent = UNKNOWN;
    }

    /// What is known of a new thread, by what is known of the one that made it.
    pub(crate) fn child(&self, thread: i32, flags: u64, name: [u8; NAME_BYTES]) -> Self {
        let is_thread = flags & CLONE_THREAD != 0;
        let process = if is_thread { self.process } else { thread };
        let is_sibling = flags & (CLONE_THREAD | CLONE_PARENT) != 0;
        let parent = if is_sibling { self.parent } else { self.process };
        let mut made = Self { process, parent, name, ..self.clone() };
        // Who shares its memory shares what is ahead of it.
        let new = flags | if flags & CLONE_VM == 0 { self.ahead } else { self.ahead & !TIME };
        made.ahead = if flags & CLONE_VM == 0 { 0 } else { self.ahead & TIME };
        spaces::forget(&mut made.spaces, new);
        let has_new_space = new & spaces::flag(PID_SPACE) != 0;
        made.is_outer = self.is_outer && !has_new_space;
        made.inner = if made.is_outer { [process, thread, parent] } else { [UNKNOWN; 3] };
        made
    }

    /// What is known of the thread of a CPU that has nothing to do.
    #[must_use]
    pub fn idle(cpu: u32) -> Self {
        let mut name = [0; NAME_BYTES];
        for (to, from) in name.iter_mut().take(NAME_BYTES - 1).zip(format!("swapper/{cpu}").bytes())
        {
            *to = from;
        }
        Self {
            process: 0,
            parent: 0,
            inner: [0; 3],
            name,
            ids: [0; 6],
            is_outer: true,
            ..Self::default()
        }
    }
}

/// What happened to a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was read from outside.
    Read(Box<Facts>),
    /// Another thread made it.
    Born {
        by: i32,
        flags: u64,
        name: [u8; NAME_BYTES],
    },
    /// It is as it was then; nothing is known of the time before.
    Known(Box<Facts>),
    Renamed([u8; NAME_BYTES]),
    /// It runs another program: effective users may be others.
    Executed,
    /// It asks for other users or groups.
    IdsAsked {
        is_group: bool,
        asked: Asked,
    },
    /// It has got them, or not.
    IdsChanged {
        is_done: bool,
    },
    /// These were read while it ran, and are those that it began with.
    IdsRead([u32; 6]),
    /// It asks for other namespaces, for itself or its children; the flags of these.
    SpacesAsked {
        flags: u64,
        is_new: bool,
    },
    /// It has got them, or not.
    SpacesChanged {
        is_done: bool,
    },
    /// These were read while it was in them, and are those that it got then.
    SpacesRead(SpacesRead),
    /// The process that made it ended.
    Orphaned,
    /// It ended, and its process with it, or not.
    Ended {
        is_last: bool,
    },
}

/// What is known of a thread while one thing after the other happens to it.
pub(crate) struct Changing {
    pub facts: Facts,
    /// Users or groups, and namespaces, that it has asked for.
    ids: Option<(bool, Asked)>,
    spaces: Option<(u64, bool)>,
}

impl Changing {
    pub fn new(facts: Facts) -> Self {
        Self { facts, ids: None, spaces: None }
    }

    /// Knows of the next thing that happens; what tells all of it is no such thing.
    pub fn take(&mut self, change: &Change) {
        let facts = &mut self.facts;
        match change {
            Change::Renamed(name) => facts.name = *name,
            Change::Executed => facts.execute(),
            Change::IdsAsked { is_group, asked } => self.ids = Some((*is_group, *asked)),
            Change::IdsChanged { is_done } => match self.ids.take() {
                _ if !is_done => {}
                Some((is_group, asked)) => facts.set_ids(is_group, asked),
                None => facts.ids = [NO_ID; 6],
            },
            Change::IdsRead(ids) => facts.ids = *ids,
            Change::SpacesAsked { flags, is_new } => self.spaces = Some((*flags, *is_new)),
            Change::SpacesChanged { is_done } => {
                let (flags, is_new) = self.spaces.take().unwrap_or((u64::MAX, false));
                if *is_done {
                    facts.change_spaces(flags, is_new);
                }
            }
            Change::SpacesRead(read) => facts.take_spaces(read),
            Change::Orphaned => facts.lose_parent(),
            Change::Ended { .. } | Change::Read(_) | Change::Known(_) | Change::Born { .. } => {}
        }
    }
}
