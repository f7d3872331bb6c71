//! From a linkage name to the name as written in the source.
//!
//! C++ names follow the Itanium C++ ABI, Rust names the v0 scheme (RFC 2603)
//! or the older one that ends in a hash.

use std::fmt::{self, Write};

use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};

use crate::names::cpp_name::{tidy, with_return_type};

/// No source has names like that, but a mangled name can refer to its own
/// parts again and again until the result fills the memory.
const MAX_DEMANGLED: usize = 64 << 10;
const MAX_MANGLED: usize = 16 << 10;
/// Deep enough for templates, shallow enough for the stack of a thread.
const MAX_NESTING: u32 = 96;

/// The demangled form of `name`; `None` when it is not a mangled name.
pub fn demangle(name: &str) -> Option<String> {
    if name.len() > MAX_MANGLED {
        return None;
    }
    if !is_mangled(name) {
        return stub_target(name).map(|target| format!("{target}@plt"));
    }
    demangle_rust(name).or_else(|| demangle_cpp(name))
}

/// Whether the name has the prefix of a mangling scheme.
pub(crate) fn is_mangled(name: &str) -> bool {
    let is_d =
        name.strip_prefix("_D").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    is_d || ["_Z", "_R", "___Z"].iter().any(|prefix| name.starts_with(prefix))
}

/// The function that a stub of a linker for PowerPC calls: `0000001b.plt_call.abort`
/// calls `abort`. The digits are the addend of the entry in the global offset table.
fn stub_target(name: &str) -> Option<&str> {
    let (digits, rest) = name.split_at_checked(8)?;
    let is_stub = digits.bytes().all(|byte| byte.is_ascii_hexdigit()) && rest.starts_with('.');
    let (_, kind_and_target) = rest.split_once(".plt_").filter(|_| is_stub)?;
    let (_, target) = kind_and_target.split_once('.')?;
    (!target.is_empty()).then_some(target)
}

fn demangle_rust(name: &str) -> Option<String> {
    // Rust's older scheme looks like C++ but for the hash, `17h` and 16 digits.
    if !name.starts_with("_R") && !name.contains("17h") {
        return None;
    }
    let demangled = rustc_demangle::try_demangle(name).ok()?;
    let mut text = Bounded::default();
    write!(text, "{demangled:#}").ok()?;
    Some(text.0)
}

/// Special functions, and how they are written in front of what they are for.
const SPECIAL: &[(&str, usize, &str)] = &[
    ("_ZTh", 1, "non-virtual thunk to "),
    ("_ZTv", 2, "virtual thunk to "),
    ("_ZTW", 0, "TLS wrapper function for "),
    ("_ZTH", 0, "TLS init function for "),
];

fn demangle_cpp(name: &str) -> Option<String> {
    let special = SPECIAL.iter().find_map(|(prefix, numbers, words)| {
        let target = name.strip_prefix(prefix)?;
        // A thunk's offsets end in an underscore each.
        let target = (0..*numbers).try_fold(target, |rest, _| Some(rest.split_once('_')?.1))?;
        Some((target, words))
    });
    match special {
        Some((target, words)) => Some(format!("{words}{}", write_cpp(&format!("_Z{target}"))?)),
        None => write_cpp(name),
    }
}

fn write_cpp(name: &str) -> Option<String> {
    let whole = with_return_type(name, |typed| Some(tidy(&parse_cpp(typed)?)));
    Some(tidy(&parse_cpp(whole.as_deref().unwrap_or(name))?))
}

fn parse_cpp(name: &str) -> Option<String> {
    let parse = ParseOptions::default().recursion_limit(MAX_NESTING);
    let symbol = Symbol::new_with_options(name, &parse).ok()?;
    let options = DemangleOptions::default().recursion_limit(MAX_NESTING * 2);
    let mut text = Bounded::default();
    symbol.structured_demangle(&mut text, &options).ok()?;
    Some(text.0)
}

/// Text that refuses to grow beyond the limit.
#[derive(Default)]
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > MAX_DEMANGLED {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_each_scheme() {
        let expected = [
            ("_ZN3app4Conn4openEi", Some("app::Conn::open(int)")),
            ("_Z3fooi.cold", Some("foo(int) [clone .cold]")),
            ("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", Some("core::fmt::Formatter::pad")),
            ("_RNvC6_123foo3bar", Some("123foo::bar")),
            ("0000001b.plt_call.abort", Some("abort@plt")),
            ("00008000.got2.plt_pic32.strcmp", Some("strcmp@plt")),
            ("main", None),
            ("00000000.plt_call.", None),
            ("_Zebra", None),
            ("_ZThn24_N3app6Square2idEv", Some("non-virtual thunk to app::Square::id()")),
            ("_ZTv0_n32_N3app6Square2idEv", Some("virtual thunk to app::Square::id()")),
            ("_ZTWN3app5countE", Some("TLS wrapper function for app::count")),
            ("_ZTv0_", None),
        ];
        for (mangled, name) in expected {
            assert_eq!(demangle(mangled).as_deref(), name, "{mangled}");
        }
    }

    #[test]
    fn constructors_that_are_templates_keep_their_parameters() {
        let expected = [
            ("_ZN1AC1IiEET_", "A::A<int>(int)"),
            ("_ZN1AIcEC2IiEET_c.cold", "A<char>::A<int>(int, char) [clone .cold]"),
            ("_ZN1B3FC1IiEEvT_", "void B::FC1<int>(int)"),
            ("_ZN1AC1Ei", "A::A(int)"),
        ];
        for (mangled, name) in expected {
            assert_eq!(demangle(mangled).as_deref(), Some(name), "{mangled}");
        }
    }

    #[test]
    fn template_arguments_read_as_in_the_source() {
        let expected = [
            ("_ZN1AI1BJEE3runEv", "A<B>::run()"),
            ("_ZN1AI1BIiEJEE3runEv", "A<B<int> >::run()"),
            ("_ZN1AIJEiE3runEv", "A<int>::run()"),
            ("_Z1fILm1ELj7ELl3EEvv", "void f<1ul, 7u, 3l>()"),
            ("_Z1fILin5ELln5EEvv", "void f<-5, -5l>()"),
        ];
        for (mangled, name) in expected {
            assert_eq!(demangle(mangled).as_deref(), Some(name), "{mangled}");
        }
    }

    #[test]
    fn a_name_that_multiplies_itself_is_refused() {
        // Each template argument list repeats the one before twice.
        let mut name = String::from("_Z1fI1AIiiE");
        for index in 0..60 {
            let part = if index == 0 { "S_".into() } else { format!("S{}_", index - 1) };
            name.push_str(&format!("1BI{part}{part}E"));
        }
        name.push_str("EvT_");
        assert!(demangle(&name).is_none_or(|text| text.len() <= MAX_DEMANGLED));
    }
}
