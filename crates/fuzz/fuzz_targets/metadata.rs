//! Any bytes as a `metadata` file: an error or a trace class, never a panic or a hang.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Err(error) = vestige_ctf::metadata::parse(data) {
        assert!(!error.to_string().is_empty(), "an error without a message");
    }
});
