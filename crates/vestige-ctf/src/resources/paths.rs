//! Who has called whom where something happens: paths of open calls.

use crate::keyed_hash::KeyedMap;

/// The path of nobody.
pub const NO_PATH: u32 = 0;
/// How many paths are told apart; what is called on others counts for their callers.
const MOST_PATHS: usize = 1 << 20;
/// How many calls a path has; what is called deeper down counts for the last of them.
const DEEPEST: usize = 256;
/// How many calls of a thread are known to be open; of those above, the number.
const MOST_OPEN: usize = 1 << 12;

/// The open calls of a thread: the address of each function and the path.
#[derive(Debug, Default)]
struct Stack {
    calls: Vec<(u64, u32)>,
    /// How many more are open.
    above: u64,
}

/// Follows the calls of threads; each path is a number.
#[derive(Debug)]
pub struct CallPaths {
    /// By the numbers of the threads.
    stacks: Vec<Stack>,
    /// By the caller's path and the site of the function.
    children: KeyedMap<(u32, u32), u32>,
    /// The caller's path and the site of the function, by paths.
    nodes: Vec<(u32, u32)>,
    most_paths: usize,
    deepest: usize,
}

impl Default for CallPaths {
    fn default() -> Self {
        Self {
            stacks: Vec::new(),
            children: KeyedMap::default(),
            nodes: vec![(NO_PATH, 0)],
            most_paths: MOST_PATHS,
            deepest: DEEPEST,
        }
    }
}

impl CallPaths {
    /// Begins a call of a function in a thread: its address, 0 if it is not known, and its site.
    pub fn enter(&mut self, thread: u32, address: u64, site: u32) {
        let at = thread as usize;
        if at >= self.stacks.len() {
            self.stacks.resize_with(at + 1, Stack::default);
        }
        let Some(stack) = self.stacks.get_mut(at) else { return };
        if stack.above > 0 || stack.calls.len() >= MOST_OPEN {
            stack.above += 1;
            return;
        }
        let key = (stack.calls.last().map_or(NO_PATH, |call| call.1), site);
        let path = match self.children.get(&key) {
            Some(path) => *path,
            None if self.nodes.len() >= self.most_paths => key.0,
            None if stack.calls.len() >= self.deepest => key.0,
            None => {
                let path = self.nodes.len() as u32;
                self.children.insert(key, path);
                self.nodes.push(key);
                path
            }
        };
        stack.calls.push((address, path));
    }

    /// Ends a call of a function, of the innermost one if its address is 0. What it called and
    /// what did not end is left, too.
    pub fn leave(&mut self, thread: u32, address: u64) {
        let Some(stack) = self.stacks.get_mut(thread as usize) else { return };
        if stack.above > 0 {
            stack.above -= 1;
            return;
        }
        let is_it = |call: &(u64, u32)| address == 0 || call.0 == address;
        // An exception or a jump has left those above; or there is none, its entry is missing.
        if let Some(index) = stack.calls.iter().rposition(is_it) {
            stack.calls.truncate(index);
        }
    }

    /// The path of the calls that are open in a thread.
    #[inline]
    pub fn of(&self, thread: u32) -> u32 {
        let stack = self.stacks.get(thread as usize);
        stack.and_then(|stack| stack.calls.last()).map_or(NO_PATH, |call| call.1)
    }

    /// The sites of the functions of a path, the outermost one first.
    pub fn sites(&self, mut path: u32) -> Vec<u32> {
        let mut found = Vec::new();
        while path != NO_PATH {
            let Some((caller, site)) = self.nodes.get(path as usize) else { break };
            found.push(*site);
            path = *caller;
        }
        found.reverse();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: u32 = 0;
    const OTHER: u32 = 3;

    #[test]
    fn each_thread_has_its_own_path() {
        let mut paths = CallPaths::default();
        for thread in [ONE, OTHER] {
            paths.enter(thread, 0x1, 5);
            paths.enter(thread, 0x2, 6);
        }
        let same = paths.of(ONE);
        assert_eq!(same, paths.of(OTHER));
        assert_eq!(paths.sites(same), [5, 6]);
        paths.leave(ONE, 0x2);
        assert_eq!(paths.sites(paths.of(ONE)), [5]);
        assert_eq!(paths.of(OTHER), same);
        assert_eq!(paths.of(9), NO_PATH);
        assert!(paths.sites(NO_PATH).is_empty());
    }

    #[test]
    fn an_exit_ends_what_a_jump_has_left() {
        let mut paths = CallPaths::default();
        for number in 1..4u32 {
            paths.enter(ONE, number.into(), number);
        }
        paths.leave(ONE, 7);
        assert_eq!(paths.sites(paths.of(ONE)), [1, 2, 3]);
        paths.leave(ONE, 2);
        assert_eq!(paths.sites(paths.of(ONE)), [1]);
        paths.leave(ONE, 0);
        paths.leave(ONE, 0);
        assert_eq!(paths.of(ONE), NO_PATH);
    }

    #[test]
    fn paths_are_bounded() {
        let mut paths = CallPaths { deepest: 3, ..CallPaths::default() };
        for number in 1..11u32 {
            paths.enter(ONE, number.into(), number);
        }
        assert_eq!(paths.sites(paths.of(ONE)), [1, 2, 3]);
        for number in (4..11).rev() {
            paths.leave(ONE, number);
        }
        assert_eq!(paths.sites(paths.of(ONE)), [1, 2, 3]);
        paths.leave(ONE, 3);
        assert_eq!(paths.sites(paths.of(ONE)), [1, 2]);
        paths.most_paths = 4;
        paths.enter(OTHER, 9, 9);
        assert_eq!(paths.of(OTHER), NO_PATH);
    }

    #[test]
    fn open_calls_are_bounded() {
        let mut paths = CallPaths::default();
        for _ in 0..MOST_OPEN + 10 {
            paths.enter(ONE, 1, 1);
        }
        let deepest = paths.of(ONE);
        (0..10).for_each(|_| paths.leave(ONE, 1));
        assert_eq!(paths.of(ONE), deepest);
        (0..MOST_OPEN).for_each(|_| paths.leave(ONE, 1));
        assert_eq!(paths.of(ONE), NO_PATH);
    }
}
