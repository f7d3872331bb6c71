//! Where the demangler of C++ names writes other than what is in the source.
//!
//! It has the right parts; what is put right here is their order and their spelling.

/// Trying each end of a longer name would take too long.
const MAX_TRIED: usize = 2 << 10;

/// Gives the constructors that are templates a return type.
///
/// Templates have one, constructors have none, and the demangler takes the first
/// parameter of what is both for one. `demangle` is asked where the name ends.
pub(crate) fn with_return_type(
    name: &str,
    demangle: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let is_nested = name.starts_with("_ZN") && name.len() <= MAX_TRIED;
    let first = is_nested.then(|| constructor_template(name)).flatten()?;
    let mut ends = name.match_indices('E').map(|(at, _)| at + 1).filter(|end| *end > first);
    // With that type alone the name is one without parameters.
    let (mut whole, end, text) = ends.find_map(|end| {
        let typed = format!("{}v", name.get(..end)?);
        demangle(&typed).map(|text| (typed, end, text))
    })?;
    whole.push_str(name.get(end..).filter(|rest| !rest.is_empty())?);
    names_constructor(text.strip_suffix("()")?).then_some(whole)
}

/// Where something like a constructor with template arguments is first mangled.
fn constructor_template(name: &str) -> Option<usize> {
    name.as_bytes().windows(3).position(|part| matches!(part, [b'C', b'1'..=b'5', b'I']))
}

/// Whether the last part of a name is that of its scope: `A<int>::A<char>`.
fn names_constructor(text: &str) -> bool {
    let without = without_arguments(text).and_then(|text| text.rsplit_once("::"));
    let Some((scope, last)) = without else {
        return false;
    };
    let class = without_arguments(scope).unwrap_or(scope);
    class.rsplit("::").next() == Some(last)
}

/// The text before the template arguments at its end.
fn without_arguments(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate().rev() {
        match byte {
            b'>' => depth += 1,
            b'<' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return (byte == b'<').then(|| text.get(..at)).flatten();
        }
    }
    None
}

/// What the demangler writes behind the name of a literal operator.
const LITERAL_OPERATOR: &str = "::operator \"\"";

/// How the demangler writes the type of an integer, and its suffix in C++.
const SUFFIXES: &[(&str, &str)] = &[
    ("(unsigned int)", "u"),
    ("(unsigned long)", "ul"),
    ("(unsigned long long)", "ull"),
    ("(long)", "l"),
    ("(long long)", "ll"),
];

/// Writes template arguments as other demanglers do: nothing for an empty pack, which
/// would leave `A<int, >`, and `1ul` for `(unsigned long)1`.
pub(crate) fn tidy(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len());
    let mut rest = text;
    // All that is put right begins with one of these; most of a name is none of them.
    while let Some(at) = rest.find([',', '&', '*', ':', '(']) {
        let (plain, special) = rest.split_at(at);
        tidied.push_str(plain);
        rest = put_right(&mut tidied, special);
    }
    tidied.push_str(rest);
    tidied
}

/// Writes what a text begins with; returns what follows.
fn put_right<'a>(tidied: &mut String, text: &'a str) -> &'a str {
    if let Some(next) = text.strip_prefix(", ").filter(|next| is_empty_item(tidied, next)) {
        if next.starts_with('>') && tidied.ends_with('>') {
            tidied.push(' ');
        }
        return next;
    }
    if let Some((mark, path, next)) = misplaced_mark(text) {
        tidied.push_str(path);
        tidied.push(mark);
        return next;
    }
    if let Some(next) = text.strip_prefix(LITERAL_OPERATOR) {
        name_literal_operator(tidied);
        return next;
    }
    if let Some((number, suffix, next)) = integer(text) {
        tidied.push_str(number);
        tidied.push_str(suffix);
        return next;
    }
    let (first, next) = text.split_at(1);
    tidied.push_str(first);
    next
}

/// Whether there is nothing before or behind a comma.
fn is_empty_item(before: &str, next: &str) -> bool {
    let name = before.trim_end_matches(['<', '(', ',']);
    let is_list = !name.ends_with("operator");
    is_list && (next.starts_with(['>', ')', ',']) || before.ends_with(['<', '(']))
}

/// The digits of an integer with its type in front, the suffix, and what follows.
fn integer(text: &str) -> Option<(&str, &'static str, &str)> {
    let with_type = |(name, suffix): &(&str, &'static str)| {
        text.strip_prefix(name).map(|number| (number, *suffix))
    };
    let (number, suffix) = SUFFIXES.iter().find_map(with_type)?;
    let digits = number.strip_prefix('-').unwrap_or(number);
    let next = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    let length = number.len() - next.len();
    (next.len() < digits.len()).then_some((number.get(..length)?, suffix, next))
}

/// A mark of a reference or pointer that stands in front of the last parts of a type:
/// `A&::B` for `A::B&`.
fn misplaced_mark(text: &str) -> Option<(char, &str, &str)> {
    let mark = text.chars().next().filter(|mark| matches!(mark, '&' | '*'))?;
    let path = text.get(1..).filter(|rest| rest.starts_with("::"))?;
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    let next = path.trim_start_matches(is_part);
    Some((mark, path.get(..path.len() - next.len())?, next))
}

/// Puts the name of a literal operator behind the word: `operator_km` is `operator"" _km`.
fn name_literal_operator(written: &mut String) {
    let Some(start) = written.rfind("operator") else {
        return;
    };
    let suffix = written.split_off(start);
    written.push_str("operator\"\" ");
    written.push_str(suffix.strip_prefix("operator").unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_looks_like_an_empty_pack_stays() {
        let name = "f<&operator, >, (unsigned int)x>";
        assert_eq!(tidy(name), name);
    }

    #[test]
    fn marks_come_behind_the_whole_type() {
        assert_eq!(tidy("A::f(int, A&::B) const"), "A::f(int, A::B&) const");
        assert_eq!(tidy("f(A const&, B*)"), "f(A const&, B*)");
    }

    #[test]
    fn literal_operators_have_their_name_behind() {
        let written = "app::operator_km::operator \"\"(long double)";
        assert_eq!(tidy(written), "app::operator\"\" _km(long double)");
    }
}
