//! What the text looks like.

use std::sync::Arc;

use crate::kernel_symbols::KernelSymbols;

/// How the time of an event record is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClockFormat {
    /// Clock cycles instead of a time.
    pub cycles: bool,
    /// The date before the time of day.
    pub date: bool,
    /// UTC instead of local time.
    pub utc: bool,
    /// Seconds since the origin instead of the time of day.
    pub seconds: bool,
    /// The time since the last event record.
    pub delta: bool,
}

/// Which facts about the trace and the class stand before the name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeaderFields {
    /// Name of the trace.
    pub trace: bool,
    /// Environment entry `hostname`.
    pub hostname: bool,
    /// Environment entry `domain`.
    pub domain: bool,
    /// Environment entry `procname`.
    pub procname: bool,
    /// Environment entry `vpid`.
    pub vpid: bool,
    /// Log level of the class.
    pub log_level: bool,
    /// EMF URI of the class.
    pub emf: bool,
}

/// Which names are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Names {
    /// Names of payload fields.
    pub payload: bool,
    /// Names of context fields.
    pub context: bool,
    /// Names of what stands in the header.
    pub header: bool,
    /// Names of the scopes.
    pub scope: bool,
}

/// Terminal codes; all empty when there is no colour.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Palette {
    /// Names of header entries and scopes.
    pub name: &'static str,
    /// Names of fields.
    pub field_name: &'static str,
    /// Strings, numbers and labels.
    pub value: &'static str,
    /// What is unknown.
    pub unknown: &'static str,
    /// Event names.
    pub event_name: &'static str,
    /// Times.
    pub time: &'static str,
    /// Back to normal.
    pub reset: &'static str,
}

impl Palette {
    /// The colours of Babeltrace 2. `bright_is_bold` tells how the terminal shows bright
    /// colours: as bold ones, or by codes of their own.
    #[must_use]
    pub fn colored(bright_is_bold: bool) -> Self {
        let bright = |bold, own| if bright_is_bold { bold } else { own };
        Self {
            name: "\x1b[1m",
            field_name: "\x1b[36m",
            value: "\x1b[1m",
            unknown: bright("\x1b[1m\x1b[1m\x1b[31m", "\x1b[1m\x1b[91m"),
            event_name: bright("\x1b[1m\x1b[1m\x1b[35m", "\x1b[1m\x1b[95m"),
            time: bright("\x1b[1m\x1b[1m\x1b[33m", "\x1b[1m\x1b[93m"),
            reset: "\x1b[0m",
        }
    }
}

/// How values and names are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Style {
    /// The punctuation of the short layout, not that of Babeltrace 2.
    pub short: bool,
    /// What could steer a terminal is written as an escape.
    pub safe: bool,
}

/// All options of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Time.
    pub clock: ClockFormat,
    /// Header.
    pub fields: HeaderFields,
    /// Names.
    pub names: Names,
    /// Colours.
    pub palette: Palette,
    /// Punctuation and escapes.
    pub style: Style,
    /// Names that stand in place of addresses.
    pub symbols: Option<Arc<KernelSymbols>>,
}
