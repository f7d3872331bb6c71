//! The full paths of the files of one unit.

use std::collections::HashMap;

use crate::budget::Meter;
use crate::dwarf::strings::StringPosition;
use crate::dwarf::view::Dwarf;
use crate::index::unit_table::UnitTableWriter;

/// The name of a file of a line table, and the directory it is relative to.
pub(crate) type NamedFile = (StringPosition, Option<StringPosition>);

/// Makes paths of the files of a line table, each once, when it is first asked for.
#[derive(Debug)]
pub(crate) struct SourcePaths<'a> {
    /// The directory of the compilation; empty when it is unknown.
    base: String,
    numbers: HashMap<u64, u32>,
    bytes_left: Meter<'a>,
}

impl<'a> SourcePaths<'a> {
    pub(crate) fn new(base: Option<&[u8]>, bytes_left: Meter<'a>) -> Self {
        let base = base.map(String::from_utf8_lossy).unwrap_or_default().into_owned();
        Self { base, numbers: HashMap::new(), bytes_left }
    }

    /// The number of the string that is the path of a file, of which `named` gives the
    /// name when it was not asked for before; absolute where debug
    /// information allows it; 0 when there is no such file.
    pub(crate) fn number(
        &mut self,
        dwarf: &Dwarf<'_>,
        file: u64,
        named: impl FnOnce() -> Option<NamedFile>,
        writer: &mut UnitTableWriter,
    ) -> u32 {
        if let Some(known) = self.numbers.get(&file) {
            return *known;
        }
        let path = named().and_then(|named| self.path(dwarf, named));
        let number = path.map_or(0, |path| writer.add_string(&path));
        self.numbers.insert(file, number);
        number
    }

    fn path(&mut self, dwarf: &Dwarf<'_>, (name, directory): NamedFile) -> Option<String> {
        let name = String::from_utf8_lossy(name.read(dwarf)?);
        let mut path = self.base.clone();
        if let Some(directory) = directory {
            push_path(&mut path, &String::from_utf8_lossy(directory.read(dwarf)?));
        }
        push_path(&mut path, &name);
        self.bytes_left.take(path.len() as u64)?;
        Some(path)
    }
}

/// Appends a path to a directory, or replaces it when the path is absolute.
fn push_path(path: &mut String, tail: &str) {
    if is_absolute(tail) {
        path.clear();
    } else if !path.is_empty() && !path.ends_with('/') {
        path.push('/');
    }
    path.push_str(tail);
}

/// Absolute on the system of the compiler, which may have been Windows.
fn is_absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    let drive = bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.get(1) == Some(&b':')
        && matches!(bytes.get(2), Some(b'/' | b'\\'));
    drive || path.starts_with('/') || path.starts_with('\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_relative_and_keeps_absolute_paths() {
        let join = |base: &str, tail| {
            let mut path = base.to_owned();
            push_path(&mut path, tail);
            path
        };
        assert_eq!(join("/src", "a.c"), "/src/a.c");
        assert_eq!(join("/", "a.c"), "/a.c");
        assert_eq!(join("", "a.c"), "a.c");
        assert_eq!(join("/src", "/usr/a.h"), "/usr/a.h");
        assert_eq!(join("/src", "C:\\x\\a.c"), "C:\\x\\a.c");
    }
}
