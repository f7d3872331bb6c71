//! Names, unique IDs and attributes of the parts of a trace class (CTF2-SPEC-2.0, section 5).

/// What identifies a trace class, a data stream class, an event record class or a clock
/// class across traces, and what a producer tells about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// Whose names these are.
    pub namespace: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// Its unique ID within namespace and name.
    pub uid: Option<String>,
    /// Attributes by namespace: a JSON object.
    pub attributes: Attributes,
}

/// Attributes of a producer: the text of a JSON object, kept as it was found.
pub type Attributes = Option<Box<str>>;

/// Where the values of a clock count from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ClockOrigin {
    /// Nothing is known about it.
    #[default]
    Unknown,
    /// 1970-01-01 00:00:00 UTC.
    UnixEpoch,
    /// A point that other clocks may share.
    Custom {
        /// Whose name it is.
        namespace: Option<String>,
        /// Its name.
        name: String,
        /// Its unique ID within namespace and name.
        uid: String,
    },
}
