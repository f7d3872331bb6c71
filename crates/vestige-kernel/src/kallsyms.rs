//! Names of the kernel's functions, from the text of `/proc/kallsyms` (Linux, `kernel/kallsyms.c`).
//!
//! Each line is an address of 16 digits, a letter that says what is there, a name, and the module
//! between brackets. Lines are in no order. An address belongs to the last symbol that begins at or
//! before it; of several that begin there, to the first one in the text, as the kernel itself says.

/// Letters of code, local and global.
const CODE: [u8; 4] = *b"tTwW";
/// Names that mark the end of code and are no functions.
const ENDS: [&[u8]; 2] = [b"_etext", b"_einittext"];
/// Bytes of code behind the last symbol of what has no known end.
const LAST: u64 = 0x1_0000;

/// A function, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub begin: u64,
    /// The first address behind it.
    pub end: u64,
    pub name: String,
    /// Empty: it is of the kernel itself.
    pub module: String,
}

struct Symbol<'a> {
    address: u64,
    is_code: bool,
    name: &'a [u8],
    module: &'a [u8],
}

/// The functions in which some addresses are, each once, in the order of their addresses.
///
/// `modules` are names, begins and sizes of modules, as far as these are known.
#[must_use]
pub fn functions_at(
    text: &[u8],
    modules: &[(String, u64, u64)],
    addresses: &[u64],
) -> Vec<Function> {
    let mut symbols: Vec<Symbol<'_>> = text.split(|one| *one == b'\n').filter_map(symbol).collect();
    // Where the addresses are hidden, all are 0.
    symbols.retain(|one| one.address > 0);
    symbols.sort_by_key(|one| one.address);
    let mut wanted = addresses.to_vec();
    wanted.sort_unstable();
    let mut found: Vec<Function> = Vec::new();
    for address in wanted {
        if found.last().is_some_and(|last| address < last.end) {
            continue;
        }
        found.extend(function(&symbols, modules, address));
    }
    found
}

/// The address of a symbol of the kernel itself; `None` where it is hidden, or not there.
#[must_use]
pub fn address_of(text: &[u8], name: &[u8]) -> Option<u64> {
    let mut symbols = text.split(|one| *one == b'\n').filter_map(symbol);
    let found = symbols.find(|one| one.name == name && one.module.is_empty())?;
    Some(found.address).filter(|one| *one > 0)
}

fn function(
    symbols: &[Symbol<'_>],
    modules: &[(String, u64, u64)],
    address: u64,
) -> Option<Function> {
    let behind = symbols.partition_point(|one| one.address <= address);
    let last = symbols.get(behind.checked_sub(1)?)?;
    let first = symbols.partition_point(|one| one.address < last.address);
    let all = symbols.get(first..behind)?;
    if all.iter().any(|one| ENDS.contains(&one.name)) {
        return None;
    }
    let one = all.iter().find(|one| one.is_code)?;
    let begin = one.address;
    let module = readable(one.module);
    let next = symbols.get(behind).map_or(u64::MAX, |one| one.address);
    let is_its = |(name, from, size): &&(String, u64, u64)| {
        *name == module && (*from..from.saturating_add(*size)).contains(&begin)
    };
    let end = match modules.iter().find(is_its) {
        Some((_, from, size)) => next.min(from.saturating_add(*size)),
        // Behind the last function of the kernel comes the mark of its end.
        None if one.module.is_empty() => next,
        None => next.min(begin.saturating_add(LAST)),
    };
    let name = readable(one.name);
    (address < end).then_some(Function { begin, end, name, module })
}

fn symbol(line: &[u8]) -> Option<Symbol<'_>> {
    let mut words = line.split(|one| matches!(one, b' ' | b'\t')).filter(|word| !word.is_empty());
    let digits = std::str::from_utf8(words.next()?).ok()?;
    let address = u64::from_str_radix(digits, 16).ok()?;
    let [letter] = words.next()? else { return None };
    let name = words.next()?;
    let module = words.next().unwrap_or_default();
    let module = module.strip_prefix(b"[").and_then(|one| one.strip_suffix(b"]"));
    let module = module.unwrap_or_default();
    Some(Symbol { address, is_code: CODE.contains(letter), name, module })
}

/// A name with nothing in it that ends it where it is written.
fn readable(name: &[u8]) -> String {
    let plain = |one: &u8| one.is_ascii_graphic() && !b"\"\\;".contains(one);
    name.iter().map(|one| if plain(one) { char::from(*one) } else { '?' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"0000000000000000 A fixed_percpu_data\n\
        ffffffff81000000 T _stext\n\
        ffffffff81000000 T _text\n\
        ffffffff81000040 t other\n\
        ffffffff81000020 T schedule\n\
        ffffffff81000020 W alias\n\
        ffffffff81000080 T _etext\n\
        ffffffff82000000 D init_task\n\
        ffffffff83000000 T _sinittext\n\
        ffffffffc0002000 t its\t[loop]\n\
        ffffffffc0001000 t bpf_prog_0123\t[bpf]\n\
        not a line\n\
        ffffffffc0003000 t odd\";name\t[loop]\n";

    fn names(addresses: &[u64]) -> Vec<String> {
        let modules = [("loop".to_owned(), 0xffff_ffff_c000_2000, 0x2000)];
        let found = functions_at(TEXT, &modules, addresses);
        found
            .iter()
            .map(|one| format!("{:x}-{:x} {} {}", one.begin, one.end, one.name, one.module))
            .collect()
    }

    #[test]
    fn an_address_is_of_the_first_symbol_before_it() {
        let expected = [
            "ffffffff81000000-ffffffff81000020 _stext ",
            "ffffffff81000020-ffffffff81000040 schedule ",
            "ffffffff81000040-ffffffff81000080 other ",
        ];
        let addresses = [
            0xffff_ffff_8100_003f,
            0xffff_ffff_8100_007f,
            0xffff_ffff_8100_0000,
            0xffff_ffff_8100_0020,
        ];

        assert_eq!(names(&addresses), expected);
    }

    #[test]
    fn what_is_no_code_has_no_name() {
        assert_eq!(names(&[7, 0xffff_ffff_8100_0080, 0xffff_ffff_8200_0010]), [""; 0]);
    }

    #[test]
    fn modules_end_where_they_are_said_to() {
        let expected = [
            "ffffffffc0001000-ffffffffc0002000 bpf_prog_0123 bpf",
            "ffffffffc0002000-ffffffffc0003000 its loop",
            "ffffffffc0003000-ffffffffc0004000 odd??name loop",
        ];
        let addresses = [
            0xffff_ffff_c000_3abc,
            0xffff_ffff_c000_4000,
            0xffff_ffff_c000_1fff,
            0xffff_ffff_c000_2001,
        ];

        assert_eq!(names(&addresses), expected);
    }

    #[test]
    fn hidden_addresses_are_none() {
        let hidden = b"0000000000000000 T _text\n0000000000000000 T schedule\n";

        assert_eq!(functions_at(hidden, &[], &[5]), []);
        assert_eq!(address_of(hidden, b"_text"), None);
        assert_eq!(address_of(TEXT, b"_text"), Some(0xffff_ffff_8100_0000));
    }
}
