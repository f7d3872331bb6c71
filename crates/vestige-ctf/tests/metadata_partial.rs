//! Metadata that is cut or damaged is used as far as it goes.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::{parse, HEAD};
use vestige_ctf::metadata::{self, parse_partial};
use vestige_ctf::model::TraceClass;

const STREAM: &str = "stream { id = 0; event.header := struct { u8 id; }; };\n";
const FIRST: &str = "event { id = 1; name = first; fields := struct { u8 a; }; };\n";
const SECOND: &str = "event { id = 2; name = second; fields := struct { u16 b; }; };\n";

fn names(trace: &TraceClass) -> Vec<&str> {
    let events = trace.stream_classes.iter().flat_map(|stream| &stream.event_classes);
    events.map(|event| event.name.as_deref().unwrap()).collect()
}

/// A packet with the text and some padding.
fn packet(text: &str) -> Vec<u8> {
    let content = 37 + text.len() as u32;
    let mut bytes = 0x75D1_1D57_u32.to_le_bytes().to_vec();
    bytes.extend([7; 16]);
    bytes.extend([0; 4]);
    bytes.extend((content * 8).to_le_bytes());
    bytes.extend((content * 8 + 64).to_le_bytes());
    bytes.extend([0, 0, 0, 1, 8]);
    bytes.extend(text.bytes());
    bytes.extend([0; 8]);
    bytes
}

#[test]
fn whole_metadata_has_no_error() {
    let text = format!("{HEAD}{STREAM}{FIRST}{SECOND}");
    let (trace, error) = parse_partial(text.as_bytes());
    assert_eq!(error, None);
    assert_eq!(trace.unwrap(), parse(&text));
}

#[test]
fn blocks_before_an_error_are_kept() {
    let text = format!("{HEAD}{STREAM}{FIRST}event {{ id = 2; name = @; }};\n{SECOND}");
    let (trace, error) = parse_partial(text.as_bytes());
    assert_eq!(names(&trace.unwrap()), ["first"]);
    let error = error.unwrap();
    assert!(error.message.contains("unexpected byte 0x40"), "{error}");
    assert_eq!(error.line, Some(HEAD.lines().count() as u32 + 3));
    assert_eq!(metadata::parse(text.as_bytes()).unwrap_err(), error);
}

/// Wherever the text ends, all events whose blocks are whole are there.
#[test]
fn text_may_be_cut_anywhere() {
    let text = format!("{HEAD}{STREAM}{FIRST}{SECOND}");
    let end_of = |name: &str| text.find(name).map(|at| at + text[at..].find('\n').unwrap());
    let [stream, first] = ["stream {", "first"].map(|name| end_of(name).unwrap());
    for length in 1..text.len() - 1 {
        let (trace, error) = parse_partial(&text.as_bytes()[..length]);
        let found = trace.as_ref().map(names);
        if length < stream {
            // Between two declarations, nobody can tell that more were meant to come.
            assert!(error.is_some() || found == Some(vec![]), "{length}");
        } else if length < first {
            assert_eq!(found, Some(vec![]), "{length}");
        } else {
            assert_eq!(found, Some(vec!["first"]), "{length}");
        }
    }
}

/// Its events would be read with no header, which is no layout at all.
#[test]
fn events_whose_stream_block_is_cut_off_are_left_out() {
    let text = format!("{HEAD}{FIRST}stream {{ id = 0; event.header :=");
    let (trace, error) = parse_partial(text.as_bytes());
    assert_eq!(trace, None);
    assert!(error.unwrap().message.contains("the end of the metadata"));
}

#[test]
fn blocks_that_contradict_each_other_give_no_trace_class() {
    let text = format!("{HEAD}event {{ id = 1; fields := struct {{ u8 a[n]; }}; }};\n{STREAM}@");
    let (trace, error) = parse_partial(text.as_bytes());
    assert_eq!(trace, None);
    assert!(error.is_some());
}

#[test]
fn packets_before_a_damaged_one_count() {
    let head = packet(&format!("{HEAD}{STREAM}{FIRST}"));
    let mut bytes = head.clone();
    bytes.extend(packet(SECOND));
    bytes[head.len()] ^= 1;
    let (trace, error) = parse_partial(&bytes);
    assert_eq!(names(&trace.unwrap()), ["first"]);
    let error = error.unwrap();
    assert!(error.message.contains("magic"), "{error}");
    assert_eq!(error.offset, Some(head.len() as u64));
}

#[test]
fn the_text_of_a_cut_last_packet_counts_as_far_as_it_goes() {
    let head = packet(&format!("{HEAD}{STREAM}"));
    let events = format!("{FIRST}{SECOND}");
    let mut bytes = head.clone();
    bytes.extend(packet(&events));
    for length in 0..events.len() + 8 {
        let (trace, error) = parse_partial(&bytes[..head.len() + 37 + length]);
        let found = names(trace.as_ref().unwrap()).len();
        let whole = events[..length.min(events.len())].matches("}; };").count();
        assert_eq!(found, whole, "{length}");
        let error = error.unwrap();
        assert!(error.message.contains("metadata packet cut"), "{error}");
        assert_eq!(error.offset, Some(head.len() as u64 + 28));
    }
}

#[test]
fn zero_bytes_are_spaces_in_text_for_other_readers() {
    for damage in ["", "event { nonsense\n"] {
        let text = format!("{HEAD}{STREAM}{FIRST}\0{damage}");
        let usable = metadata::usable(text.as_bytes()).unwrap();
        assert!(!usable.contains(&0));
        assert_eq!(metadata::parse(&usable).unwrap(), parse(&format!("{HEAD}{STREAM}{FIRST}")));
    }
}

#[test]
fn however_much_follows_what_cannot_be_used_the_part_before_it_is_found() {
    let rest = "env { a = \"\"; };\n".repeat(2000);
    let text = format!("{HEAD}{STREAM}{FIRST}event {{ nonsense\n{rest}");
    let usable = metadata::usable(text.as_bytes()).unwrap();
    assert_eq!(metadata::parse(&usable).unwrap(), parse(&format!("{HEAD}{STREAM}{FIRST}")));
}
