//! TSDL types: what they mean, shown by the text of a record that has them.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::{parse, payload, text_of, BitWriter, HEAD};
use vestige_ctf::model::ByteOrder::{Big, Little};
use vestige_ctf::model::{EnvironmentValue, FieldKind, IntegerClass};

fn le() -> BitWriter {
    BitWriter::new(Little)
}

fn integer(fields: &str) -> IntegerClass {
    let scope = payload(fields);
    scope.members()[0].class.as_integer().unwrap().clone()
}

#[test]
fn names_of_types_are_what_was_last_declared_in_the_innermost_block() {
    let fields = "typealias integer { size = 16; align = 8; } := u8; u8 wide; \
                  typedef u8 pair[2]; pair both;";
    assert_eq!(
        text_of(Little, fields, &le().put(258, 16).put(1, 16).put(2, 16)),
        "{ wide = 258, both = [ [0] = 1, [1] = 2 ] }"
    );
}

#[test]
fn an_alias_may_have_several_words_and_stars() {
    let fields = "typealias integer { size = 8; } := unsigned long int; \
                  typealias integer { size = 16; base = x; } := void *; \
                  unsigned long int number; void * pointer;";
    let text = text_of(Little, fields, &le().put(7, 8).put(0xbeef, 16));
    assert_eq!(text, "{ number = 7, pointer = 0xBEEF }");
}

#[test]
fn a_typedef_may_declare_several_names() {
    let fields = "typedef integer { size = 8; } one, two[2]; one a; two b;";
    let text = text_of(Little, fields, &le().raw(&[1, 2, 3]));
    assert_eq!(text, "{ a = 1, b = [ [0] = 2, [1] = 3 ] }");
}

#[test]
fn tagged_structures_variants_and_enumerations_are_used_by_their_tag() {
    let fields = "struct point { u8 x; u8 y; }; enum tag : u8 { near = 1, far = 2 }; \
                  variant place { struct point near; u16 far; }; \
                  enum tag which; variant place <which> where; struct point list[2];";
    let text = text_of(Little, fields, &le().raw(&[2, 9, 1, 3, 4, 5, 6]));
    assert_eq!(
        text,
        "{ which = ( \"far\" : container = 2 ), where = { 265 }, \
         list = [ [0] = { x = 3, y = 4 }, [1] = { x = 5, y = 6 } ] }"
    );
}

#[test]
fn structures_nest_and_have_the_greatest_alignment_of_their_members() {
    let scope = payload("struct { u8 a; struct { integer { size = 4; align = 64; } b; } c; } d;");
    assert_eq!(scope.alignment(), 64);
    let scope = payload("struct { u8 a; } align(32) d;");
    assert_eq!(scope.alignment(), 32);
}

#[test]
fn bit_fields_lie_side_by_side_in_both_byte_orders() {
    let fields = "integer { size = 3; align = 1; } a; integer { size = 7; align = 1; } b; \
                  integer { size = 62; align = 1; signed = true; } c;";
    for order in [Little, Big] {
        let data = BitWriter::new(order).put(5, 3).put(100, 7).put(-2, 62);
        assert_eq!(text_of(order, fields, &data), "{ a = 5, b = 100, c = -2 }");
    }
}

#[test]
fn an_integer_may_have_another_byte_order_than_the_trace() {
    let fields = "integer { size = 32; byte_order = be; } a; u16 b; \
                  integer { size = 16; byte_order = network; } c; \
                  integer { size = 16; byte_order = native; } d;";
    let data = le().raw(&[0, 0, 1, 2]).put(3, 16).raw(&[0, 4]).put(5, 16);
    assert_eq!(text_of(Little, fields, &data), "{ a = 258, b = 3, c = 4, d = 5 }");
}

#[test]
fn types_before_the_trace_block_have_its_byte_order() {
    let fields = "u32 a; u16 b;";
    let data = BitWriter::new(Big).put(0x0102_0304, 32).put(5, 16);
    assert_eq!(text_of(Big, fields, &data), "{ a = 16909060, b = 5 }");
}

