//! Memory that peers cause to be used, within a limit of all and one of each peer.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// What changes all the time is counted in portions of so many bytes.
const PORTION: usize = 4096;

/// A count of bytes that has a limit.
#[derive(Debug)]
struct Count {
    used: AtomicUsize,
    most: usize,
}

impl Count {
    fn new(most: usize) -> Self {
        Self { used: AtomicUsize::new(0), most }
    }

    fn take(&self, bytes: usize) -> bool {
        let added = |used: usize| used.checked_add(bytes).filter(|&sum| sum <= self.most);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, added).is_ok()
    }

    fn give(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// The memory of all peers.
#[derive(Debug)]
pub struct Memory {
    all: Arc<Count>,
    most_of_one: usize,
    accounts: Mutex<HashMap<String, Weak<Account>>>,
}

impl Memory {
    /// Has so many bytes for all, three quarters of them for one peer.
    pub fn new(most: usize) -> Self {
        let all = Arc::new(Count::new(most));
        Self { all, most_of_one: most - most / 4, accounts: Mutex::default() }
    }

    /// What a peer has: one account, however many connections it has.
    pub fn account(&self, peer: &str) -> Arc<Account> {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(account) = accounts.get(peer).and_then(Weak::upgrade) {
            return account;
        }
        accounts.retain(|_, account| account.strong_count() > 0);
        let own = Count::new(self.most_of_one);
        let account = Arc::new(Account { all: Arc::clone(&self.all), own });
        accounts.insert(peer.to_owned(), Arc::downgrade(&account));
        account
    }

    /// Bytes that are in use.
    pub fn used(&self) -> usize {
        self.all.used.load(Ordering::Relaxed)
    }
}

/// The memory of a peer.
#[derive(Debug)]
pub struct Account {
    all: Arc<Count>,
    own: Count,
}

impl Account {
    /// One that nobody shares and that has no limit but its own.
    pub fn alone(most: usize) -> Arc<Self> {
        let all = Arc::new(Count::new(most));
        Arc::new(Self { all, own: Count::new(most) })
    }

    /// Takes a part of it.
    ///
    /// # Errors
    ///
    /// There is not so much left.
    pub fn take(self: &Arc<Self>, bytes: usize) -> io::Result<Share> {
        let mut share = Share { account: Arc::clone(self), bytes: 0 };
        share.grow(bytes)?;
        Ok(share)
    }
}

/// A part of the memory of a peer, which is given back with it.
#[derive(Debug)]
pub struct Share {
    account: Arc<Account>,
    bytes: usize,
}

impl Share {
    /// Takes more.
    ///
    /// # Errors
    ///
    /// There is not so much left; it is as large as before.
    pub fn grow(&mut self, bytes: usize) -> io::Result<()> {
        let Account { all, own } = &*self.account;
        if !own.take(bytes) {
            return Err(io::Error::other("the memory for this peer is used up"));
        }
        if !all.take(bytes) {
            own.give(bytes);
            return Err(io::Error::other("the memory for peers is used up"));
        }
        self.bytes += bytes;
        Ok(())
    }

    /// Lets it be as large as is needed now, or a little larger.
    ///
    /// # Errors
    ///
    /// There is not so much left; it is as large as before.
    pub fn hold(&mut self, needed: usize) -> io::Result<()> {
        if needed > self.bytes {
            return self.grow((needed - self.bytes).next_multiple_of(PORTION));
        }
        let spare = self.bytes - needed;
        if spare > 2 * PORTION {
            self.give(spare - spare % PORTION);
        }
        Ok(())
    }

    fn give(&mut self, bytes: usize) {
        self.account.own.give(bytes);
        self.account.all.give(bytes);
        self.bytes -= bytes;
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.give(self.bytes);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_leaves_something_to_others() {
        let memory = Memory::new(400);
        let (one, other) = (memory.account("one"), memory.account("other"));
        let share = one.take(300).unwrap();
        assert!(one.take(1).is_err());
        assert!(memory.account("one").take(1).is_err());
        let rest = other.take(100).unwrap();
        assert!(other.take(1).is_err());
        assert_eq!(memory.used(), 400);
        drop(share);
        assert!(other.take(200).is_ok());
        drop(rest);
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn a_share_follows_what_is_needed() {
        let account = Account::alone(64 << 10);
        let mut share = account.take(0).unwrap();
        for needed in (0..60 << 10).step_by(100) {
            share.hold(needed).unwrap();
            assert!((needed..needed + 3 * PORTION).contains(&share.bytes));
        }
        assert!(share.hold(65 << 10).is_err());
        share.hold(0).unwrap();
        assert!(share.bytes <= 2 * PORTION);
        let bytes = share.bytes;
        drop(share);
        assert_eq!(account.own.used.load(Ordering::Relaxed), 0, "{bytes}");
    }
}
