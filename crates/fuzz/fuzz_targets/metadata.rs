//! Any bytes as a `metadata` file: an error or a trace class, never a panic or a hang. Where the trace
//! class names functions of the kernel, they are found.

#![no_main]

use libfuzzer_sys::fuzz_target;
use vestige_ctf::kernel_symbols::KernelSymbols;

fuzz_target!(|data: &[u8]| match vestige_ctf::metadata::parse(data) {
    Ok(trace) => {
        let Some(symbols) = KernelSymbols::of(&trace) else { return };
        for one in symbols.functions() {
            let is_found = symbols.push(&mut Vec::new(), one.begin);
            assert!(is_found || one.size == 0, "a function that is not where it begins");
        }
    }
    Err(error) => assert!(!error.to_string().is_empty(), "an error without a message"),
});