#[test]
fn integers_are_aligned_to_bytes_when_they_consist_of_bytes() {
    assert_eq!(integer("integer { size = 24; } a;").alignment, 8);
    assert_eq!(integer("integer { size = 23; } a;").alignment, 1);
    assert_eq!(integer("integer { size = 8; align = 32768; } a;").alignment, 32_768);
}

#[test]
fn integer_constants_are_decimal_octal_hexadecimal_or_characters() {
    assert_eq!(integer("integer { size = 0x20; align = 010; } a;").size, 32);
    assert_eq!(integer("integer { size = 0x20; align = 010; } a;").alignment, 8);
    assert_eq!(integer("integer { size = 64ULL; align = 0b100; } a;").alignment, 4);
    let fields = "enum : u8 { letter = 'A', tab = '\\t', next } a, b, c;";
    let text = text_of(Little, fields, &le().raw(&[65, 9, 10]));
    assert_eq!(
        text,
        "{ a = ( \"letter\" : container = 65 ), b = ( \"tab\" : container = 9 ), \
         c = ( \"next\" : container = 10 ) }"
    );
}

#[test]
fn bases_are_numbers_or_words_or_letters_of_printf() {
    let field = |base: &str| format!("integer {{ size = 8; base = {base}; }} a;");
    let text = |base: &str| text_of(Little, &field(base), &le().put(10, 8));
    for base in ["2", "b", "binary"] {
        assert_eq!(text(base), "{ a = 0b00001010 }");
    }
    for base in ["8", "o", "oct", "octal"] {
        assert_eq!(text(base), "{ a = 012 }");
    }
    for base in ["10", "d", "i", "u", "dec", "decimal"] {
        assert_eq!(text(base), "{ a = 10 }");
    }
    for base in ["16", "x", "X", "p", "hex", "hexadecimal"] {
        assert_eq!(text(base), "{ a = 0xA }");
    }
}

#[test]
fn enumerations_have_ranges_negative_and_implicit_values() {
    let fields = "enum : integer { size = 8; signed = true; } { \
                    low = -128 ... -2, minus = -1, zero, one, \"a b\" = 5 ... 7, eight, } v[6];";
    let text = text_of(Little, fields, &le().raw(&[0x80, 0xff, 0, 1, 6, 8]));
    let labels = [("low", -128), ("minus", -1), ("zero", 0), ("one", 1), ("a b", 6), ("eight", 8)];
    for (index, (label, value)) in labels.iter().enumerate() {
        let expected = format!("[{index}] = ( \"{label}\" : container = {value} )");
        assert!(text.contains(&expected), "{text}");
    }
}

#[test]
fn an_enumeration_shows_all_its_labels_that_hold_and_unknown_for_none() {
    let fields = "enum : u8 { a = 0 ... 5, b = 3, a = 9 } x, y, z;";
    let text = text_of(Little, fields, &le().raw(&[3, 9, 7]));
    assert_eq!(
        text,
        "{ x = ( \"a\", \"b\" : container = 3 ), y = ( \"a\" : container = 9 ), \
         z = ( <unknown> : container = 7 ) }"
    );
}

#[test]
fn an_enumeration_without_container_is_an_int() {
    let fields = "typealias integer { size = 16; align = 8; } := int; enum { no, yes } a;";
    let text = text_of(Little, fields, &le().put(1, 16));
    assert_eq!(text, "{ a = ( \"yes\" : container = 1 ) }");
}

#[test]
fn floats_have_two_sizes_any_alignment_and_both_byte_orders() {
    let fields = "u8 before; floating_point { exp_dig = 8; mant_dig = 24; align = 1; } a; \
                  floating_point { exp_dig = 11; mant_dig = 53; byte_order = be; } b;";
    let data = le().put(1, 8).raw(&1.5f32.to_le_bytes()).raw(&(-0.25f64).to_be_bytes());
    assert_eq!(text_of(Little, fields, &data), "{ before = 1, a = 1.5, b = -0.25 }");
}

