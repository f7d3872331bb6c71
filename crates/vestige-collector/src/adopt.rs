//! Slots that another collector has left: what it noted of them is checked against the files.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::account::Account;
use crate::packet::{instance_of, HEAD_BYTES};
use crate::recording::{Recording, SlotState};
use crate::streams::ring_name;

/// A count that programs see, where the collector was killed between its two stores: what it
/// noted itself, or one more.
fn later(noted: u32, seen: &AtomicU32) -> u32 {
    let next = noted.wrapping_add(1);
    let count = if seen.load(Ordering::Relaxed) == next { next } else { noted };
    seen.store(count, Ordering::Relaxed);
    count
}

impl Recording {
    /// Goes on with the slots that another collector has left, as it has noted them: not in the
    /// arena, to which a user can write, and would name the files of others there.
    pub fn adopt(&self) {
        let mut names = HashSet::new();
        for slot in 1..=self.slots_in_use() {
            let is_claimed = self.arena.slot(slot).claimed().load(Ordering::Acquire) != 0;
            let ledger = self.arena.ledger(slot);
            let noted = self.arena.accounts().counts(slot);
            let account = self.arena.accounts().read(slot);
            if !is_claimed && account.opened == 0 {
                continue;
            }
            let account = self.checked(account, &mut names);
            self.arena.note(slot, &account);
            if is_claimed && account.opened != 0 {
                let thread = self.told_identity(&self.first_look(slot));
                self.trace.streams().take_over(account.instance_id, thread.pid_namespace);
            }
            if let Some(mut guard) = self.slot(slot).filter(|_| is_claimed) {
                *guard = Some(Box::new(SlotState {
                    account,
                    given: later(noted.given, ledger.given()),
                    returned: later(noted.returned, ledger.returned()),
                    consumed: later(noted.consumed, ledger.consumed()),
                    is_adopted: true,
                    ..self.first_look(slot)
                }));
            }
        }
    }

    /// The account, if its files are those of its stream: what a collector was writing when it
    /// was killed is cut off then. Else the slot begins another stream, and they stay as they are.
    fn checked(&self, account: Account, names: &mut HashSet<String>) -> Account {
        let mut files = Vec::new();
        if account.opened != 0 && account.file_number != 0 {
            let name = self.trace.data_name(account.instance_id, account.file_number);
            files.push((name, account.file_bytes, account.file_bytes == 0));
        }
        if account.opened != 0 && account.ring_number != 0 {
            files.push((ring_name(account.ring_number), account.ring_bytes, true));
        }
        for (name, bytes, may_be_gone) in files {
            let error = match self.cut(&name, bytes, account.instance_id) {
                Ok(()) if names.insert(name.clone()) => {
                    self.trace.indexes.settle(&self.trace.files, &name, bytes);
                    continue;
                }
                Ok(()) => io::Error::other("two threads have it"),
                Err(error) => error,
            };
            let is_gone = error.kind() == io::ErrorKind::NotFound;
            if is_gone && may_be_gone {
                continue;
            }
            let path = self.trace.files.path_of(&name);
            self.trace.set_damaged();
            self.trace.add_problem(format!(
                "{}: {error}: what comes after it is in another file",
                path.display()
            ));
            let (drained_seq, flushed) = (account.drained_seq, account.flushed);
            return Account { drained_seq, flushed, ..Account::default() };
        }
        account
    }

    /// Cuts off what is beyond the valid bytes of a file of a stream.
    fn cut(&self, name: &str, bytes: u64, instance: u64) -> io::Result<()> {
        let file = self.trace.files.get(name)?;
        let length = file.metadata()?.len();
        if length < bytes {
            let missing = bytes - length;
            return Err(io::Error::other(format!("{missing} bytes that were written are gone")));
        }
        if bytes > 0 && !self.is_of_stream(&file, instance)? {
            return Err(io::Error::other("it is not the file of its data stream"));
        }
        if length > bytes {
            file.set_len(bytes)?;
        }
        Ok(())
    }

    /// Whether the first packet of a file says so.
    fn is_of_stream(&self, file: &File, instance: u64) -> io::Result<bool> {
        let mut head = [0; HEAD_BYTES];
        match file.read_exact_at(&mut head, 0) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            other => other?,
        }
        Ok(instance_of(&head, &self.trace.uuid) == Some(instance))
    }
}
