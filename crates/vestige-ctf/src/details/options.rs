//! What is shown, and in which colours.

/// Terminal codes; all empty when there is no colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Palette {
    /// Back to normal.
    pub reset: &'static str,
    /// Values.
    pub bold: &'static str,
    /// Names of events.
    pub green: &'static str,
    /// Kinds of field classes.
    pub blue: &'static str,
    /// Names of properties.
    pub magenta: &'static str,
    /// Names of fields, and what tells the data stream.
    pub cyan: &'static str,
    /// The value *no*.
    pub bright_red: &'static str,
    /// The value *yes*.
    pub bright_green: &'static str,
    /// Kinds of objects.
    pub bright_yellow: &'static str,
    /// Times.
    pub bright_blue: &'static str,
    /// The absence of a value.
    pub bright_magenta: &'static str,
    /// Numbers that tell the data stream.
    pub bright_cyan: &'static str,
}

impl Palette {
    /// The colours of Babeltrace 2. `bright_is_bold` tells how the terminal shows bright
    /// colours: as bold ones, or by codes of their own.
    #[must_use]
    pub fn colored(bright_is_bold: bool) -> Self {
        let bright = |bold, own| if bright_is_bold { bold } else { own };
        Self {
            reset: "\x1b[0m",
            bold: "\x1b[1m",
            green: "\x1b[32m",
            blue: "\x1b[34m",
            magenta: "\x1b[35m",
            cyan: "\x1b[36m",
            bright_red: bright("\x1b[1m\x1b[31m", "\x1b[91m"),
            bright_green: bright("\x1b[1m\x1b[32m", "\x1b[92m"),
            bright_yellow: bright("\x1b[1m\x1b[33m", "\x1b[93m"),
            bright_blue: bright("\x1b[1m\x1b[34m", "\x1b[94m"),
            bright_magenta: bright("\x1b[1m\x1b[35m", "\x1b[95m"),
            bright_cyan: bright("\x1b[1m\x1b[36m", "\x1b[96m"),
        }
    }
}

/// What is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The messages.
    pub data: bool,
    /// What the metadata declares.
    pub metadata: bool,
    /// A line for each message, without fields.
    pub compact: bool,
    /// Times.
    pub time: bool,
    /// Names of traces.
    pub trace_name: bool,
    /// Names of stream classes.
    pub stream_class_name: bool,
    /// Names of data streams.
    pub stream_name: bool,
    /// UUIDs.
    pub uuid: bool,
    /// Colours.
    pub palette: Palette,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            data: true,
            metadata: true,
            compact: false,
            time: true,
            trace_name: true,
            stream_class_name: true,
            stream_name: true,
            uuid: true,
            palette: Palette::default(),
        }
    }
}
