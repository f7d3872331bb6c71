//! The names that debug information gives a function.

use std::sync::Arc;

use crate::names::demangle::{demangle, is_mangled};

/// What debug information calls a function; each form may be absent.
#[derive(Debug, Default, Clone)]
pub(crate) struct FunctionName {
    /// The symbol's name, as the linker sees it.
    pub(crate) linkage: Option<Arc<str>>,
    /// The identifier alone, without its scopes.
    pub(crate) plain: Option<Arc<str>>,
    /// What to show: the demangled linkage name, or the identifier.
    pub(crate) display: Option<Arc<str>>,
}

impl FunctionName {
    pub(crate) fn of(linkage: Option<&str>, plain: Option<&str>) -> Self {
        let demangled = linkage.and_then(demangle);
        let display = match (&demangled, plain, linkage) {
            (Some(name), _, _) => Some(Arc::from(name.as_str())),
            (None, Some(name), _) | (None, None, Some(name)) => Some(Arc::from(name)),
            (None, None, None) => None,
        };
        Self { linkage: linkage.map(Arc::from), plain: plain.map(Arc::from), display }
    }

    /// Whether a symbol at the function's entry is this function's: some
    /// functions, lambdas among them, have no linkage name in debug
    /// information, and a clone such as `foo.isra.0` has only its origin's.
    pub(crate) fn may_be(&self, symbol: &str) -> bool {
        match (&self.linkage, &self.plain) {
            (Some(linkage), _) => is_clone_of(symbol, linkage),
            (None, Some(plain)) => is_mangled(symbol) || is_clone_of(symbol, plain),
            (None, None) => true,
        }
    }

    /// The name of a symbol, which is nearly always one of these.
    pub(crate) fn shared(&self, symbol: &str) -> Arc<str> {
        let mut known = [&self.linkage, &self.plain].into_iter().flatten();
        known.find(|name| name.as_ref() == symbol).cloned().unwrap_or_else(|| Arc::from(symbol))
    }

    /// Whether a symbol is this very function, not a clone of it.
    pub(crate) fn is_exactly(&self, symbol: &str) -> bool {
        [&self.linkage, &self.plain].into_iter().flatten().any(|name| name.as_ref() == symbol)
    }
}

fn is_clone_of(symbol: &str, name: &str) -> bool {
    let Some((start, rest)) = symbol.split_at_checked(name.len()) else {
        return false;
    };
    (rest.is_empty() || rest.starts_with('.')) && (start == name || is_variant_of(start, name))
}

/// Whether two names of the same length are those of one C++ constructor or destructor:
/// `C4` and `D4` stand for all variants in debug information, `C1`, `C2`, `D0` and so on
/// for those that a symbol can name.
fn is_variant_of(symbol: &str, name: &str) -> bool {
    let is_number = |byte: u8| (b'0'..=b'3').contains(&byte);
    let mut before = 0;
    name.starts_with("_Z")
        && symbol.bytes().zip(name.bytes()).all(|(one, other)| {
            let is_variant = matches!(before, b'C' | b'D') && other == b'4' && is_number(one);
            before = other;
            one == other || is_variant
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_of_constructors_are_one_function() {
        assert!(is_clone_of("_ZN3app4ConnC1Ei", "_ZN3app4ConnC4Ei"));
        assert!(is_clone_of("_ZN3app4ConnD2Ev.part.0", "_ZN3app4ConnD4Ev"));
        assert!(is_clone_of("scaled.constprop.0", "scaled"));
        assert!(!is_clone_of("_ZN3app4ConnC1Ei", "_ZN3app4ConnC2Ei"));
        assert!(!is_clone_of("_ZN3app4ConnC1Ei", "_ZN3app4ConnD4Ei"));
        assert!(!is_clone_of("_ZN3app5Conn1Ei", "_ZN3app5Conn4Ei"));
        assert!(!is_clone_of("C1", "C4"));
        assert!(!is_clone_of("scaled_more", "scaled"));
    }
}
