//! What the short layout looks like.

use crate::text::options::{ClockFormat, Names, Options, Palette, Style};

/// Options of the short layout.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShortOptions {
    /// How times are shown.
    pub clock: ClockFormat,
    /// Columns of the terminal; without a limit nothing is cut.
    pub width: Option<usize>,
    /// Whether there are colours.
    pub color: bool,
    /// Whether only ASCII is written, as far as it is our own text.
    pub ascii: bool,
    /// For indexes of traces what stands in the column of traces, which is there when any is.
    pub labels: Vec<(usize, String)>,
    /// Whether events are indented by the calls around them, and calls have braces.
    pub indent: bool,
    /// Whether names stand in place of addresses, where the trace tells them.
    pub symbols: bool,
}

impl ShortOptions {
    /// The options by which fields are written.
    pub fn of_fields(&self) -> Options {
        let field_palette = if self.color {
            Palette {
                field_name: "\x1b[36m",
                unknown: "\x1b[31m",
                reset: "\x1b[0m",
                ..Palette::default()
            }
        } else {
            Palette::default()
        };
        Options {
            clock: self.clock,
            names: Names { payload: true, context: true, ..Names::default() },
            palette: field_palette,
            style: Style { short: true, safe: true },
            ..Options::default()
        }
    }
}

/// Terminal codes of the parts of a line; all empty without colours.
#[derive(Debug, Clone, Copy, Default)]
pub struct Colors {
    /// Times, and exits of functions: what is rarely looked for.
    pub dim: &'static str,
    /// Long steps, and events of level warning.
    pub warning: &'static str,
    /// Very long steps, and events of levels more severe.
    pub alarm: &'static str,
    /// Names of other events.
    pub event: &'static str,
    /// Functions.
    pub function: &'static str,
    /// Source files and lines.
    pub source: &'static str,
    /// One for each thread, by its ID.
    pub threads: [&'static str; 6],
    /// Back to normal.
    pub reset: &'static str,
}

impl Colors {
    /// The colours of a terminal.
    pub fn of_terminal() -> Self {
        Self {
            dim: "\x1b[2m",
            warning: "\x1b[33m",
            alarm: "\x1b[1;31m",
            event: "\x1b[1;35m",
            function: "\x1b[1m",
            source: "\x1b[32m",
            threads: ["\x1b[36m", "\x1b[33m", "\x1b[35m", "\x1b[32m", "\x1b[34m", "\x1b[31m"],
            reset: "\x1b[0m",
        }
    }
}