#[test]
fn strings_and_text_arrays_end_at_their_nul() {
    let fields = "string one; string { encoding = ASCII; } two; \
                  integer { size = 8; encoding = UTF8; } three[4]; u8 n; \
                  integer { size = 8; encoding = UTF8; } four[n]; \
                  integer { size = 8; encoding = none; } five[1];";
    let text = text_of(Little, fields, &le().raw(b"ab\0\0xy\0z\x02uvA"));
    assert_eq!(
        text,
        "{ one = \"ab\", two = \"\", three = \"xy\", n = 2, four = \"uv\", five = [ [0] = 65 ] }"
    );
}

#[test]
fn arrays_have_several_dimensions_the_last_one_innermost() {
    let text = text_of(Little, "u8 a[2][3];", &le().raw(&[1, 2, 3, 4, 5, 6]));
    assert_eq!(
        text,
        "{ a = [ [0] = [ [0] = 1, [1] = 2, [2] = 3 ], [1] = [ [0] = 4, [1] = 5, [2] = 6 ] ] }"
    );
    let text = text_of(Little, "u8 n; u8 a[n][2], b;", &le().raw(&[1, 2, 3, 4]));
    assert_eq!(text, "{ n = 1, a = [ [0] = [ [0] = 2, [1] = 3 ] ], b = 4 }");
}

#[test]
fn a_relative_length_is_searched_outwards() {
    let fields = "u8 n; struct { u8 n; u8 inner[n]; } s; struct { u8 outer[n]; } t;";
    let text = text_of(Little, fields, &le().raw(&[1, 2, 7, 8, 9]));
    assert_eq!(
        text,
        "{ n = 1, s = { n = 2, inner = [ [0] = 7, [1] = 8 ] }, t = { outer = [ [0] = 9 ] } }"
    );
}

#[test]
fn a_length_may_lie_in_a_structure_or_in_another_scope() {
    let metadata = format!(
        "{HEAD}stream {{ packet.context := struct {{ u8 in_packet; }}; \
         event.header := struct {{ u8 in_header; }}; event.context := struct {{ u8 in_common; }}; }};\n\
         event {{ name = e; context := struct {{ struct {{ u8 n; }} in_own; }}; fields := struct {{ \
           u8 a[stream.packet.context.in_packet]; u8 b[stream.event.header.in_header]; \
           u8 c[stream.event.context.in_common]; u8 d[event.context.in_own.n]; \
           u8 n; u8 f[event.fields.n]; u8 g[in_packet]; }}; }};"
    );
    let bytes = vec![1, 1, 1, 1, 10, 11, 12, 13, 1, 14, 15];
    let outcome = common::read(&metadata, &[bytes]);
    assert_eq!(outcome.damage, []);
    let end = "{ a = [ [0] = 10 ], b = [ [0] = 11 ], c = [ [0] = 12 ], d = [ [0] = 13 ], \
               n = 1, f = [ [0] = 14 ], g = [ [0] = 15 ] }\n";
    assert!(outcome.text.ends_with(end), "{}", outcome.text);
}

#[test]
fn an_option_may_have_an_underscore_more_than_its_label() {
    let fields = "enum : u8 { one = 1, two } tag; variant <tag> { u8 _one; string two; } v;";
    let text = text_of(Little, fields, &le().raw(&[1, 9]));
    assert_eq!(text, "{ tag = ( \"one\" : container = 1 ), v = { 9 } }");
}

#[test]
fn the_first_underscore_of_a_name_is_not_shown() {
    let text = text_of(Little, "u8 _struct, __two, plain;", &le().raw(&[1, 2, 3]));
    assert_eq!(text, "{ struct = 1, _two = 2, plain = 3 }");
}

