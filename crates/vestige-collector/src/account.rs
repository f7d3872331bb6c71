//! What is written of a slot, kept so that another collector can go on.

/// Numbers of 8 bytes that an account takes where it is kept.
pub const WORDS: usize = 10;

/// How far the records of a slot are in files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The last chunk that is wholly in a file.
    pub drained_seq: u64,
    /// Bytes of the chunk after it that are in a file, counted from its start; 0: none.
    pub flushed: u32,
    /// Whether the slot has a data stream; what follows is about that.
    pub opened: u32,
    pub instance_id: u64,
    /// The data file is the nth of the stream; 0: there is none yet.
    pub file_number: u32,
    pub file_bytes: u64,
    /// In overwrite mode: the file that goes away, from 1 on.
    pub ring_number: u64,
    pub ring_bytes: u64,
    /// The number of the next packet.
    pub packets: u64,
    /// Lost records as the last packet counts them.
    pub told_lost: u64,
    /// Of those: the ones of a thread before, whose stream the slot goes on with.
    pub inherited: u64,
    /// When the last packet ends.
    pub last_end: u64,
}

const fn pair(low: u32, high: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

impl Account {
    /// The account in the next chunk of the trace, where the stream has no file yet.
    #[must_use]
    pub const fn cut(self) -> Self {
        Self { file_number: 0, file_bytes: 0, ring_number: 0, ring_bytes: 0, ..self }
    }

    /// Whether there are packets of the stream, but none in this chunk of the trace.
    #[must_use]
    pub const fn is_cut(&self) -> bool {
        self.packets > 0 && self.file_bytes == 0 && self.ring_number == 0
    }

    /// The account as numbers.
    #[must_use]
    pub const fn words(&self) -> [u64; WORDS] {
        [
            self.drained_seq,
            self.file_bytes,
            self.instance_id,
            self.packets,
            self.told_lost,
            pair(self.flushed, self.file_number),
            self.last_end,
            self.inherited,
            self.ring_number,
            pair(self.ring_bytes as u32, self.opened),
        ]
    }

    /// The account that has these numbers.
    #[must_use]
    pub const fn of_words(words: [u64; WORDS]) -> Self {
        let [drained_seq, file_bytes, instance_id, packets, told_lost, file, last_end, inherited, ring_number, ring] =
            words;
        Self {
            drained_seq,
            flushed: file as u32,
            opened: (ring >> 32) as u32,
            instance_id,
            file_number: (file >> 32) as u32,
            file_bytes,
            ring_number,
            ring_bytes: ring & 0xFFFF_FFFF,
            packets,
            told_lost,
            inherited,
            last_end,
        }
    }
}
