//! What all lines share: options, colours, and how wide columns are.

use super::options::{Colors, ShortOptions};
use crate::calls::Mark;
use crate::text::options::Options;

/// Spaces between columns.
pub const GAP: usize = 2;
/// Lines are not cut to less, however narrow the terminal is.
pub const LEAST_WIDTH: usize = 60;
/// Columns for each call around an event.
const INDENT: usize = 2;
/// Most columns of indentation, where nothing limits the line.
const MOST: usize = 128;

/// Widest columns that others are aligned behind, when nothing limits the line.
const WIDEST: Widths = Widths { who: 32, name: 40, fields: 48 };

/// How wide the columns are that have no width of their own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Widths {
    /// Process and thread.
    pub who: usize,
    /// Name of the event.
    pub name: usize,
    /// Fields.
    pub fields: usize,
}

impl Widths {
    /// The wider ones of two.
    pub fn max(self, other: Self) -> Self {
        Self {
            who: self.who.max(other.who),
            name: self.name.max(other.name),
            fields: self.fields.max(other.fields),
        }
    }

    /// The narrower ones of two.
    pub fn min(self, other: Self) -> Self {
        Self {
            who: self.who.min(other.who),
            name: self.name.min(other.name),
            fields: self.fields.min(other.fields),
        }
    }

    /// The widest that a line may have.
    pub fn most(width: Option<usize>) -> Self {
        let Some(width) = width else { return WIDEST };
        Self {
            who: WIDEST.who.min(width / 5),
            name: WIDEST.name.min(width / 3),
            fields: WIDEST.fields.min(width / 3),
        }
    }
}

/// What all lines share.
pub struct Layout<'a> {
    /// Options of the layout.
    pub options: &'a ShortOptions,
    /// Options of the fields.
    pub fields: &'a Options,
    /// Colours.
    pub colors: &'a Colors,
    /// How wide the columns are.
    pub widths: Widths,
    /// How wide they may become.
    pub most: Widths,
}

/// How far an event is indented, on lines that may have so many columns.
pub fn indent_columns(mark: Option<&Mark>, width: Option<usize>) -> usize {
    let depth = mark.map_or(0, |mark| mark.depth as usize);
    let most = width.map_or(MOST, |width| (width / 3).min(MOST));
    depth.saturating_mul(INDENT).min(most)
}
