//! Planning any bytes must not panic, and what it makes must be as long as it says.

#![no_main]

use libfuzzer_sys::fuzz_target;
use vestige_plan::{Choice, Plan};
use vestige_symbols::ObjectFile;

fuzz_target!(|data: &[u8]| {
    let Ok(object) = ObjectFile::new(Box::new(data.to_vec())) else {
        return;
    };
    for choice in [Choice::All, Choice::Sites] {
        if let Ok(Ok(plan)) = Plan::make(&object, &[], choice) {
            let bytes = plan.to_bytes();
            let size = bytes.get(8..16).and_then(|size| size.try_into().ok());
            assert_eq!(size.map(u64::from_le_bytes), Some(bytes.len() as u64));
        }
    }
});
