//! Programs of two units, and the files that lie beside them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use vestige_symbols::{ObjectFile, SplitFailure, SplitFiles, SymbolFiles, SymbolTable};

use super::programs::CPP_PROGRAM;
use super::{have, open, run, Scratch};

/// A second unit, which shares types and an inlined function with the first.
pub const SECOND_UNIT: &str = r#"
#include <cstdlib>
#include <string>
#include <vector>
struct Pair { int first; long second; };
static inline __attribute__((always_inline)) int scaled(int a) { return a * 3 + std::atoi("2"); }
int second_unit(const std::string &text, std::vector<Pair> &pairs) {
    int sum = scaled(static_cast<int>(text.size()));
    for (const Pair &pair : pairs) sum += scaled(pair.first) ^ static_cast<int>(pair.second);
    if (__builtin_expect(sum == 77, 0)) { std::abort(); }
    return sum;
}
"#;

/// Compiles and links two units; `None`, with a printed reason, when that is not possible here.
pub fn build(scratch: &Scratch, name: &str, compiler: &str, flags: &[&str]) -> Option<PathBuf> {
    if !have(compiler) {
        return None;
    }
    let directory = scratch.path(name);
    std::fs::create_dir_all(&directory).unwrap();
    let mut objects = Vec::new();
    for (unit, text) in [("first", CPP_PROGRAM), ("second", SECOND_UNIT)] {
        // The sources have one place, so that two builds name the same files.
        let source = scratch.path(&format!("{unit}.cc"));
        std::fs::write(&source, text).unwrap();
        let object = directory.join(format!("{unit}.o"));
        let mut arguments = flags.to_vec();
        arguments.extend(["-c", "-o", object.to_str().unwrap(), source.to_str().unwrap()]);
        if !run(compiler, &arguments) {
            return None;
        }
        objects.push(object);
    }
    let program = directory.join("program");
    let mut arguments = flags.to_vec();
    arguments.extend(["-o", program.to_str().unwrap()]);
    arguments.extend(objects.iter().map(|object| object.to_str().unwrap()));
    run(compiler, &arguments).then_some(program)
}

/// `.dwo` files by the ID of their unit.
pub struct Directory(pub BTreeMap<u64, PathBuf>);

impl Directory {
    /// The files that the split units of an object name.
    pub fn of(object: &ObjectFile) -> Arc<Self> {
        let path = |bytes: &[u8]| PathBuf::from(std::str::from_utf8(bytes).unwrap());
        let units = object.split_units().unwrap().into_iter();
        let files = units.map(|unit| (unit.dwo_id, path(&unit.directory).join(path(&unit.name))));
        Arc::new(Self(files.collect()))
    }
}

impl SplitFiles for Directory {
    fn open(&self, dwo_id: u64) -> Option<Result<Arc<ObjectFile>, SplitFailure>> {
        let path = self.0.get(&dwo_id)?;
        Some(match std::fs::read(path) {
            Ok(data) => super::object(data).map(Arc::new).map_err(SplitFailure::Content),
            Err(error) => Err(SplitFailure::Access(error.to_string())),
        })
    }
}

/// The symbols of a program with its `.dwo` files.
pub fn split_table(program: &Path) -> SymbolTable {
    let object = open(program);
    let files = Directory::of(&object);
    SymbolTable::of_files(SymbolFiles::new(&object, None), Some(files)).unwrap()
}

/// The symbols of a program with a package.
pub fn packaged_table(program: &Path, package: &Path) -> SymbolTable {
    let (object, package) = (open(program), open(package));
    let files = SymbolFiles { package: Some(&package), ..SymbolFiles::new(&object, None) };
    SymbolTable::of_files(files, None).unwrap()
}
