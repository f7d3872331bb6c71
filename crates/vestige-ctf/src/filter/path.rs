//! Names of fields, as expressions write them: `a.b[3].c`.

/// One step towards a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// A member of a structure, or an option of a variant.
    Member(String),
    /// An element of an array.
    Element(u64),
}

/// The way to a field from the structure of its scope.
pub type Path = Vec<Segment>;

/// What begins the name of a context that an application provides.
const APPLICATION: &str = "$app.";

/// The path of a field of the payload; `None` for what can be no field.
pub fn field_path(name: &[u8]) -> Option<Path> {
    let name = std::str::from_utf8(name).ok()?;
    parse(name, name.find(['.', '[']).unwrap_or(name.len()))
}

/// The path of a context. Tracers write letters, digits and underscores only into names of
/// fields: `perf:thread:cpu-cycles` is `perf_thread_cpu_cycles` in a trace.
pub fn context_path(name: &[u8]) -> Option<Path> {
    let name = std::str::from_utf8(name).ok()?;
    let start = if name.starts_with(APPLICATION) { APPLICATION.len() } else { 0 };
    let end = name.get(start..)?.find(['.', '[']).map_or(name.len(), |end| start + end);
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let mut path = parse(name, end)?;
    if let Some(Segment::Member(first)) = path.first_mut() {
        *first = first.chars().map(plain).collect();
    }
    Some(path)
}

/// Takes a name apart whose first member ends at `end`.
fn parse(name: &str, end: usize) -> Option<Path> {
    let (first, mut rest) = name.split_at_checked(end)?;
    let mut path = vec![member(first)?];
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            let (name, left) = after.split_at_checked(end)?;
            path.push(member(name)?);
            rest = left;
        } else {
            let (index, left) = rest.strip_prefix('[')?.split_once(']')?;
            path.push(Segment::Element(index.parse().ok()?));
            rest = left;
        }
    }
    Some(path)
}

fn member(name: &str) -> Option<Segment> {
    (!name.is_empty()).then(|| Segment::Member(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: Option<Path>) -> String {
        let word = |segment: Segment| match segment {
            Segment::Member(name) => name,
            Segment::Element(index) => format!("#{index}"),
        };
        path.map_or_else(String::new, |path| {
            path.into_iter().map(word).collect::<Vec<_>>().join(" ")
        })
    }

    #[test]
    fn members_and_elements_follow_each_other() {
        assert_eq!(shown(field_path(b"a")), "a");
        assert_eq!(shown(field_path(b"a.b[3][4].c")), "a b #3 #4 c");
        for wrong in [&b""[..], b".a", b"a.", b"a[", b"a[]", b"a[-1]", b"a[1]b", b"\xff"] {
            assert_eq!(field_path(wrong), None, "{wrong:?}");
        }
        assert_eq!(field_path(b"a[18446744073709551616]"), None);
    }

    #[test]
    fn contexts_have_the_names_that_tracers_write() {
        assert_eq!(shown(context_path(b"vtid")), "vtid");
        assert_eq!(shown(context_path(b"perf:thread:cpu-cycles")), "perf_thread_cpu_cycles");
        assert_eq!(shown(context_path(b"$app.server:user.name[2]")), "_app_server_user name #2");
    }
}