#[test]
fn comments_and_blank_lines_stand_anywhere() {
    let fields = "u8 /* one\n * two */ a; // to the end\n\t u8 b /**/ ; \r\n";
    assert_eq!(text_of(Little, fields, &le().raw(&[1, 2])), "{ a = 1, b = 2 }");
}

#[test]
fn clocks_have_frequency_offset_and_identity() {
    let trace = parse(
        "trace { byte_order = le; }; clock { name = \"monotonic\"; uuid = \"2a6422d0-6cee-11e0-8c08-cb07d7b3a564\"; \
           description = \"Monotonic Clock\"; freq = 1000; precision = 3; offset_s = -2; \
           offset = 3500; absolute = TRUE; };\n\
         event { name = e; };",
    );
    let clock = &trace.clocks[0];
    assert_eq!(
        (clock.name.as_str(), clock.frequency, clock.precision),
        ("monotonic", 1000, Some(3))
    );
    assert_eq!((clock.offset_seconds, clock.offset_cycles), (1, 500));
    assert!(clock.absolute);
    assert_eq!(clock.uuid.unwrap()[..4], [0x2a, 0x64, 0x22, 0xd0]);
    assert_eq!(clock.nanoseconds(1), 1_501_000_000);
}

#[test]
fn the_environment_keeps_its_order_and_the_last_of_a_name() {
    let trace = parse(
        "trace { byte_order = le; }; env { hostname = \"here\"; vpid = 42; low = -1; hostname = \"there \\\"x\\\" \\x41\\n\"; };\n\
         event { name = e; };",
    );
    let names: Vec<&str> = trace.environment.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["vpid", "low", "hostname"]);
    assert_eq!(trace.environment_string("hostname"), Some("there \"x\" A\n"));
    assert_eq!(trace.environment[1].1, EnvironmentValue::Integer(-1));
}

#[test]
fn the_trace_has_version_and_uuid() {
    let trace = parse(
        "trace { major = 1; minor = 8; uuid = \"2A6422D0-6cee-11e0-8c08-cb07d7b3a564\"; \
         byte_order = be; };\nevent { name = e; };",
    );
    assert_eq!(trace.version, (1, 8));
    assert_eq!(trace.uuid.unwrap()[14..], [0xa5, 0x64]);
}

#[test]
fn events_may_stand_before_their_stream_block() {
    let trace = parse(&format!(
        "{HEAD}event {{ id = 3; stream_id = 7; name = \"a:b\"; loglevel = 6; \
           model.emf.uri = \"http://example.org\"; fields := struct {{ u8 a; }}; }};\n\
         stream {{ id = 7; event.header := struct {{ u8 id; time timestamp; }}; }};"
    ));
    let stream = &trace.stream_classes[0];
    let event = &stream.event_classes[stream.event_class_index[&3]];
    assert_eq!(event.name.as_deref(), Some("a:b"));
    assert_eq!(event.log_level, Some(6));
    assert_eq!(event.emf_uri.as_deref(), Some("http://example.org"));
    assert_eq!(stream.clock, Some(0));
}

#[test]
fn what_means_nothing_to_the_reader_is_passed_over() {
    let trace = parse(
        "callsite { name = \"e\"; func = \"main\"; line = 12; };\n\
         trace { major = 1; minor = 8; byte_order = le; extension.of.somebody = 3; their.scope := struct { }; };\n\
         event { name = e; custom = \"x\"; };\n",
    );
    assert_eq!(trace.stream_classes[0].event_classes.len(), 1);
}

#[test]
fn large_and_nested_types_keep_their_fixed_size() {
    let scope = payload("struct { u8 a; u32 b[3]; } s[4];");
    assert_eq!(scope.fixed_size, Some(8 * 13 * 4));
    let FieldKind::Structure { members, .. } = &scope.kind else { panic!() };
    assert!(matches!(members[0].class.kind, FieldKind::Array { .. }));
    assert_eq!(payload("u8 n; u8 a[n];").fixed_size, None);
}
