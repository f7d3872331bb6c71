//! The metadata of CTF 2: what is refused, in which fragment and where, and what is not.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::time::Duration;

use common::processor_time;
use vestige_ctf::metadata::{self, json};
use vestige_ctf::model::{FieldKind, Length, Role, TraceClass};
use vestige_ctf::CtfError;

const PREAMBLE: &str = r#"{"type": "preamble", "version": 2}"#;
const STREAM: &str = r#"{"type": "data-stream-class"}"#;
const U8: &str =
    r#"{"type": "fixed-length-unsigned-integer", "length": 8, "byte-order": "little-endian"}"#;

fn text(fragments: &[&str]) -> Vec<u8> {
    fragments.iter().flat_map(|fragment| format!("\x1e{fragment}\n").into_bytes()).collect()
}

fn accepted(fragments: &[&str]) -> TraceClass {
    metadata::parse(&text(fragments)).unwrap_or_else(|error| panic!("{error}"))
}

/// The error of fragments, the last of which is wrong at the text `at`.
fn assert_refused(fragments: &[&str], at: &str, message: &str) {
    let bytes = text(fragments);
    let error: CtfError = metadata::parse(&bytes).err().unwrap_or_else(|| panic!("{message}"));
    assert_eq!(error.to_string(), message);
    let offset = error.offset.unwrap_or_else(|| panic!("{error}")) as usize;
    let found = String::from_utf8_lossy(&bytes[offset..]).into_owned();
    assert!(found.starts_with(at), "{error}: at {found:?}");
}

/// The same for the field class of the member `x` of a payload.
fn assert_class_refused(class: &str, at: &str, path: &str, message: &str) {
    assert_members_refused(
        &format!(r#"{{"name": "x", "field-class": {class}}}"#),
        0,
        at,
        path,
        message,
    );
}

/// The same for members of a payload, the one at `index` of which is wrong.
fn assert_members_refused(members: &str, index: usize, at: &str, path: &str, message: &str) {
    let place = format!("/payload-field-class/member-classes/{index}/field-class{path}");
    let message = format!("fragment 3, {place}: {message}");
    assert_refused(&[PREAMBLE, STREAM, &payload(members)], at, &message);
}

fn payload(members: &str) -> String {
    format!(
        r#"{{"type": "event-record-class",
            "payload-field-class": {{"type": "structure", "member-classes": [{members}]}}}}"#
    )
}

#[test]
fn the_sequence_of_fragments() {
    assert_refused(&[], "", "the metadata is empty; expected TSDL text or metadata packets");
    assert_refused(&[""], "\x1e", "fragment 1: no fragment: expected a preamble");
    assert_refused(&["{}"], "{}", "fragment 1: property 'type' is missing");
    assert_refused(&["[]"], "[]", "fragment 1: expected a JSON object");
    assert_refused(&[r#"{"type": 3}"#], "3}", "fragment 1, /type: expected a JSON string");
    assert_refused(
        &[STREAM],
        "\"data-stream-class",
        "fragment 1, /type: expected a preamble first, found \"data-stream-class\"",
    );
    assert_refused(&[PREAMBLE, PREAMBLE], "\"preamble", "fragment 2, /type: a second preamble");
    assert_refused(
        &[PREAMBLE, r#"{"type": "clock"}"#],
        "\"clock",
        "fragment 2, /type: unknown type \"clock\": expected a fragment of CTF 2",
    );
    assert_refused(
        &[PREAMBLE, "{\"type\": \"trace-class\","],
        "",
        "fragment 2: expected the name of a property, found the end of the fragment",
    );
}

#[test]
fn preambles() {
    assert_refused(&[r#"{"type": "preamble"}"#], "{", "fragment 1: property 'version' is missing");
    assert_refused(
        &[r#"{"type": "preamble", "version": 3}"#],
        "3",
        "fragment 1, /version: expected 2: the major version of CTF",
    );
    for uuid in ["[1, 2]", "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,256]", "\"text\""] {
        let fragment = format!(r#"{{"type": "preamble", "version": 2, "uuid": {uuid}}}"#);
        let error = metadata::parse(&text(&[&fragment])).unwrap_err();
        let list = uuid != "\"text\"";
        let expected = if list { "16 integers from 0 to 255" } else { "a JSON array" };
        assert_eq!(error.to_string(), format!("fragment 1, /uuid: expected {expected}"));
    }
}

#[test]
fn extensions_are_refused() {
    assert_refused(
        &[r#"{"type": "preamble", "version": 2, "extensions": {"my.tracer": {"piano": null}}}"#],
        "null",
        "fragment 1, /extensions/my.tracer/piano: the trace needs the extension 'piano' of \
         'my.tracer', which Vestige does not know",
    );
    let undeclared = r#"{"type": "trace-class", "extensions": {"a": {"b": 1}}}"#;
    assert_refused(
        &[PREAMBLE, undeclared],
        "{\"b\"",
        "fragment 2, /extensions/a: an extension that the preamble does not declare",
    );
    let class = r#"{"type": "structure", "extensions": {"a": {"b": 1}}}"#;
    let message = "an extension that the preamble does not declare";
    assert_class_refused(class, "{\"b\"", "/extensions/a", message);
    let none = r#"{"type": "preamble", "version": 2, "extensions": {"my.tracer": {}}}"#;
    accepted(&[none, STREAM]);
}

#[test]
fn trace_classes_and_clock_classes() {
    let trace = r#"{"type": "trace-class"}"#;
    assert_refused(&[PREAMBLE, trace, trace], "{", "fragment 3: a second trace class");
    assert_refused(
        &[PREAMBLE, STREAM, trace],
        "{",
        "fragment 3: the trace class stands behind a data stream class",
    );
    assert_refused(
        &[PREAMBLE, r#"{"type": "trace-class", "environment": {"a": [1]}}"#],
        "[1]",
        "fragment 2, /environment/a: expected a JSON integer or a JSON string",
    );
    let clock = r#"{"type": "clock-class", "id": "c", "frequency": 1}"#;
    assert_refused(
        &[PREAMBLE, clock, clock],
        "{",
        "fragment 3: a second clock class with the ID 'c'",
    );
    for (properties, at, message) in [
        (r#""frequency": 1"#, "{", ": property 'id' is missing"),
        (r#""id": "c""#, "{", ": property 'frequency' is missing"),
        (r#""id": "c", "frequency": 0"#, "0", ", /frequency: expected a frequency above 0"),
        (
            r#""id": "c", "frequency": 1, "origin": "y2k""#,
            "\"y2k",
            ", /origin: expected \"unix-epoch\"",
        ),
        (
            r#""id": "c", "frequency": 1, "origin": {"name": "n"}"#,
            "{\"name",
            ", /origin: property 'uid' is missing",
        ),
        (
            r#""id": "c", "frequency": 1, "precision": -1"#,
            "-1",
            ", /precision: expected an integer from 0 to 2^64 - 1",
        ),
        (
            r#""id": "c", "frequency": 1, "offset-from-origin": {"cycles": -1}"#,
            "-1",
            ", /offset-from-origin/cycles: expected an integer from 0 to 2^64 - 1",
        ),
        (
            r#""id": "c", "frequency": 1, "offset-from-origin": {"seconds": 9223372036854775808}"#,
            "9223",
            ", /offset-from-origin/seconds: expected a signed integer of 64 bits",
        ),
    ] {
        let fragment = format!(r#"{{"type": "clock-class", {properties}}}"#);
        assert_refused(&[PREAMBLE, &fragment], at, &format!("fragment 2{message}"));
    }
}

#[test]
fn data_stream_classes_and_event_record_classes() {
    assert_refused(
        &[PREAMBLE, STREAM, STREAM],
        "{",
        "fragment 3: a second data stream class with the ID 0",
    );
    assert_refused(
        &[PREAMBLE, r#"{"type": "data-stream-class", "default-clock-class-id": "c"}"#],
        "\"c\"",
        "fragment 2, /default-clock-class-id: no clock class 'c' stands before",
    );
    let event = r#"{"type": "event-record-class"}"#;
    assert_refused(&[PREAMBLE, event], "{", "fragment 2: no data stream class 0 stands before");
    assert_refused(
        &[PREAMBLE, STREAM, event, event],
        "{",
        "fragment 4: a second event record class 0 in data stream class 0",
    );
    assert_refused(
        &[PREAMBLE, STREAM, r#"{"type": "event-record-class", "id": -1}"#],
        "-1",
        "fragment 3, /id: expected an integer from 0 to 2^64 - 1",
    );
    assert_refused(
        &[
            PREAMBLE,
            STREAM,
            &format!(r#"{{"type": "event-record-class", "payload-field-class": {U8}}}"#),
        ],
        "{\"type\": \"fixed",
        "fragment 3, /payload-field-class: expected a structure",
    );
}

#[test]
fn field_class_aliases() {
    let alias = |name: &str, class: &str| {
        format!(r#"{{"type": "field-class-alias", "name": "{name}", "field-class": {class}}}"#)
    };
    assert_refused(
        &[PREAMBLE, &alias("a", U8), &alias("a", U8)],
        "\"a\"",
        "fragment 3, /name: a second field class alias of this name",
    );
    assert_refused(
        &[PREAMBLE, &alias("a", "\"b\"")],
        "\"b\"",
        "fragment 2, /field-class: no field class alias 'b' stands before",
    );
    // Each alias has two fields of the one before it: 2^30 in the end.
    let mut fragments = vec![PREAMBLE.to_owned(), alias("a0", U8)];
    for number in 1..30 {
        let before = number - 1;
        let member = |name| format!(r#"{{"name": "{name}", "field-class": "a{before}"}}"#);
        let members = format!("{}, {}", member("l"), member("r"));
        let class = format!(r#"{{"type": "structure", "member-classes": [{members}]}}"#);
        fragments.push(alias(&format!("a{number}"), &class));
    }
    let fragments: Vec<&str> = fragments.iter().map(String::as_str).collect();
    let error = metadata::parse(&text(&fragments)).unwrap_err().to_string();
    assert!(
        error.ends_with("field class aliases multiply to more than a million fields"),
        "{error}"
    );
}

#[test]
fn nesting_is_bounded() {
    let nest = |depth: usize| {
        let open = r#"{"type": "static-length-array", "length": 1, "element-field-class": "#;
        format!("{}{U8}{}", open.repeat(depth), "}".repeat(depth))
    };
    let member = format!(r#"{{"name": "x", "field-class": {}}}"#, nest(50));
    accepted(&[PREAMBLE, STREAM, &payload(&member)]);
    let deep = format!(r#"{{"name": "x", "field-class": {}}}"#, nest(80));
    let error = metadata::parse(&text(&[PREAMBLE, STREAM, &payload(&deep)])).unwrap_err();
    assert!(error.to_string().ends_with("field classes are nested more than 64 deep"), "{error}");
    let endless = "[".repeat(100_000);
    let error = metadata::parse(&text(&[PREAMBLE, &endless])).unwrap_err();
    assert!(error.to_string().contains("nested more than 320 deep"), "{error}");
}

#[test]
fn fixed_length_field_classes() {
    let class = |more: &str| format!(r#"{{"type": "fixed-length-unsigned-integer"{more}}}"#);
    let length = "expected a length from 1 to 65536 bits";
    assert_class_refused(&class(""), "{", "", "property 'length' is missing");
    assert_class_refused(&class(r#", "length": 0"#), "0", "/length", length);
    assert_class_refused(&class(r#", "length": 65537"#), "65537", "/length", length);
    assert_class_refused(&class(r#", "length": 8.0"#), "8.0", "/length", "expected a JSON integer");
    assert_class_refused(&class(r#", "length": 8"#), "{", "", "property 'byte-order' is missing");
    let class =
        |more: &str| class(&format!(r#", "length": 8, "byte-order": "big-endian", {more}"#));
    assert_class_refused(
        &class(r#""bit-order": "random""#),
        "\"random",
        "/bit-order",
        "expected \"first-to-last\" or \"last-to-first\"",
    );
    let power = "expected a power of two of at most 32768 bits";
    for alignment in ["0", "-8", "3", "65536"] {
        let class = class(&format!(r#""alignment": {alignment}"#));
        assert_class_refused(&class, alignment, "/alignment", power);
    }
    assert_class_refused(
        &class(r#""preferred-display-base": 7"#),
        "7",
        "/preferred-display-base",
        "expected 2, 8, 10 or 16",
    );
    assert_class_refused(&class(r#""roles": ["a"]"#), "\"a\"", "/roles/0", &roles_expected());
    let signed = r#"{"type": "fixed-length-signed-integer", "length": 8,
        "byte-order": "big-endian", "roles": ["data-stream-id"]}"#;
    assert_class_refused(signed, "[\"data", "/roles", "a signed integer has no roles");
    let float = |length| {
        format!(
            r#"{{"type": "fixed-length-floating-point-number", "length": {length},
                "byte-order": "big-endian"}}"#
        )
    };
    let expected = "expected 16, 32, 64, 128 or a greater multiple of 32";
    for length in [8, 96, 130] {
        assert_class_refused(&float(length), &length.to_string(), "/length", expected);
    }
}

fn roles_expected() -> String {
    "expected \"packet-magic-number\", \"data-stream-class-id\", \"data-stream-id\", \
     \"packet-total-length\", \"packet-content-length\", \"default-clock-timestamp\", \
     \"packet-end-default-clock-timestamp\", \"discarded-event-record-counter-snapshot\", \
     \"packet-sequence-number\" or \"event-record-class-id\""
        .to_owned()
}

#[test]
fn ranges() {
    let class = |ranges: &str| {
        format!(r#"{{"type": "variable-length-unsigned-integer", "mappings": {{"l": {ranges}}}}}"#)
    };
    let range = "expected a range: [lowest, highest]";
    assert_class_refused(&class("[]"), "[]", "/mappings/l", "expected at least one range");
    assert_class_refused(&class("[[2, 1]]"), "[2, 1]", "/mappings/l/0", range);
    assert_class_refused(&class("[[1, 1], [2]]"), "[2]", "/mappings/l/1", range);
    assert_class_refused(&class("[3]"), "3", "/mappings/l/0", "expected a JSON array");
    let map = |flags: &str| {
        format!(
            r#"{{"type": "fixed-length-bit-map", "length": 8, "byte-order": "big-endian",
                "flags": {flags}}}"#
        )
    };
    assert_class_refused(&map("{}"), "{}", "/flags", "expected at least one flag");
    assert_class_refused(
        &map(r#"{"a": [[-1, 1]]}"#),
        "{\"a\"",
        "/flags",
        "bit indexes are not negative",
    );
}

#[test]
fn strings_blobs_and_structures() {
    assert_class_refused(
        r#"{"type": "string"}"#,
        "\"string",
        "/type",
        "unknown type \"string\": expected a field class of CTF 2",
    );
    assert_class_refused(
        r#"{"type": "null-terminated-string", "encoding": "latin-1"}"#,
        "\"latin",
        "/encoding",
        "expected \"utf-8\", \"utf-16be\", \"utf-16le\", \"utf-32be\" or \"utf-32le\"",
    );
    assert_class_refused(
        r#"{"type": "static-length-string", "length": -1}"#,
        "-1",
        "/length",
        "expected an integer from 0 to 2^64 - 1",
    );
    let uuid = r#"{"type": "static-length-blob", "length": 16, "roles": ["metadata-stream-uuid"]}"#;
    let missing = "the preamble has no 'uuid' to compare with";
    assert_class_refused(uuid, "\"metadata", "/roles/0", missing);
    assert_class_refused(
        &uuid.replace("16", "15"),
        "\"metadata",
        "/roles/0",
        "the UUID must be a BLOB of 16 bytes",
    );
    let twice = format!(r#"{{"name": "x", "field-class": {U8}}}"#);
    let error = metadata::parse(&text(&[PREAMBLE, STREAM, &payload(&format!("{twice}, {twice}"))]));
    let message = "fragment 3, /payload-field-class/member-classes/1/name: member 'x' stands twice";
    assert_eq!(error.unwrap_err().to_string(), message);
}

#[test]
fn packet_headers() {
    let header = |members: &str| {
        format!(
            r#"{{"type": "trace-class", "packet-header-field-class": {{"type": "structure",
                "member-classes": [{members}]}}}}"#
        )
    };
    let magic = |length: u32| {
        format!(
            r#"{{"name": "m{length}", "field-class": {{"type": "fixed-length-unsigned-integer",
                "length": {length}, "byte-order": "big-endian", "roles": ["packet-magic-number"]}}}}"#
        )
    };
    let message = "fragment 2, /packet-header-field-class: the packet magic number must be the \
                   first member, of 32 bits";
    let at = "{\"type\": \"structure\"";
    assert_refused(&[PREAMBLE, &header(&magic(16))], at, message);
    let other = format!(r#"{{"name": "x", "field-class": {U8}}}"#);
    assert_refused(&[PREAMBLE, &header(&format!("{other}, {}", magic(32)))], at, message);
    accepted(&[PREAMBLE, &header(&format!("{}, {other}", magic(32))), STREAM]);
    let timed = U8.replace('}', r#", "roles": ["default-clock-timestamp"]}"#);
    let stream = format!(
        r#"{{"type": "data-stream-class", "packet-context-field-class": {{"type": "structure",
            "member-classes": [{{"name": "t", "field-class": {timed}}}]}}}}"#
    );
    assert_refused(
        &[PREAMBLE, &stream],
        at,
        "fragment 2, /packet-context-field-class: a time stamp in a data stream class without \
         'default-clock-class-id'",
    );
}

#[test]
fn variants_and_optionals() {
    let variant = |options: &str| {
        format!(
            r#"{{"type": "variant", "options": [{options}],
                "selector-field-location": {{"path": ["s"]}}}}"#
        )
    };
    let option = |name: &str, ranges: &str| {
        format!(r#"{{"name": "{name}", "field-class": {U8}, "selector-field-ranges": {ranges}}}"#)
    };
    assert_class_refused(&variant(""), "[]", "/options", "expected at least one option");
    assert_class_refused(
        &variant(&format!("{}, {}", option("a", "[[0, 9]]"), option("b", "[[20, 30], [9, 9]]"))),
        "[{",
        "/options",
        "options 0 and 1 both have the value 9",
    );
    assert_class_refused(
        &variant(&format!("{}, {}", option("a", "[[0, 9]]"), option("a", "[[10, 11]]"))),
        "{\"name\"",
        "/options/1",
        "its name stands twice in the variant",
    );
    let selector = r#"{"name": "s", "field-class": {"type": "fixed-length-boolean", "length": 8,
        "byte-order": "big-endian"}}"#;
    let user = |class: &str| format!(r#"{selector}, {{"name": "x", "field-class": {class}}}"#);
    assert_members_refused(
        &user(&variant(&option("a", "[[0, 9]]"))),
        1,
        "{\"path\"",
        "/selector-field-location",
        "the selector of a variant must be an integer",
    );
    let optional = format!(
        r#"{{"type": "optional", "field-class": {U8}, "selector-field-location": {{"path": ["s"]}}}}"#
    );
    accepted(&[PREAMBLE, STREAM, &payload(&user(&optional))]);
    let integer = format!(r#"{{"name": "s", "field-class": {U8}}}"#);
    assert_members_refused(
        &format!(r#"{integer}, {{"name": "x", "field-class": {optional}}}"#),
        1,
        "{\"path\"",
        "/selector-field-location",
        "the selector is an integer: expected 'selector-field-ranges'",
    );
}

#[test]
fn locations_that_lead_nowhere() {
    let blob = |location: &str| {
        format!(r#"{{"type": "dynamic-length-blob", "length-field-location": {location}}}"#)
    };
    let place = "/length-field-location";
    let path = "expected a path that ends with the name of a member";
    assert_class_refused(&blob(r#"{"path": []}"#), "[]", &format!("{place}/path"), path);
    assert_class_refused(&blob(r#"{"path": ["a", null]}"#), "[\"a", &format!("{place}/path"), path);
    assert_class_refused(
        &blob(r#"{"path": [7]}"#),
        "7",
        &format!("{place}/path/0"),
        "expected a member's name or null",
    );
    assert_class_refused(
        &blob(r#"{"origin": "payload", "path": ["a"]}"#),
        "\"payload",
        &format!("{place}/origin"),
        "expected \"packet-header\", \"packet-context\", \"event-record-header\", \
         \"event-record-common-context\", \"event-record-specific-context\" or \
         \"event-record-payload\"",
    );
    let members = |class: &str, location: &str| {
        let user = blob(location);
        format!(
            r#"{{"name": "a", "field-class": {class}}}, {{"name": "x", "field-class": {user}}},
                {{"name": "later", "field-class": {U8}}}"#
        )
    };
    let refused = |class: &str, location: &str, message: &str| {
        assert_members_refused(&members(class, location), 1, "{", place, message);
    };
    let array =
        format!(r#"{{"type": "static-length-array", "length": 2, "element-field-class": {U8}}}"#);
    let signed = U8.replace("unsigned", "signed");
    let text = r#"{"type": "null-terminated-string"}"#;
    refused(U8, r#"{"path": ["b"]}"#, "no member is named 'b'");
    refused(
        U8,
        r#"{"path": ["later"]}"#,
        "it leads to a field that is not decoded before this one",
    );
    refused(U8, r#"{"path": ["x"]}"#, "it leads to a field that is not decoded before this one");
    refused(U8, r#"{"path": [null, "a"]}"#, "no structure is around the current one");
    refused(U8, r#"{"path": ["a", "b"]}"#, "member 'b' of a field that is no structure");
    refused(&array, r#"{"path": ["a"]}"#, "it leads through an array that is not around it");
    refused(&signed, r#"{"path": ["a"]}"#, "a length must be an unsigned integer");
    let neither = "it leads to a field that is neither an integer nor a boolean";
    refused(text, r#"{"path": ["a"]}"#, neither);
    refused(U8, r#"{"origin": "packet-context", "path": ["a"]}"#, "its origin does not exist");
}

#[test]
fn a_location_through_a_variant_needs_the_field_in_each_option() {
    let location = |path: &str| format!(r#"{{"origin": "event-record-payload", "path": {path}}}"#);
    let option = |class: &str, value: u32| {
        format!(r#"{{"field-class": {class}, "selector-field-ranges": [[{value}, {value}]]}}"#)
    };
    let members = |second: &str| {
        let options = format!("{}, {}", option(U8, 0), option(second, 1));
        let place = location("[\"s\"]");
        let length = location("[\"v\"]");
        format!(
            r#"{{"name": "s", "field-class": {U8}}},
                {{"name": "v", "field-class": {{"type": "variant", "options": [{options}],
                    "selector-field-location": {place}}}}},
                {{"name": "x", "field-class": {{"type": "dynamic-length-blob",
                    "length-field-location": {length}}}}}"#
        )
    };
    let wide = U8.replace('8', "16");
    let trace = accepted(&[PREAMBLE, STREAM, &payload(&members(&wide))]);
    let members_of = |trace: &TraceClass| {
        trace.stream_classes[0].event_classes[0].payload.as_ref().unwrap().members().to_vec()
    };
    let found = members_of(&trace);
    let slots: Vec<Option<usize>> =
        found[1].class.members().iter().map(|m| m.class.as_integer().unwrap().slot).collect();
    let FieldKind::Blob(blob) = &found[2].class.kind else { panic!("a BLOB") };
    let Length::Dynamic { slot, .. } = blob.length else { panic!("a length field") };
    assert_eq!(slots, [Some(slot), Some(slot)]);
    let signed = U8.replace("unsigned", "signed");
    assert_members_refused(
        &members(&signed),
        2,
        "{\"origin\"",
        "/length-field-location",
        "it leads to fields of different types: expected all unsigned, all signed or all boolean",
    );
}

#[test]
fn many_members_are_found_by_their_names() {
    let mut members = Vec::new();
    for number in 0..20_000 {
        members.push(format!(r#"{{"name": "n{number}", "field-class": {U8}}}"#));
        members.push(format!(
            r#"{{"name": "b{number}", "field-class": {{"type": "dynamic-length-blob",
                "length-field-location": {{"path": ["n{number}"]}}}}}}"#
        ));
    }
    let begin = processor_time();
    let trace = accepted(&[PREAMBLE, STREAM, &payload(&members.join(","))]);
    assert_eq!(trace.slot_count, 20_000);
    let taken = processor_time() - begin;
    assert!(taken < Duration::from_secs(10), "{taken:?}");
}

#[test]
fn integers_with_roles_keep_the_kind_that_is_decoded_fast() {
    let header = r#"{"type": "data-stream-class", "event-record-header-field-class":
        {"type": "structure", "member-classes": [{"name": "n", "field-class":
            {"type": "fixed-length-unsigned-integer", "length": 16, "byte-order": "big-endian",
             "roles": ["event-record-class-id"]}}]}}"#;
    let trace = accepted(&[PREAMBLE, header]);
    let header = trace.stream_classes[0].event_header.as_ref().unwrap();
    let FieldKind::Integer(class) = &header.members()[0].class.kind else { panic!("an integer") };
    assert_eq!((class.role, class.noted), (Some(Role::EventClassId), true));
}

#[test]
fn what_stands_before_the_first_error_is_kept() {
    let event = r#"{"type": "event-record-class", "name": "kept"}"#;
    let (trace, error) = json::parse(&text(&[PREAMBLE, STREAM, event, "{\"type\": "]));
    let trace = trace.unwrap_or_else(|| panic!("a trace class"));
    assert_eq!(trace.stream_classes[0].event_classes[0].name.as_deref(), Some("kept"));
    assert!(error.unwrap().to_string().starts_with("fragment 4: expected a JSON value"));
    let lost = r#"{"name": "x", "field-class": {"type": "dynamic-length-blob",
        "length-field-location": {"path": ["y"]}}}"#;
    let bad = |id: u32| payload(lost).replacen('{', &format!("{{\"id\": {id},"), 1);
    let (trace, error) = json::parse(&text(&[PREAMBLE, STREAM, event, &bad(1), &bad(2)]));
    assert_eq!(trace.map(|trace| trace.stream_classes[0].event_classes.len()), Some(1));
    assert!(error.unwrap().to_string().starts_with("fragment 4, /payload-field-class"));
    let (trace, error) = json::parse(&text(&["{"]));
    assert!(trace.is_none() && error.is_some());
}
